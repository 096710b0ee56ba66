"""What the papers and the audits say has its rows or a reason for none, and the list of primary rows is sound."""

import csv
import re

import pytest
import shipped
from recomputation.designs import study_at

from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.plan.presets import PRESETS

ROOT = PACKAGE.parents[1]
PAPERS = ("chen2020", "bai2020", "allenzhu2019", "allenzhu2020")
AUDITS = tuple(f"audit {name}" for name in ("taylor", "design", "hierarchical", "images", "newcomer"))
EARLIER = "primary before the list"
# Papers whose rows stand at the place of the list to the letter; some of the others were registered at a shorter one.
LISTED_PLACES = ("allenzhu2019",)
STATES = ("measured", "partial", "planned", "none")
KINDS = ("theorem", "rate", "assumption", "published", "conjecture", "open", "check")
RULES = ("upper", "lower", "two-sided", "ordering", "bound", "published")
NAME = re.compile(r"[A-Z][0-9]+[a-z]?(-[a-z0-9-]+)?")

# What the papers number, as their texts have it; equations only where a row rests on one.
NUMBERED = {
    "chen2020": {
        "Theorem": "1(1) 1(2) 2 3",
        "Assumption": "1 2",
        "Algorithm": "1",
        "Footnote": "1 2 3 4 5 6",
        "Equation": "1 2 3 4 5 6 7 8",
        "Appendix": "B D",
    },
    "bai2020": {
        "Theorem": "2 4 6 7",
        "Lemma": "1 5 8 9 10 11 12 13 14 15",
        "Corollary": "3",
        "Assumption": "A",
        "Footnote": "1 2",
        "Equation": "2 3 4",
    },
    "allenzhu2019": {
        "Theorem": "1 2 3 4",
        "Figure": "1 1(b) 2(a) 2(b)",
        "Table": "1",
        "Remark": "6.1",
        "Example": "4.1",
        "Concept": "1 2",
        "Fact": "A.3",
        "Footnote": "2 3 4 5 6 7 8 9 10 11 12 13 14",
        "Equation": "2.1 2.2 6.1 6.2 6.3",
    },
    "allenzhu2020": {
        "Theorem": "1 1' 2 3.1 3.2 3.3 A.6",
        "Corollary": "L.3d",
        "Proposition": "5.4 D.1 G.43",
        "Lemma": "2",
        "Remark": "3.1 3.2",
        "Algorithm": "1",
        "Figure": "1 2 3 4 5 6 7 8 9 10 11 12 13",
        "Footnote": "1 2 3 4 5 6 7 10 15",
        "Assumption": "1 2 3",
        "Equation": "1.1 1.2 1.3 2.1 2.2 2.3 3.2 4.1 5.1 5.2 5.3 5.4",
    },
}
POINTS = {
    "audit taylor": {"Rows that cannot fail": 7, "Experiments worth the most": 6},
    "audit hierarchical": {"Rows that ask the wrong thing": 6, "Experiments worth the most": 6},
}
NUMBER = r"(?:[0-9][0-9.]*|[A-Z](?:\.[0-9]+)?)[a-z]?(?![A-Za-z])'?(?:\([0-9a-z]\))?"


