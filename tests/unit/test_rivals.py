"""The list of rivals says for every place of a paper what must fail there, or why the paper names nothing."""

import csv
import io
import subprocess

import pytest
import shipped
import yaml

from hierlearn.core.registry import PACKAGE

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
    places = {(row["source"], row["place"]) for row in table("docs/coverage.csv") if row["source"] in papers}
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
