"""Data files that were damaged or exchanged are refused in one line: the file, what was found and expected."""

import netCDF4
import numpy as np
import pytest

from hierlearn.core import provenance
from hierlearn.pipeline.files import checksums, netcdf, problems, results

POINT = {
    "name": "degree-2",
    "problem": {
        "scale": "unit",
        "label_noise": 0.2,
        "dimension": 4,
        "input": {"name": "sphere"},
        "teacher": {"name": "ridge_polynomial", "degree": 2, "basis": "gegenbauer", "rank": 1, "orthonormal": True},
    },
    "seeds": [0, 3],
    "counts": {"training": 12, "unlabelled": 9, "validation": 5, "test": 6},
    "validation": 5,
}
DRAWN = problems.draw(POINT)
POINTS = [name for name in DRAWN if name.endswith(("_x", "_labels", "_target"))]


def job(point):
    """What is said of the job that draws a point."""
    return "code", {"points": [point]}


@pytest.fixture
def file(tmp_path):
    results.write(tmp_path / "data.nc", {"degree-2": DRAWN}, provenance.attributes(*job(POINT)))
    return tmp_path / "data.nc"


def refusal(file) -> str:
    """The line of a job that reads the file."""
    with pytest.raises(ValueError) as caught:
        netcdf.read(file, provenance.identity(*job(POINT)))
    assert str(caught.value).startswith(f"{file}: ")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_whole_file_is_taken(file):
    stored = netcdf.read(file, provenance.identity(*job(POINT)))["degree-2"]
    assert all(np.array_equal(stored[name].values, variable.values) for name, variable in DRAWN.items())


@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, *np.linspace(0.1, 0.9, 9), 0.99])
def test_truncated_files(file, share):
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    assert "content: found SHA-256 " in refusal(file)
    # Where the checksum was cut with it, or by who gave it the checksum of the rest.
    checksums.write(file, file.read_bytes(), provenance.attributes(*job(POINT)))
    assert "not a readable netCDF-4 file (" in refusal(file)
    checksums.beside(file).write_bytes(checksums.beside(file).read_bytes()[: int(share * 100)])
    assert "checksum: found none" in refusal(file)


@pytest.mark.parametrize("content", [b"", b"\n", b"preset: quick\n", b"\x89HDF\r\n\x1a\n", b"CDF\x01", bytes(5000)])
def test_files_that_are_no_netcdf(file, content):
    file.write_bytes(content)
    assert "content: found SHA-256 " in refusal(file)
    checksums.write(file, content, provenance.attributes(*job(POINT)))
    assert "not a readable netCDF-4 file (" in refusal(file)


def test_a_folder_and_nothing_in_place_of_a_file(tmp_path):
    assert "found no file to read" in refusal(tmp_path)
    assert "found no file to read" in refusal(tmp_path / "absent.nc")


@pytest.mark.parametrize("name", DRAWN)
def test_variables_that_are_renamed_in_place(file, name):
    with netCDF4.Dataset(file, "a") as dataset:
        dataset["degree-2"].renameVariable(name, "lost")
    assert "content: found SHA-256 " in refusal(file)


@pytest.mark.parametrize("name", POINTS)
def test_numbers_that_are_changed_in_place(file, name):
    with netCDF4.Dataset(file, "a") as dataset:
        dataset["degree-2"][name][0, 0] += 1
    assert "content: found SHA-256 " in refusal(file)


@pytest.mark.parametrize(
    "changes",
    [
        {"seeds": [0, 4]},
        {"seeds": [3, 0]},
        {"counts": POINT["counts"] | {"test": 5}},
        {"problem": POINT["problem"] | {"label_noise": 0.1}},
        {"problem": POINT["problem"] | {"scale": "paper"}},
        {"problem": POINT["problem"] | {"input": {"name": "gaussian"}}},
        {"problem": POINT["problem"] | {"teacher": POINT["problem"]["teacher"] | {"degree": 3}}},
    ],
    ids=str,
)
def test_data_of_another_problem(file, changes):
    other = POINT | changes
    results.write(file, {"degree-2": problems.draw(other)}, provenance.attributes(*job(other)))
    assert "parameters_hash: found " in refusal(file)


def test_data_of_other_code(file):
    results.write(file, {"degree-2": DRAWN}, provenance.attributes("older", job(POINT)[1]))
    assert "code_hash: found older; expected code" in refusal(file)
