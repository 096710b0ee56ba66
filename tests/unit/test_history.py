"""Verdicts that are kept: a revised claim shows what was found at earlier revisions."""

from dataclasses import astuple, replace

import pytest
import yaml
from small_study import STUDY, study_of

from hierlearn.pipeline.claims import history
from hierlearn.pipeline.claims.history import Verdict
from hierlearn.pipeline.files import append_only_csv

LINE = Verdict("C1-kernel", "small", "quick", "1", "small/quick/1", "abc", "not seen", "1.49999", "1.29999", "1.70001")


@pytest.fixture
def study():
    content = yaml.safe_load(STUDY) | {"revisions": {"quick": 3}}
    return study_of(content, "small", "small.yaml", "quick")


def test_earlier_verdicts_stand_in_the_order_of_revisions(study):
    second = replace(LINE, revision="2", draw="small/quick/2", verdict="inconclusive", low="", high="")
    assert history.earlier(study, [second, LINE]) == {
        "C1-kernel": "revision 1: fails, 1.5 [1.3, 1.7]; revision 2: undecided, 1.5"
    }


def test_the_present_revision_other_presets_and_other_studies_are_not_earlier(study):
    lines = [replace(LINE, revision="3"), replace(LINE, preset="full"), replace(LINE, study="other")]
    assert history.earlier(study, lines) == {}


def test_the_first_line_of_a_draw_stands_and_replicates_stand_beside_it(study):
    again, replicate = replace(LINE, verdict="consistent"), replace(LINE, draw="small/quick/1/replicate-1")
    (text,) = history.earlier(study, [LINE, again, replicate]).values()
    assert text.startswith("revision 1: fails")
    assert "revision 1, replicate-1: fails" in text
    assert text.count("revision 1") == 2


def test_a_line_of_a_later_question_is_history_of_the_row_that_asks_it_today(study):
    lines = [LINE, replace(LINE, revision="2", draw="small/quick/2", digest="def", verdict="consistent")]
    found = history.earlier(study, lines, {("C1-kernel", "def"): "C1-kernel-later"})
    assert {claim: text.partition(",")[0] for claim, text in found.items()} == {
        "C1-kernel": "revision 1: fails",
        "C1-kernel-later": "revision 2: passes",
    }


def test_what_is_known_beside_the_first_columns_makes_no_new_line():
    assert history.new([vars(replace(LINE, commit="abc", limit="1"))], [LINE]) == []


def test_a_file_from_before_the_later_columns_is_read_and_gets_their_header(tmp_path):
    file = tmp_path / "verdicts.csv"
    first = history.COLUMNS[: history.FIRST]
    file.write_text(",".join(first) + "\n" + ",".join(LINE.first_columns) + "\n")
    assert history.read(file) == ([LINE], [])
    later = replace(LINE, claim="C2", limit="0.5 1.5", seeds="5")
    append_only_csv.append(file, history.COLUMNS, [astuple(later)])
    assert file.read_text().splitlines()[1] == ",".join(LINE.first_columns)
    assert history.read(file) == ([LINE, later], [])


@pytest.mark.parametrize("field", ["level", "freedom", "slack", "seeds"])
def test_a_later_column_holds_a_number_or_nothing(tmp_path, field):
    file = tmp_path / "verdicts.csv"
    append_only_csv.append(file, history.COLUMNS, [astuple(replace(LINE, **{field: "many"}))])
    lines, (fault,) = history.read(file)
    assert lines == [] and "line 2" in str(fault)


def test_only_verdicts_of_registered_designs_are_new(tmp_path):
    rows = [
        vars(LINE),
        vars(replace(LINE, digest="")),
        vars(replace(LINE, verdict="")),
        vars(replace(LINE, claim="C2")),
    ]
    assert history.new(rows, [LINE]) == [replace(LINE, claim="C2")]


def test_lines_are_added_below_those_that_are_there(tmp_path):
    file = tmp_path / "verdicts.csv"
    assert history.read(file) == ([], [])
    append_only_csv.append(file, history.COLUMNS, [astuple(LINE)])
    before = file.read_text()
    append_only_csv.append(file, history.COLUMNS, [astuple(replace(LINE, claim="C2", low="", high=""))])
    assert file.read_text().startswith(before)
    assert history.read(file) == ([LINE, replace(LINE, claim="C2", low="", high="")], [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: found ''"),
        ("claim\n", "line 1: found 'claim'"),
        ("HEADER\nC1,small\n", "line 2: found 'C1,small'"),
        ("HEADER\nC1,small,quick,one,d,abc,ends,1,,\n", "line 2"),
        ("HEADER\nC1,small,quick,1,d,abc,,1,,\n", "line 2"),
        ("HEADER\nC1,small,quick,1,d,abc,ends,x1,,\n", "line 2"),
        ('HEADER\n"', "a file that cannot be read"),
    ],
)
def test_a_line_that_is_none_is_named(tmp_path, text, message):
    file = tmp_path / "verdicts.csv"
    file.write_text(text.replace("HEADER", ",".join(history.COLUMNS)))
    lines, (fault,) = history.read(file)
    assert lines == []
    assert message in str(fault)


def test_further_draws_of_a_design_are_counted_and_primary_rows_that_moved_are_named():
    first = replace(LINE, verdict="consistent")
    lines = [
        first,
        replace(first, draw="small/quick/1/replicate-1", verdict="inconclusive"),
        # What was recorded again of one draw changes nothing.
        replace(first, draw="small/quick/2"),
        replace(first, draw="small/quick/2", verdict="not seen"),
        # Another design, and another preset.
        replace(first, digest="abd", draw="small/quick/3"),
        replace(first, digest="abd", draw="small/quick/3/replicate-1", verdict="not seen"),
        replace(first, preset="full", draw="small/full/1/replicate-1", verdict="not seen"),
    ]
    assert history.further_draws(lines, {"C1-kernel": "abc", "C2": "abe"}, ["quick"]) == (
        "Further draws of one registered design, at `quick`: 3, of which 2 had another result than the first and 1 "
        "the opposite one. Primary rows of which draws of one design differ: "
        "`C1-kernel` (passes on 2 of 3, undecided on 1 of 3; "
        "an earlier design: passes on 1 of 2, fails on 1 of 2). "
        "Primary rows whose present design was drawn once: `C2` (a change of words makes another design)."
    )
    assert history.moved(lines, "quick") == (3, 2, 1)
    assert history.turned(lines, ["quick", "full"]) == ["C1-kernel"]
    assert history.further_draws(lines[:1], {"C1-kernel": "abc"}, ["quick"]) == ""
    same = [first, replace(first, draw="small/quick/2")]
    assert history.further_draws(same, {"C1-kernel": "abc"}, ["quick"]).endswith(
        "differ: none. "
        "Every primary row was drawn at least twice at its present design (a change of words makes another design)."
    )
