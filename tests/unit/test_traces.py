"""Trajectories of training: one labelled cube over the union of all recorded steps."""

import numpy as np
import xarray

from hierlearn.pipeline.files import netcdf, results
from hierlearn.pipeline.files.scores import NOTHING, Traces

COORDINATES = {
    "learner": ["kernel", "net", "deep"],
    "dimension": [4, 6],
    "width": [8, 16],
    "samples": [2, 4],
    "seed": [0, 1],
}
TEXTS = {"train_loss": "loss of the training points"}


def recorded(traces, learner, steps, values, **cell):
    trace = {"step": np.asarray(steps), "train_loss": np.asarray(values, dtype=np.float32)}
    traces.record({"learner": learner, "dimension": 4, "width": 8, "samples": 2, "seed": 0} | cell, trace, TEXTS)


def opened(tmp_path, traces):
    results.write(tmp_path / "traces.nc", {"": traces.group()}, traces.comment)
    return xarray.load_dataset(tmp_path / "traces.nc")


def test_steps_are_the_sorted_union_and_only_recorded_cells_have_numbers(tmp_path):
    traces = Traces(COORDINATES)
    recorded(traces, "deep", [0, 10, 100], [3.0, 2.0, 1.0])
    recorded(traces, "net", [0, 5, 100], [6.0, 5.0, 4.0], seed=1)
    found = opened(tmp_path, traces)
    assert found.step.dtype == np.int64 and found.step.values.tolist() == [0, 5, 10, 100]
    assert found.learner.values.tolist() == ["net", "deep"]
    assert found.train_loss.dims == (*COORDINATES, "step")
    one = found.train_loss.sel(dimension=4, width=8, samples=2)
    np.testing.assert_array_equal(one.sel(learner="deep", seed=0), [3.0, np.nan, 2.0, 1.0])
    np.testing.assert_array_equal(one.sel(learner="net", seed=1), [6.0, 5.0, np.nan, 4.0])
    assert np.isfinite(found.train_loss).sum() == 6


def test_every_variable_and_coordinate_is_described_in_double_precision(tmp_path):
    traces = Traces(COORDINATES)
    recorded(traces, "net", [1], [6.0])
    traces.record({"learner": "net", "seed": 1}, {"step": np.array([2]), "norm_w": np.array([0.5])}, TEXTS)
    found = opened(tmp_path, traces)
    assert found.train_loss.dtype == found.norm_w.dtype == np.float64
    assert found.train_loss.attrs == {"units": "1", "long_name": "loss of the training points"}
    assert found.norm_w.attrs == {"units": "1", "long_name": "norm w"}
    assert all(found[name].attrs["long_name"] for name in found.variables)


def test_a_swept_parameter_that_a_learner_lacks_is_filled_along_its_length(tmp_path):
    traces = Traces(COORDINATES)
    traces.record(
        {"learner": "net", "dimension": 6, "samples": 4, "seed": 1},
        {"step": np.array([1, 2]), "train_loss": np.array([2.0, 1.0])},
        TEXTS,
    )
    one = opened(tmp_path, traces).train_loss.sel(learner="net", dimension=6, samples=4, seed=1)
    assert one.values.tolist() == [[2.0, 1.0], [2.0, 1.0]]


def test_tasks_are_joined_whatever_their_steps_learners_and_order(tmp_path):
    whole = Traces(COORDINATES)
    for dimension, learner, step in ((6, "deep", 7), (4, "net", 3)):
        task = Traces(COORDINATES | {"dimension": [dimension]})
        recorded(task, learner, [0, step], [2.0, float(step)], dimension=dimension)
        results.write(tmp_path / "task.nc", {"": task.group()}, {})
        whole.insert(netcdf.read(tmp_path / "task.nc")[""])
    found = opened(tmp_path, whole)
    assert found.learner.values.tolist() == ["net", "deep"]
    assert found.step.values.tolist() == [0, 3, 7]
    one = found.train_loss.sel(width=8, samples=2, seed=0)
    np.testing.assert_array_equal(one.sel(learner="net", dimension=4), [2.0, 3.0, np.nan])
    np.testing.assert_array_equal(one.sel(learner="deep", dimension=6), [2.0, np.nan, 7.0])
    assert np.isfinite(found.train_loss).sum() == 4
    assert found.train_loss.attrs["long_name"] == "loss of the training points"


def test_where_nothing_is_recorded_the_file_says_so_and_joins_as_nothing(tmp_path):
    task, whole = Traces(COORDINATES), Traces(COORDINATES)
    task.record({"learner": "kernel", "seed": 0}, {}, {})
    results.write(tmp_path / "task.nc", {"": task.group()}, task.comment)
    whole.insert(netcdf.read(tmp_path / "task.nc")[""])
    found = opened(tmp_path, whole)
    assert not found.variables
    assert found.attrs["comment"] == NOTHING
