"""Rows of the ledger, in memory, in JSON and as text."""

import csv
import io
import json
import math
from dataclasses import astuple, replace

import numpy as np
import pytest

from hierlearn.pipeline.claims.ledger import COLUMNS, Row, csv_text, faults, from_json, to_json

ROW = Row(
    claim="C1-p4",
    paper="chen2020",
    place="Theorem 2",
    kind="rate",
    rank="primary",
    regime="limit",
    statement='learns degree 4 with "P_2" samples, up to logs',
    rule="upper",
    side="",
    value=1.0812345678,
    low=0.95,
    high=1.15,
    predicted=1.0,
    slack=0.2,
    rival="Quad-Raw on the same scale",
    control_value=1.4,
    control_low=1.3,
    control_high=1.5,
    control_verdict="fails",
    verdict="consistent",
    sizes="d = 10–28",
    reason="",
    skipped="",
    outside="",
    remark="",
    before="",
    preset="quick",
    draw="study/quick/1",
    revision="1",
    digest="0123456789abcdef",
    seeds=5,
    flops=1.25e12,
    study="chen2020_sample_complexity",
    figure="chen2020_sample_complexity/figure.svg",
    data="chen2020_sample_complexity/scores.nc",
)


def test_the_columns_are_those_that_readers_rely_on():
    names = "claim, paper, place, kind, rank, regime, statement, rule, side, value, low, high, predicted, slack, rival"
    names += ", control_value, control_low, control_high, control_verdict, verdict, sizes, reason, skipped, outside"
    names += ", remark, before, preset, draw"
    assert ", ".join(COLUMNS) == names + ", revision, digest, seeds, flops, study, figure, data"


def test_a_row_survives_strict_json():
    text = json.dumps(to_json(ROW), allow_nan=False)
    assert from_json(json.loads(text)) == ROW


def test_a_missing_number_is_null_in_json_and_comes_back_as_nan():
    row = replace(ROW, value=np.float64("nan"), low=math.nan, high=math.nan, verdict="inconclusive", reason="no size")
    content = to_json(row)
    assert content["low"] is None
    back = from_json(json.loads(json.dumps(content, allow_nan=False)))
    assert math.isnan(back.value)
    assert back.reason == "no size"


def test_numpy_numbers_become_plain_ones():
    content = to_json(replace(ROW, seeds=np.int64(5), value=np.float32(1.0)))
    assert type(content["seeds"]) is int
    assert type(content["value"]) is float


def test_the_text_reads_back_as_one_record_per_row_under_the_columns():
    records = list(csv.DictReader(io.StringIO(csv_text([ROW, replace(ROW, claim="C1-p6")]))))
    assert [record["claim"] for record in records] == ["C1-p4", "C1-p6"]
    assert tuple(records[0]) == COLUMNS
    assert records[0]["statement"] == ROW.statement


def test_the_text_has_six_significant_digits_and_plain_line_ends_and_empty_fields_for_nan():
    text = csv_text([replace(ROW, predicted=math.nan, kind="description", regime="", rule="descriptive", verdict="")])
    assert text.endswith("\n")
    assert "\r" not in text
    assert ",1.08123,0.95,1.15,,0.2," in text
    assert ",5,1.25e+12," in text


def test_an_empty_ledger_is_a_header():
    assert csv_text([]) == ",".join(COLUMNS) + "\n"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"verdict": "maybe"}, "verdict 'maybe'"),
        ({"verdict": ""}, "verdict ''"),
        ({"rule": "descriptive"}, "a description alone is descriptive"),
        ({"kind": "description", "regime": "", "rule": "descriptive"}, "of a description, which has none"),
        ({"kind": "hunch"}, "kind 'hunch'"),
        ({"rank": "first"}, "rank 'first'"),
        ({"regime": ""}, "regime ''"),
        ({"kind": "open"}, "regime 'limit' of the kind 'open'"),
        ({"control_verdict": "maybe"}, "control_verdict 'maybe'"),
        ({"control_verdict": ""}, "judged without a control"),
        ({"rival": " "}, "rival is empty"),
        ({"value": 1.2}, "value 1.2 lies outside its interval [0.95, 1.15]"),
        ({"value": 0.9}, "value 0.9 lies outside its interval [0.95, 1.15]"),
        ({"control_value": 2.0}, "control_value 2.0 lies outside its interval"),
        ({"rule": "atmost"}, "rule 'atmost'"),
        ({"rule": "ordering"}, "side '' under the rule 'ordering'; expected 'above' or 'below'"),
        ({"side": "below"}, "side 'below' under the rule 'upper'; expected ''"),
        ({"verdict": "inconclusive"}, "without a reason"),
        ({"low": 2.0}, "upside down"),
        ({"high": math.inf}, "high is infinite"),
        ({"seeds": -1}, "seeds -1"),
        ({"seeds": 5.0}, "seeds is 5.0"),
        ({"value": "1.0"}, "value is '1.0'"),
        ({"value": None}, "value is None"),
        ({"paper": " "}, "paper is empty"),
        ({"statement": "two\nlines"}, "line break"),
    ],
)
def test_a_faulty_row_is_named_with_its_fault_and_refused(change, complaint):
    row = replace(ROW, **change)
    assert [fault for fault in faults([row]) if complaint in fault and "'C1-p4'" in fault]
    for write in (lambda: csv_text([row]), lambda: to_json(row)):
        with pytest.raises(ValueError, match=r"claim 'C1-p4'"):
            write()


def test_a_sound_row_has_no_fault():
    assert faults([ROW, replace(ROW, preset="full")]) == []


def test_a_check_needs_no_control_and_a_missing_one_no_rival():
    nothing = {"rival": "", "control_value": math.nan, "control_low": math.nan, "control_high": math.nan}
    assert faults([replace(ROW, kind="check", regime="", control_verdict="", verdict="supported", **nothing)]) == []
    lacking = replace(ROW, control_verdict="missing", verdict="inconclusive", reason="no control yet", **nothing)
    assert faults([lacking]) == []


def test_a_positive_quantity_has_an_interval_of_positive_numbers():
    row = replace(ROW, low=-0.1)
    assert faults([row]) == []
    assert faults([row], {"C1-p4"}) == ["claim 'C1-p4': low -0.1 of a quantity that is positive"]
    with pytest.raises(ValueError, match="that is positive"):
        to_json(row, positive=True)


def test_a_claim_stands_once_in_a_preset():
    assert faults([ROW, ROW]) == ["claim 'C1-p4': stands twice in preset 'quick'"]


def test_all_faults_are_found_at_once():
    assert len(faults([replace(ROW, verdict="maybe", low=9.0, study="")])) == 3


def test_json_with_a_column_too_many_or_too_few_is_refused():
    content = to_json(ROW)
    with pytest.raises(ValueError, match="unknown \\['colour'\\]"):
        from_json({**content, "colour": "red"})
    content.pop("place")
    with pytest.raises(ValueError, match="missing \\['place'\\]"):
        from_json(content)


def test_equal_rows_give_equal_bytes():
    assert csv_text([ROW]) == csv_text([Row(*astuple(ROW))])
