"""What the records know of every question stands in sight: on the stored page, in the README and in the headline."""

import csv
import json
import re
from types import SimpleNamespace

import pytest
from test_page import PAPERS, STUDY, row

from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.claims import asked, history
from hierlearn.pipeline.claims.page import findings, index
from hierlearn.pipeline.command import publication
from hierlearn.pipeline.command import records as answers

ROOT = PACKAGE.parents[1]
FILES = {
    asked.LATER: "row,was,digest,fields\nC1-later,C1,c,predicted rival.learner rival.above\nC1-later,C2,none,kind\n",
    asked.EXCEPTIONS: "row,field\nC9,predicted\nC9,slack\n",
    asked.AGAIN: "row,rank,now,result,value_2,rival_result,rival_value_2,not_measured,at_ends\n"
    "C1,primary,no test,passes,1,passes,2,a kernel,\nC2,primary,undecided,passes,1,undecided,,a kernel,\n"
    "C3,secondary,holds,passes,1,fails,1,,\n",
    asked.THEN: "row,added,outcome\nC1,,holds\nC2,,undecided\nC4,2026-11-27,holds\n",
    asked.HISTORY: "row,verdict_before\nC1,vacuous\nC1,consistent\nC3,\n",
    asked.CONTRACT: "row,change\nC2,check\nC1,rival\n",
}


def line(claim, preset, digest, verdict):
    return SimpleNamespace(claim=claim, preset=preset, digest=digest, verdict=verdict)


LINES = [
    line("C1", "quick", "a", "inconclusive"),
    line("C1", "standard", "b", "consistent"),
    line("C1", "standard", "b", "not seen"),
    line("C1", "standard", "c", "extends"),
    line("C2", "quick", "d", "not seen"),
]


@pytest.fixture
def records(tmp_path):
    folder = tmp_path / "records"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return asked.read(folder, LINES)


def test_a_question_has_its_first_outcome_its_outcome_now_and_what_differs_from_its_first_form(records):
    assert records.questions["C1"] == asked.Asked(("limit", "rival"), 3, "holds", "no test")
    assert records.questions["C2"] == asked.Asked((), 1, "fails", "undecided")
    assert records.questions["C3"] == asked.Asked((), 0, "", "holds")
    assert (
        str(records.questions["C1"])
        == "The run had a question that differs from the first in limit and rival; 3 designs judged it."
    )
    assert str(records.questions["C2"]) == "Its question is the first; 1 design judged it."


def test_what_a_question_is_asked_after_counts_among_its_designs(tmp_path):
    after = {"C1-better": "C1", "C1-best": "C1-better", "C2": "C2"}
    lines = [*LINES, line("C1-better", "standard", "e", "vacuous")]
    assert asked.designs(lines) == {"C1": 3, "C2": 1, "C1-better": 1}
    assert asked.designs(lines, after) == {"C1": 3, "C2": 1, "C1-better": 4, "C1-best": 4}


def test_the_records_know_what_a_question_is_asked_after(records):
    # Its own line is one of those of the first, whose designs count.
    assert records.questions["C1"].designs == 3
    assert asked.moved(ROOT / asked.FOLDER)["C5-growth-p3", "7dfdeaaaf1374cb4"] == "C5-growth-p3-later"


def test_the_headline_counts_primary_rows_by_what_holds_now_and_held_then(records):
    rows = [row(claim="C1", regime="beyond"), row(claim="C2"), row(claim="C3", rank="secondary")]
    assert records.headline([vars(one) for one in rows]) == [
        "Of 2 primary rows, each judged again by its first question from the stored draws, 1 is no test, 1 is "
        "undecided. Of the undecided ones 1 lack a second draw of that question or of its rival, 1 a rival of their "
        "place that is not measured yet, and 0 rest on a rate at the end of its list; some lack several.",
        "By scope: outside, 1 is no test; identities, 1 is undecided.",
        "By the first design of every question, then: of 2 primary rows 1 held, 1 was undecided; 1 rows that were "
        "listed later are apart.",
        "The questions of 1 rows were changed after a result of theirs was stored. Today every row asks its first one "
        "again, but for 1 that `docs/records` lists; 1 that came in their place have rows of their own, which are "
        "secondary.",
    ]


