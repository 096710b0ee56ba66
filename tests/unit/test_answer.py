"""The tables of what a run of one study found say what n* is, where it is censored, and what its claims have."""

from types import SimpleNamespace

import numpy as np
import pytest
import xarray

from hierlearn.core.protocols import STATUS
from hierlearn.pipeline.command import answer
from hierlearn.pipeline.files import cubes, results

SAMPLES = [10, 100, 1000]
# Over samples: reaches 0.1 between 10 and 100, at once, and never.
FALLS, LOW, HIGH = (1.0, 0.01, 0.001), (0.05, 0.04, 0.03), (1.0, 0.9, 0.8)


def cube(curves, **axes):
    """Scores of one learner each, (axes..., seeds) of curves over samples."""
    values = np.array(curves)
    places = {"learner": [f"l{i}" for i in range(len(values))], **axes, "seed": range(values.shape[-2])}
    places["samples"] = SAMPLES
    trained = np.where(np.isnan(values), STATUS["not_planned"], STATUS["ok"])
    variables = {name: (tuple(places), values) for name in ("test_risk", "validation_risk")}
    return xarray.Dataset(variables | {"status": (tuple(places), trained)}, coords=places)


def tables(monkeypatch, found, rows=(), thresholds=(0.1,), **axes):
    learners = {name: SimpleNamespace(label=f"Learner {name}") for name in found.learner.values}
    study = SimpleNamespace(
        claims={},
        name="small",
        learners=learners,
        seed_count=found.sizes["seed"],
        samples=SimpleNamespace(thresholds=thresholds),
        axes={name: list(values) for name, values in axes.items()},
    )
    monkeypatch.setattr(cubes, "load", lambda file: found)
    monkeypatch.setattr(results, "read_claims", lambda file: list(rows))
    return list(answer.tables(study, SimpleNamespace(file=lambda *parts: "/".join(parts))))


def test_a_table_has_the_median_of_each_learner_and_size_and_says_where_it_is_censored(monkeypatch):
    found = cube([[[FALLS] * 3, [FALLS, LOW, HIGH]], [[HIGH] * 3, [LOW] * 3]], dimension=[4, 8])
    (table,) = tables(monkeypatch, found, dimension=[4, 8])
    assert table.title == "n*: the samples to risk 0.1, median over seeds"
    assert table.head == ["learner", "dimension", "n*", "range of 3 seeds", "risk at most samples"]
    assert table.rows == [
        ["Learner l0", "4", "31.6", "31.6 to 31.6", "0.001"],
        ["", "8", "31.6", "–", "0.03"],
        ["Learner l1", "4", "> 1000", "≥ 1000", "0.8"],
        ["", "8", "< 10", "≤ 10", "0.03"],
    ]


def test_of_six_seeds_there_is_an_interval_of_the_median(monkeypatch):
    found = cube([[[FALLS] * 5 + [HIGH]]], dimension=[4])
    (table,) = tables(monkeypatch, found, dimension=[4])
    assert table.head[3] == "95 % interval" and table.rows == [["Learner l0", "4", "31.6", "≥ 31.6", "0.001"]]


def test_a_study_of_one_dimension_has_a_row_for_each_value_of_its_other_axes(monkeypatch):
    nothing = (np.nan,) * 3
    found = cube([[[[FALLS], [HIGH]]], [[[FALLS], [nothing]]]], dimension=[4], noise=[0.0, 0.5])
    (table,) = tables(monkeypatch, found, dimension=[4], noise=[0.0, 0.5])
    assert table.head[:2] == ["learner", "noise"]
    # What a learner was not asked for has no row.
    assert [row[:2] for row in table.rows] == [["Learner l0", "0.0"], ["", "0.5"], ["Learner l1", "0.0"]]


def test_what_only_some_learners_sweep_is_told_beside_the_size(monkeypatch):
    found = cube([[[[FALLS], [HIGH]]] * 2, [[[LOW], [LOW]]] * 2], dimension=[4, 8], width=[16, 32])
    (table,) = tables(monkeypatch, found, dimension=[4, 8])
    assert table.head[:3] == ["learner", "at", "dimension"]
    assert [row[:3] for row in table.rows[:3]] == [
        ["Learner l0", "width 16", "4"],
        ["", "width 16", "8"],
        ["", "width 32", "4"],
    ]
    assert [row[:3] for row in table.rows[4:]] == [["Learner l1", "", "4"], ["", "", "8"]]


def test_a_study_without_thresholds_has_risks_alone(monkeypatch):
    (table,) = tables(monkeypatch, cube([[[FALLS]]], dimension=[4]), thresholds=(), dimension=[4])
    assert table.head == ["learner", "dimension", "risk at most samples"]
    assert table.rows == [["Learner l0", "4", "0.001"]]


def test_a_long_table_says_that_it_goes_on(monkeypatch):
    sizes = list(range(1, 60))
    (table,) = tables(monkeypatch, cube([[[FALLS]] * 59], dimension=sizes), dimension=sizes)
    assert len(table.rows) == answer.MOST + 1 and table.rows[-1][0] == "…"


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ({"value": 1.234, "low": 1.1, "high": 1.3, "verdict": "supported"}, ["1.23", "1.1 to 1.3", "(✓) passes"]),
        ({"value": None, "low": None, "high": None, "verdict": ""}, ["–", "", ""]),
        ({"value": 2.0, "low": 1.5, "high": None, "verdict": ""}, ["2", "1.5 to –", ""]),
    ],
)
def test_claims_have_their_values_intervals_and_verdicts(monkeypatch, row, cells):
    rows = [row | {"claim": "C1", "statement": "It grows"}]
    *_, table = tables(monkeypatch, cube([[[FALLS]]], dimension=[4]), rows, dimension=[4])
    assert table.rows == [["C1", *cells, "It grows"]] and table.cut == "statement"


def test_the_result_of_a_draw_has_a_light_mark_beside_the_stored_outcome(monkeypatch):
    rows = [{"claim": name, "value": 1.0, "low": 0.9, "high": 1.1, "verdict": "ends"} for name in ("C1", "C2")]
    found = [row | {"statement": "It grows"} for row in rows]
    monkeypatch.setattr(answer.page_context, "stored", lambda study: {"C1": "no test"})
    *_, table = tables(monkeypatch, cube([[[FALLS]]], dimension=[4]), found, dimension=[4])
    assert table.head == ["claim", "value", "95 % interval", "result", "stored", "statement"]
    assert [row[3:5] for row in table.rows] == [["(✗) fails", "○ no test"], ["(✗) fails", "–"]]
