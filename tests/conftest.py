"""What all tests share: one compute thread, so that runs do not compete; which tests are long and which compute; one
run for the tests of all workers; and a study that tests change and check."""

import fcntl
import gc
import os
import shutil

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


# The tests of these folders run the workflow and take longest: they come first, so that no worker is left with them.
FIRST = ("stress", "cluster", "workflow", "fuzz")


def pytest_collection_modifyitems(items):
    for item in items:
        # What tests the option would see its draws moved twice.
        if hasattr(item.module, "np") and item.path.name != "test_last_bit.py":
            item.add_marker("numeric")
        if item.path.parent.name == "cluster":
            item.add_marker("slow")
    items.sort(key=lambda item: FIRST.index(name) if (name := item.path.parent.name) in FIRST else len(FIRST))


def pytest_collection_finish():
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """Spare every search for circles of references, which some jobs ask for, what stays to the end.

    That is the modules, the tests, and what a file of tests keeps: with a million objects a search takes half a second.
    """
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="session")
def once(tmp_path_factory, request):
    """A function: a name and what fills a folder -> the folder, filled by the first worker that asks for it."""
    parallel = hasattr(request.config, "workerinput")
    shared = tmp_path_factory.getbasetemp().parent if parallel else tmp_path_factory.getbasetemp()

    def folder(name, fill):
        place, whole = shared / name, shared / f"{name}.whole"
        with open(shared / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not whole.exists():
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir()
                fill(place)
                whole.touch()
        return place

    return folder


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

    from hierlearn.pipeline.plan import checking

    def checked(content, preset="quick"):
        file = tmp_path / "a-study.yaml"
        file.write_text(yaml.safe_dump(content, sort_keys=False))
        return checking.study(file, "config/studies/a-study.yaml", preset)

    return checked
