"""Rows are judged from judged.nc alone: it has all that they read, and gives the same results without a run."""

import json
from types import SimpleNamespace

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
    "grids": {},
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
    monkeypatch.setattr(rejudging.asked, "designs", lambda lines, after: {"Z1": 3})
    told, _ = rejudging.lines([tmp_path / "small"])
    assert "  ✓ holds      Z1, two draws at 99.93 %" in told
    own = [rejudging.drawn(row | {"quantity": "exponent"}) for row in (first[0], second[0])]
    assert {draw.freedom for pair in own for draw in pair} == {len(DIMENSIONS) - 2}
    word, _ = outcomes.result("upper", [pair[1] for pair in own], 1.0, 0.5, "above", outcomes.level(3))
    assert word == "fails"


def test_a_stored_study_has_the_outcomes_of_its_two_draws(tmp_path, monkeypatch):
    monkeypatch.setattr(rejudging.asked, "designs", lambda lines, after: {})
    assert rejudging.current(tmp_path) == {}
    written(tmp_path / "small")
    # One draw makes no outcome.
    assert rejudging.current(tmp_path / "small") == {}
    written(tmp_path / "small", seed=1, name=rejudging.SECOND)
    assert rejudging.current(tmp_path / "small") == {"Z1": "holds", "A1": "holds"}


def test_a_later_question_is_judged_at_the_level_of_those_that_it_is_asked_after(tmp_path, monkeypatch):
    claims = {"Z1-later": ASKED["claims"]["Z1"] | {"asked_after": "Z1", "rank": "secondary"}}
    for name, seed in ((rejudging.FIRST, 0), (rejudging.SECOND, 1)):
        kept = evidence.needed(ASKED | {"claims": claims}, Evidence(cube(1.0, seed), None, {}))
        evidence.write(tmp_path / name, ASKED | {"claims": claims}, kept, {})
    before = [SimpleNamespace(claim="Z1", digest=digest) for digest in "ab"]
    monkeypatch.setattr(
        rejudging.history, "read", lambda file: ([*before, SimpleNamespace(claim="Z1-later", digest="c")], [])
    )
    assert "  ✓ holds      Z1-later, two draws at 99.93 %" in rejudging.lines([tmp_path])[0]


def drawn(value, half, **said):
    """The row of a draw that judges a score at most 1, and what else it has."""
    row = {"claim": "C1", "rule": "upper", "predicted": 1.0, "slack": 0.0, "side": "", "kind": "rate", "seeds": 9}
    numbers = {"value": value, "low": value - half, "high": value + half}
    control = {"control_value": 5.0, "control_low": 4.0, "control_high": 6.0, "control_verdict": "fails"}
    return row | numbers | control | {"quantity": "score_mean", "detail": {"control": {"seeds": 9}} | said}


def rival(value, half=0.1, name="r"):
    numbers = {"value": value, "low": value and value - half, "high": value and value + half}
    return {"rival": name, "measured_by": "b", "seeds": 9, "dof": None} | numbers


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (drawn(0.5, 0.1), drawn(0.6, 0.1), "holds"),
        (drawn(1.5, 0.1), drawn(1.6, 0.1), "fails"),
        (drawn(0.9, 0.1), drawn(1.1, 0.1), "undecided"),
        # A rival that was added: it fails, passes, is undecided on one draw, or is measured on none.
        (drawn(0.5, 0.1, rivals=[rival(2.0)]), drawn(0.6, 0.1, rivals=[rival(2.1)]), "holds"),
        (drawn(0.5, 0.1, rivals=[rival(0.4)]), drawn(0.6, 0.1, rivals=[rival(0.5)]), "no test"),
        (drawn(0.5, 0.1, rivals=[rival(0.9)]), drawn(0.6, 0.1, rivals=[rival(1.2)]), "undecided"),
        (drawn(0.5, 0.1, rivals=[rival(None)]), drawn(0.6, 0.1, rivals=[rival(None)]), "undecided"),
        (drawn(0.5, 0.1, rivals=[rival(2.0)]), drawn(0.6, 0.1), "undecided"),
        # One of several that passes decides, and a claim that fails is not hidden by its rivals.
        (
            drawn(0.5, 0.1, rivals=[rival(None), rival(0.4, name="s")]),
            drawn(0.6, 0.1, rivals=[rival(None), rival(0.5, name="s")]),
            "no test",
        ),
        (drawn(1.5, 0.1, rivals=[rival(None)]), drawn(1.6, 0.1, rivals=[rival(0.4)]), "fails"),
        # The end of a list decides nothing, on either draw.
        (drawn(0.5, 0.1, edges=[{"learner": "a"}]), drawn(0.6, 0.1), "undecided"),
        (drawn(1.5, 0.1), drawn(1.6, 0.1, edges=[{"learner": "a"}]), "undecided"),
        # An exact claim needs no second draw where its rivals need none; others do.
        (drawn(0.5, 0.0) | {"control_low": 5.0, "control_high": 5.0}, None, "holds"),
        (drawn(0.5, 0.0), None, "undecided"),
        (drawn(1.5, 0.0), None, "fails"),
    ],
)
def test_the_outcome_is_that_of_the_table_for_the_claim_and_every_rival(first, second, expected):
    assert rejudging.outcome(first, second, 1) == expected


