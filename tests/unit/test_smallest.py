"""The preset smoke: what it makes small of a study, and what it leaves."""

from pathlib import Path

import pytest
import shipped

from hierlearn.pipeline.plan import presets, smallest

STUDIES = sorted((Path(__file__).parents[2] / "config" / "studies").glob("*.yaml"))


def test_seeds_points_and_searches_are_small():
    body = {
        "seeds": 5,
        "points": {"validation": 1000, "test": 20},
        "learners": {"one": {"samples": {"near": {"coefficient": 2, "of": "dimension"}, "cap": 5000, "start": 4}}},
    }
    assert smallest.smallest(body) == {
        "seeds": 2,
        "points": {"validation": 40, "test": 20},
        "learners": {
            "one": {"samples": {"near": {"coefficient": 2, "of": "dimension", "most": 32}, "cap": 64, "start": 4}}
        },
    }


@pytest.mark.parametrize("section", ["claims", "figure", "rivals"])
def test_a_search_reaches_the_samples_that_the_study_names(section):
    body = {"learners": {"one": {"samples": {"cap": 5000}}}, section: {"part": [{"where": {"samples": [8, 512]}}]}}
    assert smallest.smallest(body)["learners"]["one"]["samples"] == {"cap": 512}


def test_parameters_are_small_by_name_whether_said_or_not():
    network = {"name": "network", "width": 200, "batch": 50}
    made = smallest.smallest({"learners": {"one": {"learner": network}}})["learners"]["one"]["learner"]
    assert made == network | {"width": 10, "epochs": 1}
    swept = {"one": {"learner": network, "sweep": {"width": [100, 200]}, "select": {"epochs": [2, 3]}}}
    assert smallest.smallest({"learners": swept})["learners"]["one"]["learner"] == network | {"width": 10}


def test_what_a_component_holds_is_small_and_no_cap_is_below_the_least():
    probe = {"name": "rademacher", "samples": [6400], "widths": [8], "draws": 8}
    tracking = {"name": "tracking", "network": {"name": "randomised", "steps": 300}, "draws": 1}
    made = smallest.smallest({"probes": {"a": {"probe": probe}, "b": {"probe": tracking}}})["probes"]
    assert made["a"]["probe"] == probe | {"draws": 2}
    assert made["b"]["probe"]["network"]["steps"] == 20


@pytest.mark.parametrize(
    "body",
    [
        {"seeds": None, "points": 3, "learners": [], "probes": {"a": 1}},
        {"seeds": True, "points": {"test": "1"}, "learners": {"a": {"learner": {"name": ["x"]}, "sweep": 3}}},
        {"claims": {"C": {"samples": "many"}}, "learners": {"a": {"learner": {"name": "nope"}, "samples": []}}},
        {
            "learners": {
                "a": {
                    "learner": {"name": "kernel_ridge", "kernel": 3},
                    "samples": {"cap": {"coefficient": 1, "most": "x"}},
                }
            }
        },
    ],
    ids=repr,
)
def test_what_is_no_study_stays_for_the_checks(body):
    assert smallest.smallest(body) == body


def test_an_overlay_lies_over_the_small_sizes(content, check):
    assert len(check(content, "smoke")[0].seeds) == 1
    content["learners"]["kernel"]["samples"]["cap"] = 500
    assert check(content, "smoke")[0].learners["kernel"].samples["cap"] == 64
    content["presets"]["smoke"] = {"learners": {"kernel": {"samples": {"cap": 128}}}}
    study, faults = check(content, "smoke")
    assert faults == [] and len(study.seeds) == 2 and study.learners["kernel"].samples["cap"] == 128


def test_a_study_without_an_overlay_is_small_at_smoke_alone(content, check):
    del content["presets"]["smoke"]
    assert [len(check(content, preset)[0].seeds) for preset in ("quick", "smoke", "full")] == [2, 2, 3]
    assert "smoke" not in dict(presets.bodies(content)) and "smoke" in dict(presets.bodies(content, "smoke"))
    content["claims"]["C1-kernel"]["at"]["smoke"] = {"test": ">= 2"}
    assert check(content, "smoke")[0].claims["C1-kernel"].rule == "lower"


@pytest.mark.parametrize("file", STUDIES, ids=lambda file: file.stem)
def test_every_study_runs_at_smoke_what_it_runs_at_quick(file):
    small, quick = (shipped.checked(file, preset)[0] for preset in ("smoke", "quick"))
    for part in ("axes", "learners", "probes", "claims", "figure"):
        assert list(getattr(small, part)) == list(getattr(quick, part))
    assert small.axes == quick.axes and small.seed_count == min(quick.seed_count, 2)
    assert "smoke" not in shipped.content(file).get("presets", {})