def table(file, columns):
    with open(ROOT / file, newline="", encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    assert rows and list(rows[0]) == columns, file
    return rows


@pytest.fixture(scope="module")
def coverage():
    return table("config/coverage.csv", ["source", "place", "what", "state", "rows", "reason"])


@pytest.fixture(scope="module")
def primary():
    columns = ["paper", "place", "claim", "kind", "rank", "statement", "rule", "prediction", "rival"]
    return table("config/primary_rows.csv", columns)


@pytest.fixture(scope="module")
def claims():
    """The paper of every claim of the studies, at the base or at a preset."""
    found = {}
    for study in map(shipped.content, shipped.STUDIES):
        for part in (study, *study["presets"].values()):
            found |= {name: study["paper"] for name, claim in part.get("claims", {}).items() if claim is not None}
    return found


def numbers(place):
    """Pairs of kind and number in a place: `Figures 12 and 13` has two."""
    found = set()
    for kind, items in re.findall(rf"\b([A-Za-z]+) ({NUMBER}(?:(?:, | and ){NUMBER})*)", place):
        found |= {(kind.capitalize().removesuffix("s"), item) for item in re.split(", | and ", items)}
    return found


def test_a_place_is_there_once_and_in_plain_lines(coverage):
    places = [(row["source"], row["place"]) for row in coverage]
    assert len(set(places)) == len(places)
    assert {row["source"] for row in coverage} == {*PAPERS, *AUDITS, EARLIER}
    for row in coverage:
        assert row["place"] and row["what"], row
        assert all("\n" not in text and text == text.strip() for text in row.values()), row


def test_the_state_of_a_place_is_that_of_its_rows(coverage, claims):
    for row in coverage:
        names = row["rows"].split()
        there = [name in claims for name in names]
        assert len(set(names)) == len(names), row
        assert all(NAME.fullmatch(name) for name in names), row
        sound = {
            "measured": bool(names) and all(there) and not row["reason"],
            "partial": any(there) and (bool(row["reason"]) or not all(there)),
            "planned": bool(names) and not all(there),
            "none": not names and bool(row["reason"]),
        }
        assert tuple(sound) == STATES
        assert sound[row["state"]], row


def test_a_place_is_measured_only_by_rows_that_are_stored_and_of_which_one_is_judged(coverage):
    with open(ROOT / "docs" / "ledger" / "claims.csv", newline="", encoding="utf-8") as text:
        verdicts = {row["claim"]: row["verdict"] for row in csv.DictReader(text)}
    for row in coverage:
        if row["state"] == "measured":
            names = row["rows"].split()
            assert [name for name in names if name not in verdicts] == [], row
            assert any(verdicts[name] for name in names), row


def test_every_claim_of_the_studies_has_a_place_in_a_paper_or_is_asked_after_one_that_has(coverage):
    named = {name for row in coverage if row["source"] in PAPERS for name in row["rows"].split()}
    for study in map(shipped.content, shipped.STUDIES):
        for name, claim in study.get("claims", {}).items():
            assert name in named or claim.get("asked_after") in named, name


def test_every_numbered_statement_of_a_paper_has_a_place(coverage):
    for paper, kinds in NUMBERED.items():
        wanted = {(kind, number) for kind, listed in kinds.items() for number in listed.split()}
        there = {pair for row in coverage if row["source"] == paper for pair in numbers(row["place"])}
        assert sorted(wanted - there) == [], paper


def test_every_numbered_point_of_an_audit_has_a_place(coverage):
    for audit, headings in POINTS.items():
        places = [row["place"] for row in coverage if row["source"] == audit]
        for heading, count in headings.items():
            points = {int(found[1]) for place in places if (found := re.match(rf"{heading}, point (\d+)", place))}
            assert points == set(range(1, count + 1)), (audit, heading)


def test_a_primary_row_says_what_is_asked_and_against_which_rival(primary):
    names = [row["claim"] for row in primary]
    assert len(set(names)) == len(names)
    for row in primary:
        assert NAME.fullmatch(row["claim"]), row
        assert row["paper"] in PAPERS and row["kind"] in KINDS and row["rule"] in RULES, row
        assert row["rank"] == "primary" or (row["rank"], row["kind"]) == ("secondary", "open"), row
        assert all(text and "\n" not in text and text == text.strip() for text in row.values()), row
        assert all(text.count("$") % 2 == 0 for text in row.values()), row
        assert row["statement"].endswith("."), row


def test_a_primary_row_that_is_there_belongs_to_a_study_of_its_paper(primary, claims):
    for row in primary:
        assert claims.get(row["claim"], row["paper"]) == row["paper"], row


@pytest.mark.parametrize("preset", PRESETS)
def test_a_claim_has_the_rank_and_the_kind_that_the_list_gives_it(primary, preset):
    listed = {row["claim"]: (row["rank"], row["kind"]) for row in primary}
    for file in sorted((ROOT / "config" / "studies").glob("*.yaml")):
        for name, claim in study_at(file, preset).get("claims", {}).items():
            found = claim.get("rank", "secondary"), claim["kind"]
            assert found == listed.get(name, ("secondary", claim["kind"])), f"{file.name}: {name}"


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("paper", LISTED_PLACES)
def test_a_listed_row_has_the_place_that_the_list_gives_it(primary, paper, preset):
    listed = {row["claim"]: row["place"] for row in primary if row["paper"] == paper}
    for file in sorted((ROOT / "config" / "studies").glob(f"{paper}-*.yaml")):
        for name, claim in study_at(file, preset).get("claims", {}).items():
            assert claim["place"] == listed.get(name, claim["place"]), name


@pytest.mark.parametrize("preset", PRESETS)
def test_a_listed_row_has_the_rule_and_the_side_that_the_list_gives_it(primary, preset):
    listed = {row["claim"]: row for row in primary}
    for file in sorted((ROOT / "config" / "studies").glob("*.yaml")):
        for name, claim in study_at(file, preset).get("claims", {}).items():
            if name in listed:
                assert claim["rule"] == listed[name]["rule"], f"{file.name}: {name}"
                side = re.search(r"\b(above|below) [$0-9-]|\b(above|below) \$?\\log", listed[name]["prediction"])
                if side and claim["rule"] == "ordering":
                    assert claim.get("side", "above") == (side[1] or side[2]), f"{file.name}: {name}"


def test_a_row_that_was_primary_names_a_primary_row_in_its_place(primary, coverage):
    listed = {row["claim"] for row in primary}
    for row in coverage:
        if row["source"] == EARLIER:
            first, *others = row["rows"].split()
            assert first == row["place"] and first not in listed and listed & set(others), row


def test_every_primary_row_has_a_place_in_its_paper(primary, coverage):
    for row in primary:
        places = [place for place in coverage if place["source"] == row["paper"]]
        assert any(row["claim"] in place["rows"].split() for place in places), row


def test_every_theorem_figure_and_table_has_a_primary_row_or_a_reason_for_none(primary, coverage):
    listed = {row["claim"] for row in primary}
    for paper, kinds in NUMBERED.items():
        for kind in {"Theorem", "Figure", "Table"} & set(kinds):
            for number in kinds[kind].split():
                places = [row for row in coverage if row["source"] == paper and (kind, number) in numbers(row["place"])]
                named = {name for row in places for name in row["rows"].split()}
                assert listed & named or all(row["state"] == "none" for row in places), (paper, kind, number)