def test_a_check_is_true_whatever_was_chosen():
    first, second = (drawn(value, 0.1, edges=[{"learner": "a"}]) | {"kind": "check"} for value in (0.5, 0.6))
    assert rejudging.outcome(first, second, 1) == "holds"


def test_an_exact_row_is_told_without_a_second_draw():
    row = drawn(0.5, 0.0) | {"control_low": 5.0, "control_high": 5.0, "digest": "abc"}
    assert list(rejudging.of_two([row], [])) == ["✓ holds      C1, exact"]
    assert list(rejudging.of_two([drawn(0.5, 0.1) | {"digest": "abc"}], [])) == []


def test_a_rival_is_measured_from_the_same_scores_and_kept_with_them(tmp_path):
    added = [
        {"rival": "one that passes", "measured_by": "a", "quantity": EXPONENT},
        {"rival": "one that is not there", "measured_by": ""},
    ]
    claims = {"Z1": ASKED["claims"]["Z1"] | {"rivals": added}}
    kept = evidence.needed(ASKED | {"claims": claims}, Evidence(cube(1.0), None, {}))
    (row,) = evidence.rows(ASKED | {"claims": claims}, kept)
    assert (row["verdict"], row["control_verdict"]) == ("vacuous", "fails")
    assert row["reason"] == "the rival, one that passes, passes too"
    passing, missing = row["detail"]["rivals"]
    assert (passing["result"], passing["value"]) == ("passes", row["value"])
    assert (missing["result"], missing["value"], missing["seeds"]) == ("undecided", None, 0)
    evidence.write(tmp_path / rejudging.FIRST, ASKED | {"claims": claims}, kept, {})
    assert json.dumps(evidence.rows(*evidence.read(tmp_path / rejudging.FIRST))) == json.dumps([row])


def test_what_was_chosen_at_the_end_of_a_list_leaves_a_row_undecided(tmp_path):
    scores = cube(1.0)
    chosen = xarray.full_like(scores.test_risk, 0.1)
    said = ASKED | {"grids": {"a": {"learning_rate": [0.1, 0.2]}}}
    kept = evidence.needed(said, Evidence(scores.assign(selected_learning_rate=chosen), None, {"p": probe()}))
    first, other = evidence.rows(said, kept)
    assert first["verdict"] == "inconclusive" and other["verdict"] == "consistent"
    assert first["reason"].startswith(
        "the best may lie beyond the list; a chose 0.1, the smallest of its learning rates"
    )
    evidence.write(tmp_path / rejudging.FIRST, said, kept, {})
    assert json.dumps(evidence.rows(*evidence.read(tmp_path / rejudging.FIRST))) == json.dumps([first, other])
    # Of what the rival chose likewise.
    of_rival = said | {"grids": {"b": {"learning_rate": [0.1, 0.2]}}}
    assert evidence.rows(of_rival, kept)[0]["detail"]["edges"][0]["control"]


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
