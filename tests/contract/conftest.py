"""What the tests of all components share: a small archive and a small table for the laws that read one."""

import re

import numpy as np
import pytest
import small_cifar

# Columns of the table as many as tests of laws have dimensions, and classes as the labels' default.
ROWS, COLUMNS, CLASSES = 400, 6, 10


@pytest.fixture(autouse=True)
def archive(tmp_path, monkeypatch, request):
    """The folder `data` of where a test runs, for tests whose name says cifar or table."""
    asked = {"cifar", "table"} & {*re.split(r"[^a-z_]+", request.node.name)}
    if asked:
        (tmp_path / "data").mkdir()
        monkeypatch.chdir(tmp_path)
    if "cifar" in asked:
        small_cifar.write(tmp_path / "data", monkeypatch)
    if "table" in asked:
        generator = np.random.default_rng(0)
        x, y = generator.standard_normal((ROWS, COLUMNS)), generator.integers(0, CLASSES, (ROWS, 1))
        head = ",".join([*(f"x{i}" for i in range(COLUMNS)), "y"])
        np.savetxt(tmp_path / "data" / "table.csv", np.hstack([x, y]), "%.6g", ",", header=head, comments="")
