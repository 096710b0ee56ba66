"""Results come back as they were written, to the job alone that expects them; anything else is one line."""

from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray

from hierlearn.core import provenance
from hierlearn.pipeline.files import checksums, cubes, netcdf, results
from hierlearn.pipeline.files.checksums import UnreadableFile
from hierlearn.pipeline.files.netcdf import Variable, flags

JOB = provenance.attributes("code", {"learner": "kernel"})
EXPECTED = provenance.identity("code", {"learner": "kernel"})
GROUPS = {
    "": {
        "seed": Variable(("seed",), np.arange(2), {"units": "1"}),
        "learner": Variable(("learner",), np.array(["a", "bc"])),
        "risk": Variable(("learner", "seed"), np.array([[1.0, np.nan], [9.969209968386869e36, -0.0]])),
        "status": Variable(("seed",), np.array([0, 5], np.int8), flags({"ok": 0, "diverged": 5})),
    },
    "n8": {"state_empty": Variable(("seed", "none"), np.zeros((2, 0), np.float32))},
}
ROWS = [{"claim": "C1", "value": 0.1, "low": None}]


def line(read, file, expected=EXPECTED) -> str:
    with pytest.raises(UnreadableFile) as caught:
        read(file, expected)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"{file}: ")
    assert str(caught.value).endswith("; delete it and run again")
    return str(caught.value)


@pytest.fixture
def file(tmp_path):
    results.write(tmp_path / "scores.nc", GROUPS, JOB, title="a title")
    return tmp_path / "scores.nc"


def test_the_file_of_a_job_is_taken_and_says_what_made_it(file):
    assert list(netcdf.read(file, EXPECTED)[""]) == list(GROUPS[""])
    with netCDF4.Dataset(file) as dataset:
        assert {name: dataset.getncattr(name) for name in dataset.ncattrs()} == JOB | {"title": "a title"}


def test_a_cube_is_the_dataset_that_xarray_opens(file):
    found = cubes.load(file, EXPECTED)
    expected = xarray.load_dataset(file)
    assert found.identical(expected)
    assert {name: found[name].dtype for name in found.variables} == {
        name: expected[name].dtype for name in expected.variables
    }


@pytest.mark.parametrize("read", [netcdf.read, cubes.load])
def test_a_file_is_read_once_and_so_is_its_checksum(file, monkeypatch, read):
    whole = Path.read_bytes
    # Who comes a second time finds nothing.
    monkeypatch.setattr(Path, "read_bytes", lambda path: (whole(path), path.unlink())[0])
    read(file, EXPECTED)
    assert list(file.parent.iterdir()) == []


@pytest.mark.parametrize("read", [netcdf.read, cubes.load, results.read_claims])
def test_a_file_of_another_job_or_changed_since_is_refused(tmp_path, read):
    file = tmp_path / "file"
    results.write_claims(file, ROWS, JOB) if read is results.read_claims else results.write(file, GROUPS, JOB)
    assert "parameters_hash: found " in line(read, file, provenance.identity("code", {}))
    content = bytearray(file.read_bytes())
    content[-20] ^= 1
    file.write_bytes(content)
    assert "content: found SHA-256 " in line(read, file)


@pytest.mark.parametrize("read", [netcdf.read, cubes.load])
@pytest.mark.parametrize("content", [b"", b"text"])
def test_what_is_no_netcdf_file_is_refused_whoever_wrote_it(tmp_path, read, content):
    checksums.write(tmp_path / "scores.nc", content, JOB)
    assert "not a readable netCDF-4 file (" in line(read, tmp_path / "scores.nc")


@pytest.mark.parametrize(
    "text", ["", "text", "[]", "{}", '{"rows": 3}', '{"rows": "ab"}', '{"rows": [3]}', "[" * 100_000, "\x00"]
)
def test_claims_that_are_none_are_refused(tmp_path, text):
    checksums.write(tmp_path / "claims.json", text.encode(), JOB)
    assert "found no claims (" in line(results.read_claims, tmp_path / "claims.json")


def test_claims_come_back_as_they_were_written(tmp_path):
    results.write_claims(tmp_path / "claims.json", ROWS, JOB)
    assert results.read_claims(tmp_path / "claims.json", EXPECTED) == ROWS
