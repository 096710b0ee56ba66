"""A comparison without a study file: the study that the key `question` becomes, and what of the key is refused."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from hierlearn.core import registry
from hierlearn.pipeline.plan import adhoc_study
from hierlearn.pipeline.plan.configuration import configure
from hierlearn.pipeline.run import provisional, recovery

ASKED = {
    "teacher": {"name": "ridge_polynomial", "degree": 2},
    "learners": ["ntk", {"name": "linear", "label": "Linear regression"}],
    "dimension": [4, 5, 6],
}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("config/studies").mkdir(parents=True)
    yield
    provisional.keep()
    registry.use(())


def planned(**changes):
    return configure({"question": ASKED | changes}, Path("config/config.yaml"), Path("config/studies"))


def refusal(**changes):
    with pytest.raises(SystemExit) as end:
        planned(**changes)
    assert not Path("results").exists()
    return end.value.code.splitlines()


def test_a_question_is_a_study_of_its_own_with_results_apart_from_the_ledger():
    plan = planned()
    (study,) = plan.studies.values()
    assert (study.name, study.paper, plan.results) == ("my-question", "yours", "results/question/quick")
    assert list(study.learners) == ["ntk", "linear-regression"]
    assert [claim.rule for claim in study.claims.values()] == ["descriptive", "descriptive"]
    assert (study.axes["dimension"], len(study.seeds)) == ([4, 5, 6], 5)
    assert sorted(file.name for file in Path("results").rglob("*.*")) == ["my-question.yaml", "papers.yaml"]


def test_the_file_of_a_question_is_left_alone_where_it_says_the_same():
    planned()
    file = Path("results/question/own/studies/my-question.yaml")
    before = file.stat().st_mtime_ns
    planned()
    assert file.stat().st_mtime_ns == before
    planned(seeds=3)
    assert yaml.safe_load(file.read_text())["seeds"] == 3


def test_the_question_of_a_run_that_works_here_stays():
    planned()
    with recovery.lock(), pytest.raises(SystemExit, match="another run works in this folder"):
        planned(seeds=3)
    with recovery.lock():
        (study,) = planned().studies.values()
    assert len(study.seeds) == 5


def test_a_question_that_is_not_run_leaves_the_study_that_was_answered():
    """What is refused or planned alone, each in a program of its own."""

    def asked(changes, end=""):
        given = {"question": ASKED | changes}
        lines = f"""
from pathlib import Path
from hierlearn.pipeline.plan.configuration import configure
from hierlearn.pipeline.run import provisional

