"""Published numbers: read, checked like studies, and compared with ours."""

import json

import numpy as np
import pytest
import xarray
import yaml

from hierlearn.core.protocols import STATUS
from hierlearn.core.registry import build
from hierlearn.pipeline.claims.rules import outcome
from hierlearn.pipeline.files import published
from hierlearn.pipeline.files.papers import tables
from hierlearn.pipeline.files.schema_errors import SCHEMAS

FOLDER = SCHEMAS.parents[3] / "config" / "published"
FILE = """
paper: bai2020
source: Someone
tables:
  figure-7:
    title: Error
    place: Figure 7
    obtained: read
    units: "1"
    coordinates: {learner: who, width: hidden neurons}
    rows:
      - {learner: net, width: 100, value: 0.5}
      - {learner: net, width: 200, low: 0.1, high: 0.2}
      - {learner: net, width: 500, value: 0.25, inferred: [width]}
      - {learner: kernel, value: 2.0}
"""


@pytest.fixture
def content():
    return yaml.safe_load(FILE)


@pytest.fixture
def check(tmp_path):
    def checked(content, name="bai2020"):
        file = tmp_path / f"{name}.yaml"
        file.write_text(content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False))
        return tables(file, f"config/published/{name}.yaml")

    return checked


def test_a_sound_file_gives_its_tables_and_a_missing_one_none(content, check, tmp_path):
    found, faults = check(content)
    assert faults == [] and list(found) == ["figure-7"]
    assert found["figure-7"]["rows"][0] == {"learner": "net", "width": 100, "value": 0.5}
    assert tables(tmp_path / "chen2020.yaml", "chen2020.yaml") == ({}, [])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.pop("source"), "source: found nothing; expected this required key"),
        (lambda c: c.update(paper="bai2021"), "paper: found 'bai2021'; expected one of"),
        (lambda c: c.update(paper="chen2020"), "paper: found 'chen2020'; expected bai2020"),
        (lambda c: c["tables"].update(Figure={}), "tables: found the name 'Figure'"),
        (lambda c: c.update(tables=3), "tables: found 3; expected object"),
        (lambda c: table(c).update(obtained="guessed"), "tables.figure-7.obtained: found 'guessed'; expected one of"),
        (lambda c: table(c).update(plaice="x"), "tables.figure-7.plaice: found an unknown key; expected one of"),
        (lambda c: table(c).update(rows=[]), "tables.figure-7.rows: found []; expected at least 1 entry"),
        (lambda c: row(c).update(widht=3), "rows[0].widht: found an unknown coordinate; expected one of"),
        (lambda c: row(c).update(widht=3), "(nearest: width)"),
        (lambda c: row(c).update(value="0.5"), "rows[0].value: found '0.5'; expected number"),
        (lambda c: row(c).update(low=0.1), "rows[0]: found {"),
        (lambda c: row(c).pop("value"), "expected coordinates with either a value, or the two ends low and high"),
        (lambda c: row(c, 1).update(low=0.3), "rows[1]: found low 0.3 above high 0.2; expected low <= high"),
        (lambda c: row(c, 2).update(inferred=["wdth"]), "rows[2].inferred[0]: found 'wdth'; expected one of"),
        (lambda c: row(c, 2).update(width=100), "rows[2]: found the coordinates of rows[0] again; expected every"),
    ],
)
def test_a_fault_is_named_with_its_place_and_what_is_allowed(content, check, change, message):
    change(content)
    found, faults = check(content)
    lines = [str(fault) for fault in faults]
    assert found is None
    assert any(message in line for line in lines), lines
    assert all(line.startswith("config/published/bai2020.yaml: ") and "\n" not in line for line in lines)


def table(content):
    return content["tables"]["figure-7"]


def row(content, number=0):
    return table(content)["rows"][number]


def test_unusable_text_is_one_fault(check):
    found, (fault,) = check("tables: [")
    assert found is None and "expected valid YAML" in str(fault)


def test_faults_of_all_tables_are_listed_together(content, check):
    content["tables"]["other"] = json.loads(json.dumps(table(content)))
    for one in content["tables"].values():
        one["obtained"] = "guessed"
    _, faults = check(content)
    assert {fault.field for fault in faults} == {"tables.figure-7.obtained", "tables.other.obtained"}


def test_a_row_for_all_values_is_not_one_of_a_named_value(content):
    assert len(published.rows(table(content), {"learner": "kernel"})) == 1
    assert published.rows(table(content), {"learner": "kernel", "width": 100}) == []


@pytest.mark.parametrize("where", [{"learner": "net"}, {"learner": "net", "width": 200}, {"width": 300}])
def test_a_place_of_no_row_of_several_or_of_a_range_has_no_number(content, where):
    with pytest.raises(ValueError, match=r"Figure 7: .*expected one with a value"):
        published.number(table(content), where)


