"""Rows are judged from judged.nc alone: it has all that they read, and gives the same results without a run."""

import json

import numpy as np
import pytest
import xarray

from hierlearn.core import registry
from hierlearn.pipeline.claims import evidence, outcomes
from hierlearn.pipeline.claims.evidence import Evidence
from hierlearn.pipeline.command import rejudging
from hierlearn.pipeline.files import results
from hierlearn.pipeline.plan import checking, jobs

DIMENSIONS, SAMPLES, SEEDS = [4, 6, 8, 12], [4 * 2**k for k in range(10)], range(6)


def cube(power, seed=0):
    """Scores of two learners, whose risk falls to 1/2 at some d^power samples."""
    rng = np.random.default_rng(seed)
    needed = 3 * np.array(DIMENSIONS, float)[None, :] ** np.array([power, power + 1])[:, None]
    noise = np.exp(0.02 * rng.standard_normal((2, len(DIMENSIONS), 1, len(SEEDS))))
    risk = 1 / (1 + np.array(SAMPLES, float)[None, None, :, None] / (needed[:, :, None, None] * noise))
    axes = ("learner", "dimension", "samples", "seed")
    variables = {
        "test_risk": (axes, risk),
        "train_risk": (axes, risk / 2),
        "status": (axes, np.zeros(risk.shape, np.int8)),
        "flops": (axes, np.ones(risk.shape)),
    }
    places = {"learner": ["a", "b"], "dimension": DIMENSIONS, "samples": SAMPLES, "seed": list(SEEDS)}
    return xarray.Dataset(variables, places)


def probe():
    values = np.array([[1.0, 1.1, 0.9], [2.0, 2.1, 1.9]])
    axes = ("width", "seed")
    return xarray.Dataset({"gap": (axes, values), "other": (axes, values)}, {"width": [10, 20], "seed": [0, 1, 2]})


CLAIM = {"place": "p", "statement": "s", "kind": "rate", "rank": "primary", "regime": "limit", "rule": "upper"}
EXPONENT = {"name": "exponent", "learner": "a"}
GAP = {"name": "probe_mean", "probe": "p", "variable": "gap", "where": {"width": 10}}
ASKED = {
    "study": {"name": "small", "paper": "chen2020", "preset": "quick", "draw": "small/quick/1", "revision": 1},
    "claims": {
        "Z1": CLAIM
        | {"quantity": EXPONENT, "predicted": 1.0, "slack": 0.5, "digest": "abc"}
        | {"control": {"rival": "the other", "quantity": EXPONENT | {"learner": "b"}}},
        "A1": CLAIM
        | {"quantity": GAP, "predicted": 1.5}
        | {"control": {"rival": "r", "quantity": GAP | {"where": {"width": 20}}}},
    },
    "rates": {},
}


def written(folder, power=1.0, seed=0, name=rejudging.FIRST):
    """judged.nc of a study, and the rows that it was judged to."""
    folder.mkdir(exist_ok=True)
    kept = evidence.needed(ASKED, Evidence(cube(power, seed), None, {"p": probe(), "unread": probe()}))
    rows = evidence.rows(ASKED, kept)
    evidence.write(folder / name, ASKED, kept, {})
    if name == rejudging.FIRST:
        results.write_claims(folder / rejudging.ROWS, rows, {})
    return rows


def test_what_no_claim_reads_is_not_kept(tmp_path):
    written(tmp_path / "small")
    said, found = evidence.read(tmp_path / "small" / rejudging.FIRST)
    assert said == ASKED and list(said["claims"]) == ["Z1", "A1"]
    assert set(found.scores.data_vars) == {"test_risk", "status"} and list(found.probes) == ["p"]
    assert list(found.probes["p"].data_vars) == ["gap"] and found.traces is None
    assert found.flops["Z1"] == len(DIMENSIONS) * len(SAMPLES) * len(SEEDS)


def test_rows_are_the_same_to_the_last_bit_from_the_file_alone(tmp_path):
    rows = written(tmp_path / "small")
    said, found = evidence.read(tmp_path / "small" / rejudging.FIRST)
    assert json.dumps(evidence.rows(said, found)) == json.dumps(rows)
    told, differs = rejudging.lines([tmp_path / "small"])
    assert not differs and told[-1] == "  2 rows, all as stored in claims.json"
    assert told[0] == "small, preset quick, draw small/quick/1:" and told[1].startswith("  (✓) passes     Z1: ")


