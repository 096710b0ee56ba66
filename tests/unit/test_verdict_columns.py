"""The later columns of verdicts.csv: every earlier line stands as it was, and what is filled gives the same results."""

import csv
import hashlib
import io

import pytest

from hierlearn.core import registry
from hierlearn.pipeline.claims import history
from hierlearn.pipeline.claims.rules import FAILS, PASSES, RULES, UNDECIDED

CONFIG = registry.PACKAGE.parents[1] / "config"
RECORDS = CONFIG.parent / "docs" / "records"
# The file as it was when it had ten columns.
LINES, DIGEST = 4725, "addc51afb871df34a3503f243a2084b4b3852a0c5270248453ce4aaf08bb30a7"
# Numbers of a line and of its rivals stand for the same draw, whose first stored rival stands.
JUDGED_ANEW = {"C8-level"}
PLACE = ("claim", "preset", "draw", "digest")


@pytest.fixture(scope="module")
def lines():
    with open(CONFIG / history.NAME, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def rivals():
    with open(CONFIG / history.RIVALS, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_every_earlier_line_is_there_and_its_first_columns_are_as_they_were():
    rows = list(csv.reader(io.StringIO((CONFIG / history.NAME).read_text(encoding="utf-8"))))
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(row[: history.FIRST] for row in rows[:LINES])
    assert hashlib.sha256(text.getvalue().encode()).hexdigest() == DIGEST


def test_the_tables_are_read_without_faults():
    for read, name in ((history.read, history.NAME), (history.read_rivals, history.RIVALS)):
        found, faults = read(CONFIG / name)
        assert faults == [] and len(found) > 1000


def test_the_history_tells_what_nearly_every_line_was_asked(lines):
    with open(RECORDS / "not_rebuilt.csv", newline="", encoding="utf-8") as stream:
        not_rebuilt = {(line["claim"], line["digest"]) for line in csv.DictReader(stream)}
    assert {(line["claim"], line["digest"]) for line in lines if not line["question"]} <= not_rebuilt
    for line in lines:
        assert line["commit"] and line["result"], line
        assert bool(line["question"]) == bool(line["design"]) == bool(line["rule"]), line
        assert line["rule"] in ("", *RULES), line


def test_the_filled_numbers_give_the_results_that_were_stored(lines, rivals):
    of_rivals = {tuple(rival[name] for name in PLACE): rival for rival in rivals if not rival["measured_by"]}
    both = [(line, of_rivals.get(tuple(line[name] for name in PLACE))) for line in lines if line["rule"]]
    both = [(line, rival) for line, rival in both if rival and line["claim"] not in JUDGED_ANEW]
    assert len(both) > 2500
    for line, rival in both:
        own = by_its_limit(line, line)
        assert rival["result"] == by_its_limit(line, rival), rival
        if own == PASSES and rival["result"] != FAILS:
            own = "no test" if rival["result"] == PASSES else UNDECIDED
        assert line["result"] == own, line


def by_its_limit(line, measured):
    """What a rule makes of an interval, from the columns alone."""
    if not measured["low"]:
        return UNDECIDED
    value, low, high = (float(measured[name]) for name in ("value", "low", "high"))
    limits = [float(limit) for limit in line["limit"].split()]
    if line["rule"] == "bound":
        return PASSES if value <= limits[0] else FAILS
    if len(limits) == 2:
        inside, outside = limits[0] <= low and high <= limits[1], high < limits[0] or low > limits[1]
    elif line["rule"] == "upper" or line["side"] == "below":
        inside, outside = high <= limits[0], low > limits[0]
    else:
        inside, outside = low >= limits[0], high < limits[0]
    return PASSES if inside else FAILS if outside else UNDECIDED


def test_a_rival_stands_beside_a_line_of_its_draw(lines, rivals):
    drawn = {tuple(line[name] for name in PLACE) for line in lines}
    assert {tuple(rival[name] for name in PLACE) for rival in rivals} <= drawn
