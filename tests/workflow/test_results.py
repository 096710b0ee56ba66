"""What a finished run leaves behind: files that open with one call, under the promised names."""

import csv
import hashlib
import json
import os
import re
import shutil
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
import xarray
import yaml
from conftest import snakemake

from hierlearn.core.protocols import STATUS
from hierlearn.pipeline.files import netcdf

COLUMNS = [
    "claim",
    "paper",
    "place",
    "kind",
    "rank",
    "regime",
    "statement",
    "rule",
    "side",
    "value",
    "low",
    "high",
    "predicted",
    "slack",
    "rival",
    "control_value",
    "control_low",
    "control_high",
    "control_verdict",
    "verdict",
    "sizes",
    "reason",
    "skipped",
    "outside",
    "remark",
    "before",
    "preset",
    "draw",
    "revision",
    "digest",
    "seeds",
    "flops",
    "study",
    "figure",
    "data",
]


@pytest.fixture(scope="module")
def scores(results):
    return xarray.load_dataset(results / "tiny" / "scores.nc")


@pytest.fixture(scope="module")
def traces(results):
    return xarray.load_dataset(results / "tiny" / "traces.nc")


@pytest.fixture(scope="module")
def claims(results):
    with open(results / "claims.csv", newline="") as file:
        return {row["claim"]: row for row in csv.DictReader(file)}


def test_every_promised_file_is_there(results):
    for name in ("claims.nc", "claims.csv", "index.html"):
        assert (results / name).stat().st_size
    for name in ("scores.nc", "traces.nc", "theory.probe.nc", "claims.json", "figure.svg", "figure.pdf", "figure.png"):
        assert (results / "tiny" / name).stat().st_size


def test_no_scratch_file_stays_behind(results):
    assert {file.suffix for file in results.rglob(".*")} == {".checksum"}


def test_every_job_has_a_log_that_ends_with_what_it_has_cost(finished, results):
    logs = list((results / "logs").rglob("*.log"))
    assert len(logs) == len(list((finished / "notes").glob("*.json")))
    for log in logs:
        assert re.search(r" [\d.]+ s of CPU, \d+ MB at the peak\n$", log.read_text()), log


def test_scores_have_the_promised_names(scores):
    assert set(scores.coords) == {"learner", "dimension", "degree", "width", "samples", "seed"}
    promised = {"test_risk", "train_risk", "target_norm", "status", "stationary", "selected_ridge", "flops"}
    assert promised <= set(scores.data_vars)
    assert all(scores[name].dims == tuple(scores.sizes) for name in scores.data_vars)
    assert scores.learner.values.tolist() == ["kernel", "features", "linear", "failing"]
    assert scores.seed.values.tolist() == [0, 1, 2]


def test_every_fit_says_how_much_one_direction_of_what_it_sees_stands_out(scores):
    """M_{h,op} of points on the sphere is 1/sqrt(d) but for their number; the raw input has it too."""
    trained = np.isfinite(scores.test_risk.values)
    assert np.isfinite(scores.representation_operator_norm.values[trained]).all()
    raw = scores.sel(learner="kernel").representation_operator_norm
    for dimension in raw.dimension.values:
        values = raw.sel(dimension=dimension).values
        values = values[np.isfinite(values)]
        assert len(values)
        assert np.all(np.abs(values * dimension**0.5 - 1) < 0.35)


def test_flags_say_what_their_values_mean(scores):
    for name, last in (("status", "singular"), ("stationary", "not_checked")):
        assert scores[name].dtype == np.int8
        meanings = scores[name].attrs["flag_meanings"].split()
        assert len(meanings) == len(scores[name].attrs["flag_values"])
        assert meanings[-1] == last


def test_every_variable_and_coordinate_is_described(scores, traces):
    for cube in (scores, traces):
        for name in cube.variables:
            assert cube[name].attrs["long_name"], name
            assert name == "learner" or cube[name].attrs["units"], name


def test_every_variable_of_every_file_has_a_long_name_and_every_number_units(results):
    for file in results.rglob("*.nc"):
        for name, group in netcdf.read(file).items():
            for key, variable in group.items():
                assert variable.attributes.get("long_name"), (file.name, name, key)
                assert variable.values.dtype.kind == "U" or variable.attributes.get("units"), (file.name, name, key)


