"""A run reads and checks what it asks for: the studies that its settings and targets name, at its preset."""

import shutil
from pathlib import Path

import pytest

from hierlearn.pipeline.plan import checking
from hierlearn.pipeline.plan.configuration import configure

CONFIG = Path(__file__).parents[2] / "config"
ONE, OTHER = "bai2020-isotropy", "rahimi2007-error"
NAMES = (ONE, "bai2020-spiked")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with two studies of a paper and one that is no YAML."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config" / "studies").mkdir(parents=True)
    shutil.copytree(CONFIG / "published", tmp_path / "config" / "published")
    shutil.copy(CONFIG / "papers.yaml", tmp_path / "config")
    for name in NAMES:
        shutil.copy(CONFIG / "studies" / f"{name}.yaml", tmp_path / "config" / "studies")
    (tmp_path / "config" / "studies" / f"{OTHER}.yaml").write_text("paper: rahimi2007\ntitle: [\n")
    return tmp_path / "config" / "studies"


def planned(folder, *targets, **settings):
    return list(configure(settings, Path("none"), folder, targets).studies)


@pytest.mark.parametrize(
    "targets", [NAMES, ("bai2020",), (f"results/quick/{ONE}/claims.json", "bai2020-spiked"), (ONE, "bai2020")]
)
def test_studies_that_no_target_asks_for_are_not_read(folder, targets):
    assert planned(folder, *targets) == list(NAMES)


def test_one_study_is_planned_alone(folder):
    assert planned(folder, ONE) == planned(folder, studies=ONE) == [ONE]


@pytest.mark.parametrize("targets", [(), ("all",), (OTHER,), (ONE, "results/quick/index.html"), (ONE, "none")])
def test_all_studies_are_read_where_a_target_is_of_none_of_them(folder, targets):
    with pytest.raises(SystemExit, match=f"config/studies/{OTHER}.yaml: line 3: "):
        planned(folder, *targets)


def test_a_target_outside_the_settings_plans_what_the_settings_name(folder):
    assert planned(folder, "bai2020-spiked", studies=ONE) == [ONE]


def test_a_preset_that_is_not_asked_for_is_not_checked(folder):
    file = folder / f"{ONE}.yaml"
    text = file.read_text()
    file.write_text(text.replace("  standard: &standard\n    seeds: 8\n", "  standard: &standard\n    seeds: -1\n"))
    assert planned(folder, ONE) == [ONE]
    with pytest.raises(SystemExit, match=r"presets\.standard\.seeds: found -1; expected at least 1"):
        planned(folder, ONE, preset="standard")
    _, faults = checking.study(file, file.name, "quick")
    assert [fault.field for fault in faults] == ["presets.standard.seeds"]
