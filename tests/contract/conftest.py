"""What the tests of all components share: a small archive for the law that reads one."""

import pytest
import small_cifar


@pytest.fixture(autouse=True)
def archive(tmp_path, monkeypatch, request):
    """The folder `data` of where a test runs, for tests whose name says cifar."""
    if "cifar" in request.node.name:
        (tmp_path / "data").mkdir()
        small_cifar.write(tmp_path / "data", monkeypatch)
        monkeypatch.chdir(tmp_path)