def test_trajectories_are_those_of_the_learners_that_record_them(scores, traces):
    assert set(traces.coords) == set(scores.coords) | {"step"}
    assert traces.learner.values.tolist() == ["failing"]
    assert traces.step.values.tolist() == [0, 2, 4, 8, 16, 32, 64]
    assert traces.train_loss.dims == (*scores.sizes, "step")
    assert traces.train_loss.attrs["long_name"] == "squared error on the training points"
    first = traces.train_loss.sel(learner="failing", dimension=3, degree=1, samples=4)
    assert (first.sel(seed=[0, 2], step=0) == 1).all()
    wanted = scores.train_risk.sel(learner="failing", dimension=3, degree=1, samples=4, seed=[0, 2])
    np.testing.assert_array_equal(first.sel(seed=[0, 2], step=4), wanted)
    assert np.isnan(first.sel(seed=1, step=4)).all()
    assert np.isnan(first.sel(step=[2, 8, 16, 32, 64])).all()


def test_a_file_says_which_code_and_versions_made_it_and_not_where(results):
    for file in results.rglob("*.nc"):
        attributes = xarray.open_dataset(file).attrs
        assert len(attributes["code_hash"]) == 16
        assert len(attributes["parameters_hash"]) == 16
        assert "numpy" in attributes["versions"]
        assert str(results.parents[1]).encode() not in file.read_bytes()
    for name in ("claims.json", "figure.svg", "figure.pdf", "figure.png"):
        content = (results / "tiny" / name).read_bytes()
        for word in (b"code_hash", b"parameters_hash", b"matplotlib"):
            assert word in content, name
        assert str(results.parents[1]).encode() not in content
    assert '<meta name="code_hash"' in (results / "index.html").read_text()


def test_a_search_visits_the_sizes_about_the_crossing_and_says_so_of_the_rest(scores):
    features = scores.sel(learner="features", degree=1, width=4, dimension=[3, 4], samples=slice(2, 32))
    assert (features.status.sel(samples=8) == STATUS["ok"]).all()
    assert (features.status == STATUS["not_visited"]).any()
    np.testing.assert_array_equal(np.isfinite(features.test_risk), features.status == STATUS["ok"])


def test_without_a_search_every_size_is_visited(scores):
    kernel = scores.sel(learner="kernel", degree=1, width=4)
    assert (kernel.status == STATUS["ok"]).all()


def test_cells_above_a_limit_or_a_cap_and_below_a_start_say_so(scores):
    assert (scores.status.sel(learner="features", dimension=5) == 2).all()
    assert (scores.status.sel(learner="features", dimension=4, samples=64) == 2).all()
    assert (scores.status.sel(learner="linear", samples=2) == 3).all()


def test_swept_parameters_stay_apart(scores):
    linear = scores.test_risk.sel(learner="linear", samples=8)
    assert (linear.sel(width=4) != linear.sel(width=8)).all()
    kernel = scores.test_risk.sel(learner="kernel", samples=8)
    np.testing.assert_array_equal(kernel.sel(width=4), kernel.sel(width=8))


def test_learning_falls_with_the_sample_and_starts_near_the_size_of_the_target(scores):
    assert scores.target_norm.sel(learner="kernel", samples=2).values == pytest.approx(1.0)
    risk = scores.test_risk.sel(learner="kernel", degree=1, width=4).mean("seed")
    assert (risk.sel(samples=2) > 2 * risk.sel(samples=8)).all()


def test_a_diverged_seed_is_data_and_its_neighbours_are_scored(scores):
    failing = scores.sel(learner="failing", degree=1, width=4)
    assert (failing.status.sel(seed=1) == 5).all()
    assert np.isnan(failing.test_risk.sel(seed=1)).all()
    kernel = scores.sel(learner="kernel", degree=1, width=4)
    assert (failing.status.sel(seed=[0, 2], samples=2) == 0).all()
    assert (failing.status.sel(seed=[0, 2]).isin([0, 1])).all()
    assert kernel.status.sel(seed=1, samples=2, dimension=3) == 0


def test_a_claim_on_a_diverged_seed_is_inconclusive_with_a_reason(claims):
    assert claims["C1-failing"]["verdict"] == "inconclusive"
    assert claims["C1-failing"]["reason"]
    assert claims["C1-failing"]["control_verdict"] == "missing"


def test_a_claim_that_its_control_satisfies_too_is_vacuous(claims):
    row = claims["C1-kernel"]
    assert (row["control_verdict"], row["verdict"]) == ("passes", "vacuous")
    assert row["control_value"] == claims["C1-theory"]["value"]
    assert row["sizes"] == "d = 3–5"


