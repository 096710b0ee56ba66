"""The cube of scores: every cell says what became of it."""

import numpy as np
import pytest
import xarray

from hierlearn.core.protocols import STATIONARY, STATUS
from hierlearn.pipeline.files import netcdf, results
from hierlearn.pipeline.files.scores import Scores

COORDINATES = {"learner": ["a", "b"], "dimension": [4, 6], "samples": [2, 4, 8], "seed": [0, 1]}


def status(scores):
    return scores.values["status"]


def test_every_cell_starts_as_not_planned_and_without_numbers():
    scores = Scores(COORDINATES)
    scores.fill({"learner": "a", "dimension": 4, "samples": 2, "seed": 0}, test_risk=0.5, status=0)
    assert np.isfinite(scores.values["test_risk"]).sum() == 1
    assert (status(scores) == STATUS["not_planned"]).sum() == 23
    assert (scores.values["stationary"] == STATIONARY["not_applicable"]).all()


def test_a_coordinate_that_is_not_named_is_filled_along_its_length():
    scores = Scores(COORDINATES)
    scores.fill({"learner": "b", "seed": 1}, target_norm=2.0)
    filled = scores.values["target_norm"]
    assert (filled[1, :, :, 1] == 2.0).all()
    assert np.isfinite(filled).sum() == 6


def test_a_mark_changes_only_cells_that_nothing_is_known_of():
    scores = Scores(COORDINATES)
    scores.fill({"learner": "a", "samples": 2}, status=STATUS["diverged"])
    scores.mark({"learner": "a", "samples": 8}, "over_cap")
    scores.mark({"learner": "a"}, "not_visited")
    assert (status(scores)[0, :, 0] == STATUS["diverged"]).all()
    assert (status(scores)[0, :, 1] == STATUS["not_visited"]).all()
    assert (status(scores)[0, :, 2] == STATUS["over_cap"]).all()
    assert (status(scores)[1] == STATUS["not_planned"]).all()


def test_a_mark_of_a_single_cell_works_too():
    scores = Scores(COORDINATES)
    scores.mark({"learner": "b", "dimension": 6, "samples": 4, "seed": 1}, "over_cap")
    assert np.argwhere(status(scores) == STATUS["over_cap"]).tolist() == [[1, 1, 1, 1]]


def test_a_failure_can_be_told_from_a_cell_that_was_not_visited():
    scores = Scores(COORDINATES)
    scores.fill({"learner": "a", "dimension": 4, "samples": 2, "seed": 0}, status=STATUS["diverged"], test_risk=np.nan)
    assert status(scores)[0, 0, 0, 0] == 5


def test_parts_are_put_into_their_place(tmp_path):
    whole = Scores(COORDINATES)
    for number, dimension in enumerate((6, 4)):
        part = Scores(COORDINATES | {"dimension": [dimension], "samples": [4, 2]})
        part.fill({"learner": "b", "samples": 4}, test_risk=float(number), status=0)
        results.write(tmp_path / "part.nc", {"": part.group()}, {})
        whole.insert(netcdf.read(tmp_path / "part.nc")[""])
    risk = whole.values["test_risk"]
    assert risk[1, 1, 1].tolist() == [0.0, 0.0]
    assert risk[1, 0, 1].tolist() == [1.0, 1.0]
    assert np.isfinite(risk).sum() == 4
    assert (status(whole) == 0).sum() == 4


def test_axes_of_words_numbers_and_yes_or_no_are_stored_and_found_again(tmp_path):
    coordinates = {"learner": ["a"], "basis": ["monomial", "gegenbauer"], "orthonormal": [True, False], "alpha": [0.5]}
    part = Scores(coordinates)
    part.fill({"basis": "gegenbauer", "orthonormal": False}, test_risk=3.0)
    results.write(tmp_path / "part.nc", {"": part.group()}, {})
    whole = Scores(coordinates)
    whole.insert(netcdf.read(tmp_path / "part.nc")[""])
    assert whole.values["test_risk"][0, 1, 1, 0] == 3.0
    assert np.isfinite(whole.values["test_risk"]).sum() == 1


def test_the_stored_cube_is_labelled_and_described(tmp_path):
    scores = Scores(COORDINATES)
    scores.fill({"learner": "a"}, test_risk=1.0, selected_ridge=0.1)
    results.write(tmp_path / "scores.nc", {"": scores.group()}, {})
    cube = xarray.open_dataset(tmp_path / "scores.nc")
    assert cube.test_risk.dims == ("learner", "dimension", "samples", "seed")
    assert cube.test_risk.sel(learner="a", dimension=6).values.tolist() == [[1.0, 1.0]] * 3
    assert cube.status.attrs["flag_meanings"].split() == list(STATUS)
    assert cube.stationary.attrs["flag_values"].tolist() == list(STATIONARY.values())
    assert all(cube[name].attrs["long_name"] for name in cube.variables)


def test_what_a_part_says_of_its_variables_goes_with_it(tmp_path):
    part, whole = Scores(COORDINATES | {"dimension": [6]}), Scores(COORDINATES)
    part.fill({"learner": "a"}, movement=1.0)
    part.attributes["movement"] = {"long_name": "how far the weights moved"}
    results.write(tmp_path / "part.nc", {"": part.group()}, {})
    whole.insert(netcdf.read(tmp_path / "part.nc")[""])
    results.write(tmp_path / "whole.nc", {"": whole.group()}, {})
    found = xarray.open_dataset(tmp_path / "whole.nc")
    assert found.movement.attrs == {"units": "1", "long_name": "how far the weights moved"}
    assert found.status.attrs["flag_meanings"].split() == list(STATUS)


def test_an_unknown_coordinate_is_an_error():
    with pytest.raises(KeyError):
        Scores(COORDINATES).fill({"learner": "c"}, test_risk=1.0)