@pytest.mark.parametrize(("field", "wrong"), [("value", 7.0), ("verdict", "not seen"), ("control_high", None)])
def test_a_row_that_is_stored_otherwise_is_named(tmp_path, field, wrong):
    rows = written(tmp_path / "small")
    results.write_claims(tmp_path / "small" / rejudging.ROWS, [rows[0] | {field: wrong}, rows[1]], {})
    told, differs = rejudging.lines([tmp_path / "small" / rejudging.FIRST])
    assert differs and told[-1].startswith(f"  Z1: {field} is ")


def test_two_draws_make_an_outcome_at_the_level_of_their_attempts(tmp_path, monkeypatch):
    first, second = written(tmp_path / "small"), written(tmp_path / "small", seed=1, name=rejudging.SECOND)
    monkeypatch.setattr(rejudging.asked, "designs", lambda lines: {"Z1": 3})
    told, _ = rejudging.lines([tmp_path / "small"])
    assert "  ✓ holds      Z1, two draws at 99.93 %" in told
    own = [rejudging.drawn(row | {"quantity": "exponent"}) for row in (first[0], second[0])]
    assert {draw.freedom for pair in own for draw in pair} == {len(DIMENSIONS) - 2}
    word, _ = outcomes.result("upper", [pair[1] for pair in own], 1.0, 0.5, "above", outcomes.level(3))
    assert word == "fails"


def test_what_is_no_such_file_is_refused_in_one_line(tmp_path):
    with pytest.raises(ValueError, match=r"found no file; expected judged\.nc of a study"):
        rejudging.lines([tmp_path])
    results.write(tmp_path / rejudging.FIRST, {"scores": evidence._group(probe())}, {})
    with pytest.raises(ValueError, match=r"judged\.nc: found no claims; expected judged\.nc of a study"):
        rejudging.lines([tmp_path])
    (tmp_path / rejudging.FIRST).write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"judged\.nc"):
        rejudging.lines([tmp_path])


def test_of_a_quantity_of_a_users_own_all_that_it_may_read_is_kept(monkeypatch):
    monkeypatch.setattr(evidence, "_is_shipped", lambda name: False)
    kept = evidence.needed(ASKED, Evidence(cube(1.0), None, {"p": probe()}))
    assert "train_risk" in kept.scores and "other" in kept.probes["p"]


def test_rows_of_one_finite_set_say_that_they_are_of_it():
    kept = evidence.needed(ASKED, Evidence(cube(1.0), None, {"p": probe()}))
    scored, probed = evidence.rows(ASKED | {"finite": "pictures", "overlap": 0.25}, kept)
    assert scored["sizes"].endswith("for these pictures") and "pictures" not in probed["sizes"]
    # A probe has a set of its own.
    own = {"claims": {"A1": ASKED["claims"]["A1"] | {"finite": "pictures", "overlap": 0.25}}}
    (wide,) = evidence.rows(ASKED | own, kept)
    assert "for these pictures" in wide["sizes"] and wide["detail"]["split_ratio"] == 0.25
    assert wide["high"] - wide["low"] > probed["high"] - probed["low"]


def test_rows_on_shifted_digits_say_so_and_rows_on_drawn_points_do_not():
    folder = registry.PACKAGE.parents[1] / "config" / "studies"
    digits, drawn = (
        jobs.judge(checking.load_study(folder / f"allenzhu2020-{name}.yaml", "standard"))["claims"]
        for name in ("pictures", "algorithm")
    )
    of_digits = [claim for claim in digits.values() if "finite" in claim]
    assert {claim["finite"] for claim in of_digits} == {"pictures"}
    assert {claim["overlap"] for claim in of_digits} == {497 / 1300}
    assert {claim.get("finite") for claim in drawn.values()} == {None}


def test_every_quantity_says_how_its_interval_is_made():
    lacking = [
        name for name in registry.available("quantities") if not registry.implementation("quantities", name).METHOD
    ]
    assert lacking == []