WIDTHS, SEEDS = [100, 500], list(range(5))
SPREAD = np.array([0.8, 0.9, 1.0, 1.2, 1.5])
TYPICAL = np.exp(np.mean(np.log(SPREAD)))


def cube(risk=1.0):
    axes = ("learner", "width", "samples", "seed")
    values = risk * np.array([1.0, 2.0])[None, :, None, None] * SPREAD
    return xarray.Dataset(
        {"test_risk": (axes, values), "status": (axes, np.zeros(values.shape, np.int8))},
        {"learner": ["resnet"], "width": WIDTHS, "samples": [1000], "seed": SEEDS},
    )


def measured(content, scores, **changes):
    given = {"published": table(content), "learner": "resnet", "samples": 1000, "published_where": {"learner": "net"}}
    quantity = build("quantities", {"name": "published_ratio", "where": {"width": 500}} | given | changes)
    return quantity.measure(scores, {})


def test_the_ratio_is_to_the_number_at_the_same_coordinates(content):
    found = measured(content, cube(0.1))
    assert found.value == pytest.approx(0.2 / 0.25 * TYPICAL)
    assert found.detail["published"] == 0.25
    assert found.detail["place"] == "Figure 7"
    assert found.detail["risks"] == pytest.approx(0.2 * SPREAD)
    elsewhere = measured(content, cube(0.1), published_where={"learner": "net", "width": 100})
    assert elsewhere.value == pytest.approx(0.2 / 0.5 * TYPICAL)


def test_a_printed_number_is_compared_with_one_further_run(content):
    from scipy import stats

    found = measured(content, cube(0.1))
    logs = np.log(0.8 * SPREAD)
    wanted = stats.t.interval(0.95, len(logs) - 1, logs.mean(), logs.std(ddof=1) * np.sqrt(1 + 1 / len(logs)))
    assert (found.low, found.high) == pytest.approx(tuple(np.exp(wanted)))
    assert outcome("published", found.value, found.low, found.high, 1.0)[0] == "undecided"


def test_more_seeds_do_not_shrink_the_interval_below_the_scatter_of_runs(content):
    spread = np.exp(np.random.default_rng(0).normal(0, 0.3, 200))
    axes = ("learner", "width", "samples", "seed")
    many = xarray.Dataset(
        {"test_risk": (axes, spread[None, None, None]), "status": (axes, np.zeros((1, 1, 1, 200), np.int8))},
        {"learner": ["resnet"], "width": [500], "samples": [1000], "seed": range(200)},
    )
    found = measured(content, many)
    assert np.log(found.high / found.low) == pytest.approx(2 * 1.96 * np.log(spread).std(), rel=0.02)


def test_the_interval_of_the_best_is_that_of_resampled_minima(content):
    found = measured(content, cube(0.1), statistic="best")
    generator = np.random.default_rng(0)
    minima = (0.8 * SPREAD)[generator.integers(0, 5, (100_000, 5))].min(axis=1)
    low, high = np.quantile(minima, (0.025, 0.975), method="inverted_cdf")
    assert (found.value, found.low, found.high) == pytest.approx((0.8 * 0.8, low, high))


def test_a_single_seed_has_no_interval(content):
    for statistic in ("run", "best"):
        found = measured(content, cube(0.1).isel(seed=[2]), statistic=statistic)
        assert found.value == pytest.approx(0.8)
        assert np.isnan([found.low, found.high]).all() and "fewer than 2" in found.reason


def test_a_failed_training_or_a_risk_that_is_missing_leaves_no_interval(content):
    failed = cube(0.1)
    failed.status.loc[{"seed": 2}] = STATUS["diverged"]
    found = measured(content, failed)
    assert np.isnan([found.low, found.high]).all() and "resnet: training failed" in found.reason
    missing = cube(0.1)
    missing.test_risk.loc[{"seed": 2}] = np.nan
    found = measured(content, missing, statistic="best")
    assert np.isnan(found.value) and found.reason == "1 of 5 seeds without a positive risk"


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.yaml")), ids=lambda file: file.stem)
def test_the_published_numbers_of_this_project_are_sound(file):
    found, faults = tables(file, file.name)
    assert faults == []
    for key, one in found.items():
        assert all("value" in row or row["low"] < row["high"] for row in one["rows"]), key
        assert all(row.get("value", row.get("low")) >= 0 for row in one["rows"]), key


def test_the_widths_of_the_ten_numbers_of_3resnet_are_three_per_decade():
    found, _ = tables(FOLDER / "allenzhu2019.yaml", "")
    rows = published.rows(found["figure-2a"], {"learner": "3resnet"})
    assert [row["width"] for row in rows] == [10**k * f for k in (2, 3, 4) for f in (1, 2, 5)] + [100_000]
    assert [row["width"] for row in rows if "inferred" not in row] == [100, 200, 20_000, 100_000]
    assert min(rows, key=lambda row: row["value"])["width"] == 20_000
