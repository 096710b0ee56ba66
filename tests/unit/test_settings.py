"""Settings of a run: config.yaml and --config."""

import pytest
from small_study import STUDY

from hierlearn.pipeline.plan.configuration import ROOT, configuration, configure


def test_a_claim_of_two_studies_is_a_fault_of_the_second(tmp_path):
    (tmp_path / "studies").mkdir()
    for name, text in (("one", STUDY), ("two", STUDY), ("three", STUDY.replace("seeds: 2", "seeds: x", 1))):
        (tmp_path / "studies" / f"{name}.yaml").write_text(text)
    with pytest.raises(SystemExit) as end:
        configure({}, tmp_path / "config.yaml", tmp_path / "studies")
    lines = end.value.code.splitlines()
    assert (
        len([line for line in lines if "claims.C1-kernel: found a claim that config/studies/one.yaml has" in line]) == 2
    )


def test_results_are_written_in_one_way_only():
    for written in ("x/y/", "x//y", "x/./y"):
        assert configuration({"results": written}, "config", [])[0]["results"] == "x/y"


@pytest.mark.parametrize("folder", ["workflow", "config/studies", "docs/", "tests//x"])
def test_results_stay_out_of_the_folders_of_the_project(folder, monkeypatch):
    monkeypatch.chdir(ROOT)
    (fault,) = configuration({"results": folder}, "config", [])[1]
    assert "of the project itself" in fault.found


def test_one_name_stands_for_a_list_of_one_study():
    found, faults = configuration({"studies": "one"}, "config", ["one", "two"])
    assert (found["studies"], faults) == (["one"], [])
    (fault,) = configuration({"studies": "oen"}, "config", ["one", "two"])[1]
    assert str(fault) == "config: studies: found 'oen'; expected one of one, two (nearest: one)"


def test_the_configuration_names_its_faults():
    found, faults = configuration({"preset": "quik", "sutdies": [], "studies": ["b"]}, "config", ["a"])
    assert found == {}
    assert [str(fault) for fault in faults] == [
        "config: preset: found 'quik'; expected one of full, paper, quick, smoke, standard (nearest: quick)",
        "config: studies[0]: found 'b'; expected one of a; one of your own with its folder in `own`",
        "config: sutdies: found an unknown key; expected one of compare, keep_models, log, "
        "memory_limit_mb, own, partial, pilot, preset, question, replicate, results, studies (nearest: studies)",
    ]


@pytest.mark.parametrize("results", ["/proc/x", "a folder", "", "../beside"])
def test_what_a_folder_of_results_may_be_is_said(results):
    (fault,) = configuration({"results": results}, "config", [])[1]
    assert str(fault).startswith(f"config: results: found {results!r}; expected a path below this folder, of letters")


def test_the_configuration_has_a_default_for_every_key():
    found, faults = configuration({}, "config", [])
    assert faults == []
    assert found == {
        "preset": "quick",
        "studies": [],
        "own": [],
        "results": "results",
        "keep_models": True,
        "partial": False,
        "compare": "",
        "log": "progress",
        "pilot": False,
        "replicate": 0,
        "memory_limit_mb": 1_000_000,
    }


def test_a_pilot_has_no_replicates():
    found, faults = configuration({"pilot": "true", "replicate": 2}, "config", [])
    assert found == {}
    assert [str(fault) for fault in faults] == [
        "config: replicate: found 2 beside pilot: true; expected one of the two"
    ]
    assert configuration({"pilot": True, "replicate": 0}, "config", [])[1] == []


@pytest.mark.parametrize("wrong", [-1, 1.5, "one", True])
def test_replicates_are_numbered(wrong):
    _, faults = configuration({"replicate": wrong}, "config", [])
    assert [fault.field for fault in faults] == ["replicate"]


@pytest.mark.parametrize("folder", ["/tmp", "../x", "a/../../x", ".hidden", "", "a b", 3])
def test_results_stay_below_the_working_folder(folder):
    _, faults = configuration({"results": folder}, "config", [])
    assert [fault.field for fault in faults] == ["results"]
