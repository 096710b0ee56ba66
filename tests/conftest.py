"""What all tests share: one compute thread, so that runs do not compete, and a study that they change and check."""

import os

import pytest

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")


def pytest_addoption(parser):
    parser.addoption("--last-bit", type=int, metavar="SEED", help="draws and linear algebra a last bit off")


def pytest_configure(config):
    seed = config.getoption("--last-bit")
    if seed is not None:
        import last_bit

        last_bit.install(seed)


def pytest_terminal_summary(terminalreporter):
    """What tests counted, a line each."""
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for name, value in report.user_properties:
                terminalreporter.write_line(f"{name}: {value}")


@pytest.fixture
def content():
    """The small study as it is read, free to be changed."""
    import yaml
    from small_study import STUDY

    return yaml.safe_load(STUDY)


@pytest.fixture
def check(tmp_path):
    """A function: content and preset -> the study, None if it has faults, and its faults."""
    import yaml

    from hierlearn.plan import checking

    def checked(content, preset="quick"):
        file = tmp_path / "a-study.yaml"
        file.write_text(yaml.safe_dump(content, sort_keys=False))
        return checking.study(file, "config/studies/a-study.yaml", preset)

    return checked