def test_the_ledger_is_the_same_table_in_both_formats(results, claims):
    table = xarray.load_dataset(results / "claims.nc")
    assert list(next(iter(claims.values()))) == COLUMNS
    assert set(table.data_vars) == set(COLUMNS)
    assert table.claim.values.tolist() == list(claims)
    assert table.verdict.values.tolist() == [row["verdict"] for row in claims.values()]
    for row in claims.values():
        assert (results / row["figure"]).exists()
        assert (results / row["data"]).exists()


def test_theory_needs_no_seed_and_no_work(claims):
    assert claims["C1-theory"]["seeds"] == "0"
    assert float(claims["C1-theory"]["flops"]) == 0
    assert float(claims["C1-theory"]["value"]) == pytest.approx(1.0, abs=0.3)


def test_the_page_shows_every_claim_and_escapes_what_studies_say(results, claims):
    page = (results / "index.html").read_text()
    for row in claims.values():
        assert f'id="{row["claim"]}"' in page
    assert "&amp; has &lt;every&gt; part" in page
    assert "<every>" not in page
    assert 'src="tiny/figure.svg"' in page


def test_claims_are_strict_json(results):
    json.loads((results / "tiny" / "claims.json").read_text(), parse_constant=lambda word: pytest.fail(word))


def test_what_a_killed_job_left_in_the_temporary_folder_goes_with_the_next_run(changed):
    of_this_folder = hashlib.sha256(os.path.realpath(changed).encode()).hexdigest()[:16]
    left = Path(tempfile.mkdtemp(prefix=f"hierlearn-{of_this_folder}-"))
    (left / "content.nc").touch()
    assert snakemake(changed).code == 0
    assert not left.exists()


def test_a_second_run_has_nothing_to_do(changed):
    assert "Nothing to be done" in snakemake(changed, "--dry-run").text


def test_snakemake_makes_its_own_report(changed):
    done = snakemake(changed, "--report", "report.zip")
    assert done.code == 0, done.end
    names = zipfile.ZipFile(changed / "report.zip").namelist()
    assert {Path(name).name for name in names} >= {"report.html", "figure.svg", "index.html"}


def test_more_cores_and_another_folder_give_the_same_bytes(tree, results, tmp_path):
    done = snakemake(tree, "--cores", "2", folder=tmp_path)
    assert done.code == 0, done.end
    kinds = {".nc", ".json", ".csv", ".svg", ".png", ".pdf", ".html"}
    first = {file.relative_to(results): file.read_bytes() for file in results.rglob("*") if file.suffix in kinds}
    other = tmp_path / "results" / "quick"
    second = {file.relative_to(other): file.read_bytes() for file in other.rglob("*") if file.suffix in kinds}
    assert sorted(first) == sorted(second)
    assert len(first) > 12
    assert [str(name) for name in first if first[name] != second[name]] == []


def test_another_seed_learner_and_study_change_no_value_that_was_there(tree, results, tmp_path):
    larger = shutil.copytree(tree, tmp_path / "tree", ignore=shutil.ignore_patterns("results", ".*"))
    file = larger / "config" / "studies" / "tiny.yaml"
    content = yaml.safe_load(file.read_text())
    second = content | {"claims": {"C9": content["claims"]["C1-theory"]}}
    file.with_name("second.yaml").write_text(yaml.safe_dump(second))
    content["seeds"] += 1
    content["learners"] = {"another": content["learners"]["features"] | {"label": "Another"}, **content["learners"]}
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    names = ("tiny/scores.nc", "tiny/traces.nc", "tiny/theory.probe.nc")
    done = snakemake(larger, *(f"results/quick/{name}" for name in names))
    assert done.code == 0, done.end
    for name in names:
        before, after = xarray.load_dataset(results / name), xarray.load_dataset(larger / "results" / "quick" / name)
        kept = {axis: before[axis] for axis in before.dims if axis in after.dims}
        assert before.identical(after.sel(kept)[list(before.data_vars)].assign_attrs(before.attrs)), name
    data = "tiny/all/data.nc"
    before, after = netcdf.read(results / data), netcdf.read(larger / "results" / "quick" / data)
    for group, variables in before.items():
        for key, variable in variables.items():
            np.testing.assert_array_equal(after[group][key].values[:3], variable.values)