configure({given!r}, Path("config/config.yaml"), Path("config/studies"))
{end}
"""
        here = os.environ | {"PYTHONPATH": str(Path(adhoc_study.__file__).parents[3])}
        return subprocess.run([sys.executable, "-c", lines], env=here, capture_output=True, text=True)

    file = Path("results/question/own/studies/my-question.yaml")
    assert asked({}).returncode == 0
    assert not Path("results").exists()
    assert asked({"seeds": 3}, "provisional.keep()").returncode == 0
    before = file.read_text()
    assert asked({"seeds": 4}).returncode == 0
    refused = asked({"seeds": 4, "teacher": {"name": "ridge_polynomial", "degree": -2}})
    assert "teacher.degree: found -2" in refused.stderr
    assert file.read_text() == before
    assert yaml.safe_load(before)["seeds"] == 3
    assert sorted(one.name for one in Path("results").rglob("*.*")) == ["my-question.yaml", "papers.yaml"]
    # Another program has written it since.
    assert asked({"seeds": 5}, f"Path({str(file)!r}).write_text('seeds: 9')").returncode == 0
    assert file.read_text() == "seeds: 9"


def test_a_doubt_about_a_question_is_said_where_it_was_asked():
    warnings = planned(learners=[{"name": "ntk", "label": "$\\foo{"}]).warnings
    assert warnings
    assert all(line.startswith("warning: config/config.yaml with --config: question.") for line in warnings)


def test_numbers_below_a_key_may_be_the_text_that_snakemake_hands_over():
    plan = planned(dimension=["4", "6"], seeds="2", threshold="2.5e-1", cap="100")
    (study,) = plan.studies.values()
    assert (study.axes["dimension"], study.samples.thresholds) == ([4, 6], [0.25])


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"learners": ["ntkk"]}, "question.learners[0]: found 'ntkk'; expected the name of a learner or a kernel"),
        ({"learners": ["ntk", "ntk"]}, "question.learners[1]: found 'ntk' again; expected a label of its own"),
        (
            {"learners": [{"name": "linear", "representation": "neurall"}]},
            "question.learners[0]: found representation 'neurall'; expected the name of one: neural, raw",
        ),
        ({"learners": [{"name": ["ntk"]}]}, "question.learners[0]: found ['ntk']; expected the name of a learner"),
        ({"learners": [{"name": "ntk", "select": [1]}]}, "found select [1]; expected lists of values"),
        ({"learners": [{"name": "ntk", "label": ["a"]}]}, "found label ['a']; expected one line of at most 80"),
        ({"learners": [{"name": "ntk", "label": "a\0b"}]}, r"learners[0]: found label 'a\x00b'; expected one line"),
        ({"learners": [{"name": "ntk", "label": "a\nb"}]}, r"learners[0]: found label 'a\nb'; expected one line"),
        ({"learners": [{"name": "ntk", "label": "\u202eb"}]}, r"learners[0]: found label '\u202eb'; expected one line"),
        ({"learners": [{"name": "ntk", "label": " "}]}, "learners[0]: found label ' '; expected one line"),
        ({"learners": [{"name": "ntk", "label": "a" * 81}]}, "; expected one line of at most 80 letters that a figure"),
        ({"cap": "9" * 5000}, "question.cap: found '999"),
        ({"learners": []}, "question.learners: found []; expected at least 1 entry"),
        ({"dimension": ["four"]}, "question.dimension[0]: found 'four'; expected integer"),
        ({"dimensions": [4]}, "question.dimensions: found an unknown key; expected one of cap, dimension"),
        ({"teacher": "parity"}, "question.teacher: found 'parity'; expected the teacher and its"),
    ],
)
def test_a_wrong_question_is_one_line_and_nothing_is_written(changes, line):
    (found,) = refusal(**changes)
    assert line in found


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"teacher": {"name": "ridge_polynomail"}}, "teacher.name: found 'ridge_polynomail'; expected one of"),
        ({"teacher": {"name": "ridge_polynomial", "degree": -2}}, "teacher.degree: found -2; expected at least 1"),
        ({"input": {"name": "spheres"}}, "input.name: found 'spheres'; expected one of"),
        ({"dimension": [4, 1]}, "dimension[1]: found 1; expected"),
        (
            {"learners": ["ntk", {"name": "taylor", "widht": 5, "select": {"ridge": [0.1]}}]},
            "learners[1].widht: found an unknown parameter; expected one of",
        ),
        ({"learners": [{"name": "rbf", "bandwith": 2.0}]}, "learners[0].bandwith: found an unknown parameter"),
        ({"learners": [{"name": "rbf", "select": {"ridge": []}}]}, "learners[0].select.ridge: found []"),
        (
            {"learners": [{"name": "kernel_ridge", "kernel": {"name": "ntk", "widht": 5}}]},
            "learners[0].kernel.widht: found an unknown parameter",
        ),
        ({"dimension": [4, 100000000]}, "learners[1]: found sizes that need"),
        (
            {"learners": [{"name": "rbf", "representation": {"name": "neural", "features": "rely"}}]},
            "learners[0].representation.features: found 'rely'",
        ),
    ],
)
def test_what_the_study_of_a_question_has_wrong_is_said_where_it_was_asked(changes, line):
    with pytest.raises(SystemExit) as end:
        planned(**changes)
    (found,) = end.value.code.splitlines()
    assert found.startswith(f"error: config/config.yaml with --config: question.{line}")


@pytest.mark.parametrize(
    ("single", "listed"),
    [
        ({"dimension": 4}, {"dimension": [4]}),
        ({"dimension": "4"}, {"dimension": [4]}),
        ({"learners": "ntk"}, {"learners": ["ntk"]}),
        ({"learners": {"name": "rbf", "label": "Wide"}}, {"learners": [{"name": "rbf", "label": "Wide"}]}),
        (
            {"learners": [{"name": "ntk", "select": {"ridge": 0.1}}]},
            {"learners": [{"name": "ntk", "select": {"ridge": [0.1]}}]},
        ),
    ],
    ids=str,
)
def test_one_of_something_needs_no_list(single, listed):
    planned(**single)
    file = Path("results/question/own/studies/my-question.yaml")
    found = file.read_text()
    planned(**listed)
    assert file.read_text() == found


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"dimension": None}, "question.dimension: found None; expected a list"),
        ({"learners": None}, "question.learners: found None; expected a list"),
        ({"dimension": 1}, "question.dimension[0]: found 1; expected at least 2"),
        ({"dimension": True}, "question.dimension[0]: found True; expected integer"),
        ({"dimension": 4.0}, "question.dimension[0]: found 4.0; expected integer"),
        ({"dimension": {"from": 4}}, "question.dimension[0]: found {'from': 4}; expected integer"),
        ({"learners": 3}, "question.learners[0]: found 3; expected string or object"),
        ({"learners": {"ntk": {"depth": 2}}}, "question.learners[0]: found None; expected the name of a learner"),
        (
            {"learners": [{"name": "ntk", "select": {"ridge": None}}]},
            "question.learners[0].select.ridge[0]: found None",
        ),
    ],
    ids=str,
)
def test_one_of_something_else_is_one_line(changes, line):
    with pytest.raises(SystemExit) as end:
        planned(**changes)
    (found,) = end.value.code.splitlines()
    assert line in found


def test_pictures_that_are_not_there_are_told_where_they_were_asked():
    asked = {"input": {"name": "cifar"}, "teacher": {"name": "picture_class"}, "dimension": 3072, "learners": "ntk"}
    (fault,) = planned(**asked, cap=40).absent
    line = "config/config.yaml with --config: question.input.folder: found neither data/cifar-10-python.tar.gz nor"
    assert str(fault).startswith(line)


def test_parameters_below_learners_reach_them():
    name, entry, wrong = adhoc_study.learner(
        {"name": "rbf", "bandwidth": 2.0, "label": "Wide", "select": {"ridge": [0.1]}}
    )
    assert (name, wrong) == ("wide", None)
    assert entry["learner"] == {"name": "kernel_ridge", "kernel": {"name": "rbf", "bandwidth": 2.0}}
    assert entry["select"] == {"ridge": [0.1]}


@pytest.mark.parametrize(("label", "key"), [(3, "3"), ("ядро", "ntk"), ("a" * 80, "a" * 60)])
def test_any_label_is_shown_and_makes_a_name(label, key):
    (study,) = planned(learners=[{"name": "ntk", "label": label}]).studies.values()
    assert list(study.learners) == [key]
    assert study.learners[key].label == str(label)


def test_learners_see_the_representation_that_they_name_and_share_it():
    neural = {"name": "neural", "features": "relu"}
    asked = [
        {"name": "linear", "representation": neural},
        {"name": "rbf", "representation": neural},
        {"name": "ntk", "representation": "neural"},
        "arccos",
    ]
    (study,) = planned(learners=asked).studies.values()
    assert [one.representation for one in study.learners.values()] == ["neural-1", "neural-1", "neural-2", "raw"]
    assert study.representations == {"neural-1": neural, "neural-2": {"name": "neural"}}


@pytest.mark.parametrize(
    ("asked", "threshold"),
    [
        ({"teacher": {"name": "ridge_polynomial", "degree": 2}}, 0.5),
        ({"teacher": {"name": "shift_products"}, "input": {"name": "hypercube"}, "dimension": [6]}, 0.5),
        ({"teacher": {"name": "parity", "kind": "classes"}, "input": {"name": "hypercube"}}, 0.25),
        (
            {"teacher": {"name": "hierarchy_class"}, "input": {"name": "random_hierarchy"}, "dimension": [16]},
            0.375,
        ),
        ({"teacher": {"name": "picture_class"}, "input": {"name": "digits"}, "dimension": [64]}, 0.45),
    ],
)
def test_the_usual_threshold_is_half_of_what_the_best_constant_reaches(asked, threshold):
    (study,) = planned(**asked).studies.values()
    assert study.samples.thresholds == [threshold]
    assert study.figure["threshold"] == threshold


@pytest.mark.parametrize(
    ("asked", "held_out", "cap"),
    [
        ({"teacher": {"name": "picture_class"}, "input": {"name": "digits"}, "dimension": [64]}, (300, 497), 1000),
        (
            {"teacher": {"name": "picture_class"}, "input": {"name": "shifted_digits"}, "dimension": [196]},
            (300, 497),
            1000,
        ),
        ({}, (500, 2000), 2000),
    ],
)
def test_points_and_samples_are_as_many_as_a_finite_input_has(asked, held_out, cap):
    (study,) = planned(**asked).studies.values()
    assert (study.held_out.validation, study.held_out.test) == held_out
    assert {entry.samples["cap"] for entry in study.learners.values()} == {cap}


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {
                "teacher": {"name": "picture_class"},
                "input": {"name": "digits"},
                "dimension": [64],
                "cap": 1200,
            },
            "question.cap: found 1200; expected at most 1000 training points, all that there are",
        ),
        (
            {"teacher": {"name": "ridge_polynomial", "degree": 2, "coefficients": [1.0e-200]}},
            "question.teacher.coefficients: found 1e-200 as the largest; expected factors whose squares are numbers",
        ),
        (
            {"teacher": {"name": "ridge_polynomial", "degree": 2, "rank": 2, "coefficients": [1.0e-320, -1.0e-200]}},
            "question.teacher.coefficients: found -1e-200 as the largest; expected factors whose squares are numbers",
        ),
        (
            {"teacher": {"name": "ridge_polynomial", "directions": [[0, 0.0]]}},
            "question.teacher.directions[0]: found [0, 0.0]; expected an entry that is anything but 0",
        ),
        (
            {"teacher": {"name": "ridge_polynomial", "degree": 3, "directions": [[1], [-1]]}},
            "question.teacher.directions: found terms that cancel, a target of norm 0; expected terms whose sum",
        ),
        (
            {"teacher": {"name": "ridge_polynomial", "degree": 2, "directions": [[1], [2]], "coefficients": [1, -1]}},
            "question.teacher.directions: found terms that cancel",
        ),
        (
            {"teacher": {"name": "ridge_polynomial", "degree": 2, "coefficients": [0]}},
            "question.teacher.coefficients: found zeros only, a target of norm 0; expected one other than 0",
        ),
        (
            {"teacher": {"name": "ridge_polynomial", "degree": 12, "length": 1.0e-40}},
            "question.teacher.length: found 1e-40 to the power 12; expected factors whose squares are",
        ),
        (
            {
                "teacher": {"name": "quadratic_densenet", "alphas": [0, 1], "last_gap": 0.5},
                "input": {"name": "gaussian"},
            },
            "question.teacher.alphas: found zeros before the layer that last_gap weighs; expected a weight above 0",
        ),
        (
            {
                "teacher": {"name": "residual_composition", "alpha": 0, "beta": 0},
                "input": {"name": "hypercube"},
            },
            "question.teacher.beta: found 0 with alpha 0; expected one of them above 0",
        ),
    ],
)
def test_a_target_or_a_size_that_cannot_be_is_refused_where_it_was_asked(changes, line):
    with pytest.raises(SystemExit) as end:
        planned(**changes)
    (found,) = end.value.code.splitlines()
    assert line in found


def test_directions_of_an_even_power_do_not_cancel():
    planned(teacher={"name": "ridge_polynomial", "degree": 2, "directions": [[1], [-1]]})
    planned(teacher={"name": "ridge_polynomial", "degree": 3, "directions": [[1], [-1, 0.1]]})


def test_a_search_begins_at_the_cap_where_that_is_small():
    (study,) = planned(cap=10).studies.values()
    assert [study.search("ntk", point)["near"] for point in study.points] == [10, 10, 10]