def test_rows_whose_limit_was_seen_are_counted_apart(tmp_path, records):
    folder = tmp_path / asked.LEDGER / "one"
    folder.mkdir(parents=True)
    (folder / "claims.json").write_text(json.dumps({"study": {"seen": ["C3", "C5"]}, "now": {"C2": "holds"}}))
    rows = [row(claim=claim, rank="secondary") for claim in ("C3", "C5")] + [row(claim="C2")]
    more = asked.read(tmp_path / "records", LINES)
    *_, told = more.headline([vars(one) for one in rows])
    assert told == (
        "Apart stand 2 rows with a limit that a pilot or an earlier result suggested: 1 holds, 1 not judged again."
    )
    (folder / "claims.json").write_text(json.dumps({"study": {"seen": ["C2"]}}))
    frozen = asked.read(tmp_path / "records", LINES)
    first, *_, told = frozen.headline([vars(one) for one in rows])
    assert first.startswith("Of 1 primary rows") and frozen.tallied(["C1", "C2"]) == [("void", "no test", 1)]
    assert frozen.in_short() == "Of 1 main claims 1 is no test; 1 whose limit was seen stand apart."
    assert told.startswith("Apart stand 1 row, 1 of frozen primary rank, with a limit")
    # What is judged from stored draws stands in the place of what their intervals gave.
    assert more.questions["C2"].now == "holds" and more.now["holds"] == 1 and more.lacking_a_draw == 0
    table = dict(index.by_kind_and_scope(rows, more.questions, {"C3", "C5"}))
    assert sum(n for cells in table["limit seen"].values() for *_, n in cells) == 2
    text = index.page(rows, {one.claim: {} for one in rows}, {"one": STUDY | {"seen": ["C3"]}}, "standard", {}, PAPERS)
    assert text.count('data-kind="limit seen"') == 1 and "<dt>limit seen</dt>" in text


def test_a_draw_at_quick_counts_among_the_designs_and_never_in_the_headline(tmp_path, records):
    rows = [vars(row(claim="C1", regime="beyond")), vars(row(claim="C2"))]
    more = asked.read(
        tmp_path / "records", [*LINES, line("C1", "quick", "z", "not seen"), line("C2", "quick", "z", "extends")]
    )
    assert more.headline(rows) == records.headline(rows)
    assert more.questions["C1"].designs == records.questions["C1"].designs + 1


def test_a_row_of_the_page_shows_then_now_and_later_without_a_click(records):
    rows = [row(claim="C1", verdict="extends"), row(claim="C1-more", rank="secondary", verdict="extends")]
    text = index.page(rows, {one.claim: {} for one in rows}, {"one": STUDY}, "standard", {}, PAPERS, records=records)
    told = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", re.sub("(?s)<details.*?</details>", "", text)))
    shown = "first question, then: ✓ holds now: ○ no test asked later: ✓ passes The run had a question that differs"
    # Among the rows of its paper and in its study.
    assert told.count(shown) == 2 and text.count("○</span> no test</span>") == 2
    # One draw makes no outcome.
    assert text.count("?</span> undecided</span>") == 1
    assert "✓</span> passes</span>" not in text and "surviv" not in text


def test_the_readme_has_the_outcomes_by_scope_and_marks_a_sentence_on_what_is_not_decided(records):
    said = {"papers": {"chen2020": {"study": "one", "shows": "It", "sentences": ["It is {C1}.", "It is {C2}."]}}}
    rows = [row(claim="C1", verdict="extends", regime="beyond"), row(claim="C2")]
    text = findings.sections(said, rows, PAPERS, records)
    assert text.startswith("Of 2 main claims 1 is no test, 1 is undecided.")
    assert "It is 0.51. *(no test)* It is 0.51. *(undecided)*" in text
    assert "*Main claims: outside, 1 is no test; identities, 1 is undecided.*" in text


def test_a_folder_without_records_has_none(tmp_path):
    assert asked.read(tmp_path / "none", LINES) is None


def set_as_code(sentence):
    """A sentence as the page has it: names between backticks are code there."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", sentence)


def test_the_records_of_the_project_give_the_headline_of_its_readme_and_of_its_page():
    records = asked.read(ROOT / asked.FOLDER, history.read(ROOT / history.FILE)[0])
    assert records.then == {"holds": 59, "fails": 5, "no test": 1, "undecided": 7}
    with open(ROOT / asked.FOLDER / asked.AGAIN, newline="", encoding="utf-8") as stream:
        again = {one["row"]: one for one in csv.DictReader(stream)}
    for claim, one in again.items():
        assert records.questions[claim].designs == int(one["designs"]), claim
        assert records.questions[claim].fields == () or one["changed"], claim
    readme, page = ((ROOT / name).read_text() for name in (publication.README, "docs/ledger/index.html"))
    files = sorted((ROOT / publication.FOLDER).glob("*/claims.json"))
    told = [one for file in files for one in json.loads(file.read_text())["rows"]]
    for sentence in records.headline(told):
        assert f">{set_as_code(sentence)}</p>" in page
    assert f"\n{records.in_short()}\n" in readme
    assert not re.search("surviv", readme + page, re.IGNORECASE)
    # Every row whose question is known says so in sight.
    asked_rows = [one for one in told if one["claim"] in records.questions]
    assert page.count('<p class="asked">') == len(asked_rows) + sum(
        one["claim"] in again for one in told if one["rank"] == "primary"
    )


def test_the_terminal_says_the_headline_of_the_page_and_nothing_where_no_ledger_is_stored(tmp_path):
    told = answers.stored_headline(SimpleNamespace(config=ROOT / "config"))
    page = (ROOT / publication.FOLDER / "index.html").read_text()
    assert len(told) > 4 and all(f">{set_as_code(sentence)}</p>" in page for sentence in told[2:])
    assert answers.stored_headline(SimpleNamespace(config=tmp_path / "config")) == []
