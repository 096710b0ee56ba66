"""The page of a run that goes on has the studies that are done, and is made seldom."""

import threading
import time
from pathlib import Path

import pytest
from test_page import row
from test_publication import run
from test_rules import rules

from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.command import early_page
from hierlearn.pipeline.command.early_page import EarlyPage
from hierlearn.pipeline.files import checksums


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE.parent))
    found = rules()
    run(found, "small", row(claim="C1", study="small", figure="small/figure.svg", data="small/scores.nc"))
    return found


def test_the_page_has_what_is_done_and_names_what_is_not(plan):
    page = EarlyPage(plan, present=(), work=early_page.WORTH)
    page.show({"small"})
    assert page.process.wait(600) == 0, page.log.read_text()
    file = Path(plan.targets.file("so-far.html"))
    assert 'id="C1"' in file.read_text() and plan.studies["probing"].title in file.read_text().split("Not there")[1]
    assert float(page.log.read_text()) > 0
    assert checksums.fault(file, {}) == ""
    # The page of the ledger's job is that of all studies, and takes the place of this one.
    assert not Path(plan.targets.file("index.html")).exists()
    page.remove()
    assert not file.exists() and not checksums.beside(file).exists()


def test_no_second_page_comes_soon_or_without_a_further_study_and_none_after_the_last(plan, monkeypatch):
    started = []

    def start(page, done):
        started.append(set(done))
        page.begun, page.shown = time.monotonic(), len(done)

    monkeypatch.setattr(EarlyPage, "_start", start)
    page = EarlyPage(plan, present=(), work=early_page.WORTH)
    page.show(set())
    page.show({"small"})
    page.show({"small", "probing"})
    assert started == [{"small"}]
    monkeypatch.setattr(early_page, "APART", 0.0)
    page.show({"small"})
    page.show({"small", "probing"})
    assert started[1:] == [{"small", "probing"}]
    page.show(None)
    page.show({"small", "probing", "third"})
    assert len(started) == 2


def test_a_short_run_has_no_page_before_its_end(plan):
    page = EarlyPage(plan, present=(), work=early_page.WORTH / 2)
    page.show({"small"})
    assert page.process is None
    page.last({"small"})
    assert Path(plan.targets.file("so-far.html")).exists()


def test_pages_take_a_small_part_of_the_time(plan, monkeypatch):
    page = EarlyPage(plan, present=(), work=early_page.WORTH)
    monkeypatch.setattr(early_page, "APART", 0.0)
    page.show({"small"})
    page.process.wait(600)
    page.log.write_text("1000.0\n")
    assert not page._is_time()
    page.log.write_text("0.0\n")
    assert page._is_time()


def test_a_run_does_not_wait_for_the_process_that_makes_the_page(plan, monkeypatch):
    # It never reads: what a pipe would not hold can only come from a file.
    Path("sleeper.py").write_text("import time\ntime.sleep(600)\n")
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))
    monkeypatch.setattr(early_page, "MODULE", "sleeper")
    page = EarlyPage(plan, present=(), work=early_page.WORTH)
    known = plan.inputs.job
    many = {f"s{i}": {"title": "t" * 300} for i in range(1000)}
    monkeypatch.setattr(
        type(plan.inputs), "job", lambda self, *words: (known(*words)[0] | {"studies": many}, known(*words)[1])
    )
    starter = threading.Thread(target=page.show, args=({"small"},), daemon=True)
    starter.start()
    starter.join(60)
    is_free = not starter.is_alive()
    page.end()
    assert is_free
