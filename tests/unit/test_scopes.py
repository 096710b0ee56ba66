"""Scopes: whether the hypotheses of a place hold is computed from what runs, alike for every claim there."""

import csv

import pytest
import shipped
from small_study import put, study_of

from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.claims.scopes import Scope
from hierlearn.pipeline.claims.verdicts import scope
from hierlearn.pipeline.files import papers
from hierlearn.pipeline.plan import checking, registration

ROOT = PACKAGE.parents[1]
STUDIES = sorted((ROOT / "config" / "studies").glob("*.yaml"))
CLAIM, PLACE = "C1-kernel", "Theorem 99"
HYPOTHESES = {
    "enough": {"says": "{found} samples, where it has $d^3={needs}$", "needs": {"dimension": 3}, "least": "samples"},
    "few": {"says": "fewer than {needs}", "needs": 2, "least": "samples"},
    "kernel": {"says": "a kernel", "when": {"learner.name": "kernel_ridge"}},
    "network": {"says": "a network", "when": {"learner.name": ["network", "taylor"]}},
    "but": {"says": "no sphere", "when": {"learner.name": "kernel_ridge"}, "unless": {"*input.name": "*"}},
    "said": {"says": "what no parameter says"},
}


@pytest.fixture
def computed(content, monkeypatch):
    """The scope of the small study's first claim at a place with some hypotheses."""

    def found(hypotheses=tuple(HYPOTHESES), changes=(), **place):
        monkeypatch.setattr(papers, "hypotheses", lambda paper: HYPOTHESES)
        monkeypatch.setattr(papers, "places", lambda paper: {PLACE: {"hypotheses": hypotheses} | place})
        changed = put(content, f"claims.{CLAIM}.place", PLACE)
        changed["claims"][CLAIM].pop("regime", None)
        for path, value in changes:
            changed = put(changed, path, value)
        return registration.scopes_of(study_of(changed, "small", "small.yaml", "quick"))[CLAIM]

    return found


def test_numbers_that_run_are_compared_with_those_that_a_hypothesis_needs(computed):
    (sentence,) = computed(["enough", "few"]).sentences
    # The cap of its learner, and the largest dimension at which that runs.
    assert sentence.endswith("samples, where it has $d^3=64$")
    assert computed(["few"]).broken == ()


def test_what_is_learned_by_what_breaks_a_hypothesis(computed):
    assert computed(["kernel", "network"]).broken == ("kernel",)
    other = computed(["kernel", "network"], [(f"claims.{CLAIM}.quantity.learner", "linear")])
    assert other.broken == ("network",)


def test_what_no_parameter_says_is_declared(computed):
    assert computed(["said"]).broken == ()
    assert computed(["said"], [(f"claims.{CLAIM}.beyond", ["said"])]).broken == ("said",)


@pytest.mark.parametrize(
    ("kind", "place", "broken", "regime"),
    [
        ("theorem", {}, (), "within"),
        ("rate", {}, (), "limit"),
        ("assumption", {"asymptotic": True}, (), "limit"),
        ("rate", {}, ("one",), "beyond"),
        ("published", {}, ("one",), "beyond"),
        ("conjecture", {}, (), "ours"),
        ("conjecture", {"remark": True}, (), "limit"),
        ("conjecture", {"remark": True}, ("one",), "beyond"),
        ("open", {}, ("one",), ""),
    ],
)
def test_a_scope_follows_from_the_kind_the_place_and_what_is_broken(kind, place, broken, regime):
    assert Scope(place, broken, broken).of_kind(kind) == regime


def test_every_judged_claim_of_the_project_has_a_place_that_is_listed():
    for file in STUDIES:
        content = shipped.content(file)
        known = papers.places(content["paper"])
        missing = {claim["place"] for claim in content.get("claims", {}).values() if "test" in claim} - known.keys()
        assert missing == set(), file.name


def test_every_hypothesis_of_a_place_is_one_of_its_paper():
    for paper in papers.known():
        listed = {key for place in papers.places(paper).values() for key in place.get("hypotheses", ())}
        assert listed <= papers.hypotheses(paper).keys()


def test_claims_whose_declared_scope_was_another_one_are_listed_with_the_computed_one():
    with open(ROOT / "docs" / "records" / "scopes.csv", newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) > 100
    for study, preset in sorted({(row["study"], row["preset"]) for row in rows})[::6]:
        loaded = checking.load_study(ROOT / "config" / "studies" / f"{study}.yaml", preset)
        computed = registration.scopes_of(loaded)
        for row in (one for one in rows if (one["study"], one["preset"]) == (study, preset)):
            if row["row"] in computed and loaded.claims[row["row"]].kind == row["kind"]:
                assert row["computed"] == scope(row["kind"], computed[row["row"]].of_kind(row["kind"])), row
