"""Data files that were damaged or exchanged are refused in one line that names file, variable and what is expected."""

import numpy as np
import pytest

from hierlearn.files import netcdf, problems
from hierlearn.files.netcdf import Variable

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
DRAWN = problems.drawn(POINT)
POINTS = [name for name in DRAWN if name.endswith(("_x", "_labels", "_target"))]
NEEDED = ["seed", "target_norm", "teacher_directions", *(n for n in POINTS if n not in ("training_x", "unlabelled_x"))]


def refusal(file, groups=None) -> str:
    """The line of a job that reads the file; none if it takes it. groups: what the file is made of."""
    if groups is not None:
        netcdf.write(file, groups, {})
    try:
        problems.opened(file, [POINT])
    except ValueError as error:
        return str(error)
    return ""


def other(variable: Variable, values) -> Variable:
    values = np.asarray(values)
    return Variable(tuple(f"axis_{np.prod(values.shape)}_{i}" for i in range(values.ndim)), values)


def test_whole_files_are_taken(tmp_path):
    assert refusal(tmp_path / "data.nc", {"degree-2": DRAWN}) == ""
    # A learner that draws as it goes needs no training points, a raw one no unlabelled ones.
    few = {name: v for name, v in DRAWN.items() if not name.startswith(("training", "unlabelled"))}
    assert refusal(tmp_path / "data.nc", {"degree-2": few, "degree-4": DRAWN}) == ""


@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, *np.linspace(0.1, 0.9, 9), 0.99])
def test_truncated_files(tmp_path, share):
    file = tmp_path / "data.nc"
    netcdf.write(file, {"degree-2": DRAWN}, {})
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    line = refusal(file)
    assert line.startswith(f"{file}: not a readable netCDF-4 file (")
    assert "\n" not in line


@pytest.mark.parametrize("content", [b"", b"\n", b"preset: quick\n", b"\x89HDF\r\n\x1a\n", b"CDF\x01", bytes(5000)])
def test_files_that_are_no_netcdf(tmp_path, content):
    (tmp_path / "data.nc").write_bytes(content)
    assert refusal(tmp_path / "data.nc").endswith("delete it and run again")


def test_a_folder_and_nothing_in_place_of_a_file(tmp_path):
    assert "not a readable netCDF-4 file" in refusal(tmp_path)
    assert "not a readable netCDF-4 file" in refusal(tmp_path / "absent.nc")


@pytest.mark.parametrize("name", NEEDED)
def test_variables_that_are_not_there(tmp_path, name):
    without = {key: variable for key, variable in DRAWN.items() if key != name}
    line = refusal(tmp_path / "data.nc", {"degree-2": without})
    assert f"data.nc: degree-2/{name}: found " in line
    assert "; expected " in line


def test_another_group(tmp_path):
    for groups in ({"degree-4": DRAWN}, {"": DRAWN}, {}):
        assert "data.nc: degree-2/seed: found nothing" in refusal(tmp_path / "data.nc", groups)


SHAPES = {
    "one seed": lambda x: x[:1],
    "a point less": lambda x: x[:, 1:],
    "an axis less": lambda x: x[..., 0],
    "an axis more": lambda x: x[..., None],
    "turned around": lambda x: x.T,
    "integers": lambda x: x.astype(np.int32),
    "words": lambda x: x.astype(str),
    "truth values": lambda x: (x > 0).astype(np.int8),
    "nothing": lambda x: x[:, :0],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", POINTS)
def test_points_of_another_shape_or_kind(tmp_path, name, shape):
    changed = DRAWN | {name: other(DRAWN[name], SHAPES[shape](DRAWN[name].values))}
    line = refusal(tmp_path / "data.nc", {"degree-2": changed})
    assert "data.nc: degree-2/" in line
    assert f"/{name.split('_')[0]}_" in line


@pytest.mark.parametrize(
    "changes",
    [
        {"seeds": [0, 4]},
        {"seeds": [3, 0]},
        {"problem": POINT["problem"] | {"label_noise": 0.1}},
        {"problem": POINT["problem"] | {"scale": "paper"}},
        {"problem": POINT["problem"] | {"input": {"name": "gaussian"}}},
        {"problem": POINT["problem"] | {"teacher": POINT["problem"]["teacher"] | {"degree": 3}}},
    ],
    ids=str,
)
def test_data_of_another_problem(tmp_path, changes):
    line = refusal(tmp_path / "data.nc", {"degree-2": problems.drawn(POINT | changes)})
    assert "another problem" in line or "degree-2/seed: found" in line
