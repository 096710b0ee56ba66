"""The list of rivals says for every place of a paper what must fail there, or why the paper names nothing."""

import csv
import io
import subprocess

import pytest
import shipped
import yaml

from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.claims import rivals as rivals_of_claims
from hierlearn.pipeline.claims.rivals import Known, Listed
from hierlearn.pipeline.plan import checking, jobs, registration
from hierlearn.pipeline.plan.folders import StudyFolder

ROOT = PACKAGE.parents[1]
FILE = "config/rivals.csv"
COLUMNS = ["paper", "place", "rival", "learner", "role", "source", "sentence", "where", "reason"]
SOURCES = ("paper", "ours", "first")
ROLES = ("must fail", "compared")
# A quotation is short.
WORDS = 30


def table(file):
    with open(ROOT / file, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def rivals():
    return table(FILE)


@pytest.fixture(scope="module")
def papers():
    return set(yaml.safe_load((ROOT / "config" / "papers.yaml").read_text()))


def test_the_columns_are_those_that_are_read(rivals):
    assert list(rivals[0]) == COLUMNS


def test_every_place_of_the_papers_has_a_rival_or_a_reason_for_none(rivals, papers):
    places = {(row["source"], row["place"]) for row in table("config/coverage.csv") if row["source"] in papers}
    assert {(row["paper"], row["place"]) for row in rivals} == places
    named = {(row["paper"], row["place"]) for row in rivals if row["rival"]}
    for row in rivals:
        if not row["rival"]:
            assert row["reason"], row
            assert (row["paper"], row["place"]) not in named, row
            assert not any(row[column] for column in ("learner", "role", "source", "sentence", "where")), row


def test_a_rival_of_a_paper_has_its_sentence_and_others_say_why_they_are_named(rivals):
    for row in rivals:
        if not row["rival"]:
            continue
        assert row["source"] in SOURCES and row["role"] in ROLES, row
        # What was registered as a rival has to fail.
        assert row["source"] != "first" or row["role"] == "must fail", row
        if row["source"] == "paper":
            assert row["sentence"] and row["where"] and len(row["sentence"].split()) <= WORDS, row
        else:
            assert row["reason"] and not row["sentence"] and not row["where"], row


def test_a_rival_stands_once_at_its_place_and_in_plain_lines(rivals):
    keys = [tuple(row[column] for column in COLUMNS[:3]) for row in rivals]
    assert len(set(keys)) == len(keys)
    for row in rivals:
        assert all("\n" not in text and text == text.strip() for text in row.values()), row
        assert all(text.count("$") % 2 == 0 for text in row.values()), row


def test_a_learner_of_a_rival_is_one_of_a_study_of_its_paper(rivals):
    known = {}
    for file in shipped.STUDIES:
        study = shipped.content(file)
        for part in (study, *study.get("presets", {}).values()):
            known.setdefault(study["paper"], set()).update(part.get("learners", {}), part.get("probes", {}))
    for row in rivals:
        assert not row["learner"] or row["learner"] in known[row["paper"]], row


def test_a_rival_is_never_removed(rivals):
    asked = ["git", "-C", str(ROOT), "log", "--format=%H", "--", FILE]
    done = subprocess.run(asked, capture_output=True, text=True)
    if done.returncode or not done.stdout:
        # An archive of the sources has no commits to compare with.
        pytest.skip("no commits here that the rivals could be compared with")
    now = {tuple(row[column] for column in COLUMNS[:3]) for row in rivals}
    for commit in done.stdout.split():
        shown = ["git", "-C", str(ROOT), "show", f"{commit}:{FILE}"]
        earlier = subprocess.run(shown, capture_output=True, text=True, check=True).stdout
        then = {
            tuple(row[column] for column in COLUMNS[:3]) for row in csv.DictReader(io.StringIO(earlier)) if row["rival"]
        }
        assert then <= now, commit


def listed(rival, learner="", place="Theorem 1", role="must fail", source="ours"):
    return Listed("chen2020", place, rival, learner, role, source, "", "", "why")


SCORE = {"name": "score_mean", "learner": "own"}
RATIO = {"name": "log_risk_ratio", "above": "other", "below": "own"}
PROBE = {"name": "probe_mean", "probe": "p", "variable": "gap"}


@pytest.mark.parametrize(
    ("quantity", "overlay", "seat"),
    [
        (SCORE, {"learner": "first"}, "learner"),
        (SCORE, {"where": {"gap": 2}}, "learner"),
        (SCORE, {"name": "lowest_score_mean", "predictors": ["first"]}, "learner"),
        (RATIO, {"below": "first"}, "below"),
        (RATIO, {"above": "first"}, "above"),
        # Which of two is not clear where a rival takes both or none.
        (RATIO, {"above": "first", "below": "second"}, ""),
        (RATIO, {"where": {"gap": 2}}, ""),
        (PROBE, {"probe": "q"}, "probe"),
        (PROBE, {"variable": "start"}, ""),
        (SCORE, {"name": "probe_mean", "probe": "q", "learner": "first"}, ""),
    ],
)
def test_the_own_rival_of_a_claim_shows_what_part_a_rival_takes(quantity, overlay, seat):
    assert rivals_of_claims.seat_of(quantity, overlay) == seat
    found = rivals_of_claims.measured(quantity, overlay, "new", {"new"})
    assert found == ({seat: "new"} if seat else None)
    # What the study lacks, and what the quantity has already, is measured by nothing.
    assert rivals_of_claims.measured(quantity, overlay, "new", {"another"}) is None
    subject = quantity.get("learner") or quantity.get("below") or quantity["probe"]
    assert rivals_of_claims.measured(quantity, overlay, subject, {"own", "p"}) is None


def test_a_claim_meets_what_neither_its_quantity_nor_its_own_rival_stands_for():
    names = ("own", "first", "second", "", "second")
    rivals_there = [listed(f"the {i}th", learner) for i, learner in enumerate(names)]

    def met(called, quantity, overlay):
        return [one.rival for one in rivals_of_claims.added(rivals_there, called, quantity, overlay)]

    # A learner that stands twice is one rival.
    assert met("r", SCORE, {"learner": "first"}) == ["the 2th", "the 3th"]
    assert met("the 3th, at the same samples", SCORE, {"learner": "first"}) == ["the 2th"]
    assert met("r", RATIO | {"above": "second"}, {"below": "first"}) == ["the 3th"]
    assert met("r", SCORE, {"name": "lowest_score_mean", "predictors": ["first", "second"]}) == ["the 0th", "the 3th"]
    # Where the own rival is the same learner elsewhere, one of that learner is elsewhere too.
    assert met("r", SCORE, {"where": {"gap": 2}}) == ["the 0th", "the 1th", "the 2th", "the 3th"]


def test_a_row_meets_the_rivals_of_its_place_or_of_the_places_that_have_it():
    known = Known(
        (
            listed("a"),
            listed("b", role="compared"),
            listed("c", source="first"),
            listed("d", place="Theorem 2"),
        ),
        places={"C1": ["Theorem 2"], "C2": ["Theorem 1"]},
    )
    assert [one.rival for one in known.of_row("C1", "Theorem 1")] == ["a"]
    assert [one.rival for one in known.of_row("C1", "Section 5")] == ["d"]
    assert [one.rival for one in known.of_row("C2", "Section 5")] == ["a"]
    assert known.of_row("C3", "Section 5") == []


def test_the_job_that_judges_is_told_every_rival_and_what_measures_it():
    study = checking.load_study(ROOT / "config" / "studies" / "allenzhu2019-dimension.yaml", "standard")
    told = {one["rival"]: one for one in jobs.judge(study)["claims"]["R5-dimension"]["rivals"]}
    assert told["its own tangent kernel"]["quantity"]["learner"] == "ntk"
    assert told["two rounds of kernels"]["measured_by"] == "R5-dimension-rounds-slope"
    assert "quantity" not in told["a fully connected network of two layers"]
    # No rival is in a digest: a list that grows changes no question.
    bare = study.of_run(rivals=Known())
    assert registration.digests(bare) == registration.digests(study)
    assert "rivals" not in jobs.judge(bare)["claims"]["R5-dimension"]


def test_a_line_that_says_too_little_is_named(tmp_path):
    file = tmp_path / "rivals.csv"
    file.write_text(",".join(COLUMNS) + "\nchen2020,Theorem 1,a rival,,might fail,ours,,,why\n")
    found, (fault,) = rivals_of_claims.read(file)
    assert found == [] and str(fault).startswith(
        "config/rivals.csv: line 2: found 'chen2020,Theorem 1,a rival,,might fail"
    )
    assert StudyFolder(tmp_path, "mine").shown(file) == "mine/rivals.csv"
    assert [str(one).partition(":")[0] for one in StudyFolder(tmp_path, "mine").faults()] == ["mine/rivals.csv"]


def test_a_row_that_measures_a_rival_has_its_quantity():
    lines, faults = rivals_of_claims.read_measured(ROOT / "config" / "measured_rivals.csv")
    assert faults == []
    named = {(one["place"], one["rival"]) for one in table(FILE) if one["role"] == "must fail"}
    assert {(one.place, one.rival) for one in lines} <= named
