"""A file that is whole but not the one that its job wrote is refused in one line that names it."""

import json

import netCDF4
import numpy as np
import pytest

from hierlearn.core import provenance
from hierlearn.files import netcdf, results
from hierlearn.files.netcdf import UnreadableFile, Variable

JOB = provenance.attributes("code", {"learner": "kernel"})
EXPECTED = {"kind": "model"} | provenance.identity("code", {"learner": "kernel"})
GROUPS = {
    "n8": {
        "seed": Variable(("seed",), np.arange(2)),
        "name": Variable(("seed",), np.array(["a", "bc"])),
        "score_status": Variable(("seed",), np.zeros(2, np.int8)),
        "state_empty": Variable(("seed", "none"), np.zeros((2, 0), np.float32)),
        "single": Variable((), np.float64(0.1)),
    }
}
ROWS = [{"claim": "C1", "value": 0.1, "low": None}]


def line(read, file, expected) -> str:
    with pytest.raises(UnreadableFile) as caught:
        read(file, expected)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"{file}: ")
    assert str(caught.value).endswith("; delete it and run again")
    return str(caught.value)


@pytest.fixture
def file(tmp_path):
    results.write(tmp_path / "kernel.model.nc", "model", GROUPS, JOB, title="a title")
    return tmp_path / "kernel.model.nc"


def test_the_file_of_a_job_is_taken_and_says_what_made_it(file):
    assert list(results.read(file, EXPECTED)["n8"]) == list(GROUPS["n8"])
    assert set(netcdf.attributes(file)) == {*JOB, "kind", "content_hash", "title"}


@pytest.mark.parametrize(
    ("kind", "made", "found"),
    [
        ("traces", JOB, "kind: found traces; expected model"),
        ("model", provenance.attributes("code", {"learner": "linear"}), "parameters_hash: found "),
        ("model", provenance.attributes("older", {"learner": "kernel"}), "code_hash: found older; expected code"),
        ("model", {}, "code_hash: found nothing; expected code"),
    ],
)
def test_the_file_of_another_job_is_refused(tmp_path, kind, made, found):
    results.write(tmp_path / "model.nc", kind, GROUPS, made)
    assert found in line(results.read, tmp_path / "model.nc", EXPECTED)


CHANGES = {
    "lost": {"score_status": None},
    "renamed": {"score_status": None, "other": GROUPS["n8"]["score_status"]},
    "other numbers": {"seed": Variable(("seed",), np.array([1, 0]))},
    "other words": {"name": Variable(("seed",), np.array(["ab", "c"]))},
    "another kind": {"score_status": Variable(("seed",), np.zeros(2, np.int16))},
    "another shape": {"state_empty": Variable(("seed", "none"), np.zeros((2, 3), np.float32))},
    "other axes": {"state_empty": Variable(("none", "seed"), np.zeros((0, 2), np.float32))},
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_variable_that_is_lost_or_changed_is_noticed(file, change):
    made = netcdf.attributes(file)
    group = {name: one for name, one in (GROUPS["n8"] | CHANGES[change]).items() if one}
    netcdf.write(file, {"n8": group}, made)
    assert "content_hash: found " in line(results.read, file, EXPECTED)
    netcdf.write(file, GROUPS, made)
    results.read(file, EXPECTED)


def test_empty_files_and_text_are_refused(file):
    netCDF4.Dataset(file, "w").close()
    assert "kind: found nothing; expected model" in line(results.read, file, EXPECTED)
    file.write_text("text")
    assert "not a readable netCDF-4 file" in line(results.read, file, EXPECTED)


@pytest.mark.parametrize("text", ["", "text", "[]", "{}", '{"rows": []}', '{"rows": [], "provenance": 3}', "\x00"])
def test_claims_that_are_none_are_refused(tmp_path, text):
    (tmp_path / "claims.json").write_text(text)
    assert "found no claims (" in line(results.read_claims, tmp_path / "claims.json", None)


def test_claims_of_another_job_or_changed_since_are_refused(tmp_path):
    file, expected = tmp_path / "claims.json", EXPECTED | {"kind": "claims"}
    results.write_claims(file, ROWS, JOB)
    assert results.read_claims(file, expected) == ROWS
    content = json.loads(file.read_text())
    content["rows"][0]["value"] = 0.2
    file.write_text(json.dumps(content))
    assert "content_hash: found " in line(results.read_claims, file, expected)
    results.write_claims(file, ROWS, provenance.attributes("code", {}))
    assert "parameters_hash: found " in line(results.read_claims, file, expected)
