"""Content comes back as it was written, and equal content is equal bytes."""

import time

import numpy as np
import pytest
import xarray

from hierlearn.pipeline.files import netcdf, results
from hierlearn.pipeline.files.netcdf import UnreadableFile, Variable

CONTENT = {
    "": {
        "learner": Variable(("learner",), np.array(["quad", "ntk-raw"]), {"long_name": "learner"}),
        "risk": Variable(("learner", "seed"), np.array([[1.0, np.nan], [0.5, 2.0]]), {"units": "1"}),
    },
    "dimension-6/n8": {
        "state": Variable(("seed", "row"), np.arange(6, dtype=np.float32).reshape(2, 3)),
        "nothing": Variable(("seed", "none"), np.zeros((2, 0), np.float32)),
        "status": Variable(("seed",), np.array([0, 5], np.int8), netcdf.flags({"ok": 0, "diverged": 5})),
        "single": Variable((), np.int64(3)),
    },
}


def test_content_comes_back_as_it_was_written(tmp_path):
    results.write(tmp_path / "file.nc", CONTENT, {"title": "a title"})
    found = netcdf.read(tmp_path / "file.nc")
    for group, variables in CONTENT.items():
        assert list(found[group]) == list(variables)
        for name, variable in variables.items():
            other = found[group][name]
            assert other.dimensions == variable.dimensions
            assert other.values.shape == np.shape(variable.values)
            if variable.values.dtype.kind != "U":
                assert other.values.dtype == variable.values.dtype
            np.testing.assert_array_equal(other.values, variable.values)
    assert found["dimension-6/n8"]["status"].attributes["flag_meanings"] == "ok diverged"
    assert xarray.open_dataset(tmp_path / "file.nc").attrs == {"title": "a title"}


def test_groups_can_be_asked_for_by_name(tmp_path):
    content = CONTENT | {"dimension-6": {"single": Variable((), np.int64(4))}}
    results.write(tmp_path / "file.nc", content, {})
    found = netcdf.read(tmp_path / "file.nc", names=["dimension-6/n8"])
    assert list(found) == ["dimension-6/n8"]
    assert found["dimension-6/n8"]["single"].values == 3


def test_xarray_opens_a_file_with_one_call(tmp_path):
    results.write(tmp_path / "file.nc", CONTENT, {"title": "a title"})
    dataset = xarray.open_dataset(tmp_path / "file.nc")
    assert dataset.learner.values.tolist() == ["quad", "ntk-raw"]
    assert dataset.risk.sel(learner="ntk-raw").values.tolist() == [0.5, 2.0]
    part = xarray.open_dataset(tmp_path / "file.nc", group="dimension-6/n8")
    assert part.status.attrs["flag_values"].tolist() == [0, 5]


def test_a_missing_number_stays_nan_and_a_large_one_is_no_fill_value(tmp_path):
    values = np.array([np.nan, 9.969209968386869e36, np.inf, -0.0])
    results.write(tmp_path / "file.nc", {"": {"x": Variable(("n",), values)}}, {})
    np.testing.assert_array_equal(xarray.open_dataset(tmp_path / "file.nc").x.values, values)


def test_equal_content_gives_equal_bytes_at_another_second_and_order_of_attributes():
    first = netcdf.encode(CONTENT, {"one": "1", "two": "2"})
    # netCDF keeps times in seconds
    time.sleep(1.1)
    assert netcdf.encode(CONTENT, {"two": "2", "one": "1"}) == first


def test_different_content_gives_different_bytes():
    assert netcdf.encode(CONTENT, {"one": "1"}) != netcdf.encode(CONTENT, {"one": "2"})


@pytest.mark.parametrize("damage", [lambda b: b"", lambda b: b"text", lambda b: b[: len(b) // 2], lambda b: b[:-16]])
def test_a_damaged_file_is_named_in_one_line(tmp_path, damage):
    file = tmp_path / "file.nc"
    file.write_bytes(damage(netcdf.encode(CONTENT, {})))
    with pytest.raises(UnreadableFile, match=r"file\.nc: not a readable netCDF-4 file") as caught:
        netcdf.read(file)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named_in_one_line(tmp_path):
    with pytest.raises(UnreadableFile, match=r"absent\.nc"):
        netcdf.read(tmp_path / "absent.nc")


def test_a_dimension_of_two_lengths_is_refused():
    parts = {"x": Variable(("n",), np.zeros(2)), "y": Variable(("n",), np.zeros(3))}
    with pytest.raises(ValueError, match="group 'here': y has n = 3, which was 2 before"):
        netcdf.encode({"here": parts}, {})


def test_a_variable_has_a_name_for_every_dimension():
    with pytest.raises(ValueError, match="has shape"):
        Variable(("seed",), np.zeros((2, 3)))
