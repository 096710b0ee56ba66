"""The examples of the manual: sound as they stand, registered as designed, and short."""

import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray
from sklearn.datasets import load_wine

import hierlearn
from hierlearn.core import registry
from hierlearn.core.registry import PACKAGE, build
from hierlearn.core.streams import Streams
from hierlearn.datasets import read_table
from hierlearn.pipeline.command import refusals
from hierlearn.pipeline.plan.configuration import configure

ROOT = PACKAGE.parents[1]
EXAMPLES = ROOT / "examples"


@pytest.fixture(autouse=True)
def without_own_folders():
    yield
    registry.use(())


def planned(name):
    # A project without studies, whose records are nowhere.
    nowhere = EXAMPLES / name / "no project" / "studies"
    return configure({"own": str(EXAMPLES / name)}, Path("none"), nowhere)


@pytest.mark.parametrize("name", ["random-features", "staircase", "own-table"])
def test_an_example_is_sound_and_of_the_design_that_is_registered(name, monkeypatch):
    # The path of a table is from where a run starts.
    monkeypatch.chdir(ROOT)
    plan = planned(name)
    assert plan.studies and not plan.warnings
    refusals.refuse_other_designs(plan)


@pytest.mark.parametrize(("name", "component"), [("random-features", "random_features"), ("staircase", "staircase")])
def test_the_component_of_an_example_fulfils_its_contract(name, component):
    words = [sys.executable, ROOT / "tests" / "check.py", f"name={component}", f"folder={EXAMPLES / name}"]
    done = subprocess.run(words, text=True, capture_output=True, check=False, cwd=ROOT)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1), done.stdout + done.stderr


def test_the_example_of_a_table_is_the_wines_of_scikit_learn(monkeypatch):
    monkeypatch.chdir(ROOT)
    table, wines = read_table(EXAMPLES / "own-table" / "wine.csv"), load_wine()
    np.testing.assert_array_equal(table.x, wines.data)
    np.testing.assert_array_equal(table.y, wines.target)
    example = planned("own-table").studies["wine-cultivars"]
    assert example.axes["dimension"] == [13] and example.points[0].problem["teacher"]["classes"] == 3


def test_the_learner_is_at_most_fifty_lines_long():
    text = (EXAMPLES / "random-features" / "learners" / "random_features.py").read_text()
    assert len([line for line in text.splitlines() if line.strip()]) <= 50


def test_the_learner_stands_beside_all_those_of_the_figure_of_sample_complexity():
    example = planned("random-features").studies["rahimi2007-beside"]
    figure = configure({"studies": ["chen2020-sample-complexity"]}, Path("none"), ROOT / "config" / "studies")
    others = figure.studies["chen2020-sample-complexity"].learners
    assert set(example.learners) == {"random-features", *others}
    for name, other in others.items():
        mine = example.learners[name]
        assert (mine.component, mine.select) == (other.component, other.select), name


@pytest.mark.parametrize("leap", [1, 3])
def test_a_staircase_is_the_sum_of_its_monomials(leap):
    registry.use([EXAMPLES / "staircase"])
    teacher, inputs = (
        build("teachers", {"name": "staircase", "leap": leap}),
        build("inputs", {"name": "hypercube"}, dimension=5),
    )
    streams = Streams(("a test",), (1, 2))
    state, x = teacher.draw(streams, inputs), inputs.sample(streams, "test", 0, 20)
    for s, (a, b, c) in enumerate(state["coordinates"]):
        z = np.sign(x[s]).astype(float)
        long = z[:, a] * z[:, b] * z[:, c]
        expected = long if leap == 3 else z[:, a] + z[:, a] * z[:, b] + long
        np.testing.assert_allclose(teacher.target(state, x)[s, :, 0], expected)


def test_the_status_of_a_table_has_words():
    attributes = {"flag_values": np.array([0, 2], np.int8), "flag_meanings": "ok over_cap"}
    status = xarray.DataArray(np.array([[0, 2], [2, 7]]), dims=("a", "b"), attrs=attributes)
    assert hierlearn.in_words(status).values.tolist() == [["ok", "over_cap"], ["over_cap", ""]]


def test_results_are_read_and_drawn_by_the_lines_of_the_manual(tmp_path, monkeypatch, capsys):
    """The excerpts of docs/reading.md, on scores with the axes of the study that they name."""
    axes = {
        "learner": ["ntk-raw", "quad-neural"],
        "degree": [2, 4],
        "dimension": [6, 8],
        "samples": [8, 16],
        "seed": [0, 1],
    }
    shape = [len(values) for values in axes.values()]
    flags = {"flag_values": np.array([0, 2], np.int8), "flag_meanings": "ok over_cap"}
    status, risk = np.zeros(shape, np.int8), np.full(shape, 0.25)
    status[0, 1, 0, 1, 0] = 2
    known = {"test_risk": (list(axes), risk), "selected_ridge": (list(axes), risk)}
    scores = xarray.Dataset(known | {"status": (list(axes), status, flags)}, axes)
    monkeypatch.setattr(hierlearn, "load_results", lambda file: scores, raising=False)
    monkeypatch.setenv("MPLBACKEND", "agg")
    excerpts = (ROOT / "docs" / "reading.md").read_text().split("```python\n")[1:]
    for i, excerpt in enumerate(excerpts):
        (tmp_path / f"excerpt{i}.py").write_text(excerpt.partition("```")[0])
        runpy.run_path(str(tmp_path / f"excerpt{i}.py"))
    told = capsys.readouterr().out
    assert "0.25" in told and [line.split() for line in told.splitlines() if line.startswith(("ok", "over"))] == [
        ["ok", "3"],
        ["over_cap", "1"],
    ]
