"""The paired difference of two learners' scores, and studies that want more pictures than there are."""

import numpy as np
import pytest
import xarray
import yaml

import hierlearn
from hierlearn.core.protocols import STATUS
from hierlearn.core.registry import PACKAGE, build

STUDY = PACKAGE.parents[1] / "config" / "studies" / "allenzhu2020-hierarchy.yaml"


def cube(a, b, status="ok"):
    axes = ("learner", "dimension", "samples", "seed")
    values = np.array([a, b], float)[:, None, None, :]
    variables = {
        "test_accuracy": (axes, values),
        "test_risk": (axes, 1 - values),
        "status": (axes, np.full(values.shape, STATUS[status])),
    }
    coordinates = {"learner": ["a", "b"], "dimension": [4], "samples": [10], "seed": range(len(a))}
    return xarray.Dataset(variables, coordinates)


def test_differences_are_paired_by_seed():
    a, b = np.array([0.9, 0.5, 0.7, 0.2]), np.array([0.8, 0.45, 0.55, 0.1])
    quantity = build("quantities", {"name": "score_difference", "above": "a", "below": "b", "samples": 10})
    found = quantity.measure(cube(a, b), {})
    half = 3.182446 * np.std(a - b, ddof=1) / 2  # the quantile of t with 3 degrees of freedom
    np.testing.assert_allclose([found.value, found.low, found.high], [0.1, 0.1 - half, 0.1 + half], rtol=1e-5)
    assert np.isnan(quantity.measure(cube(a, b, "diverged"), {}).low)


def test_more_pictures_than_there_are_are_refused_before_anything_runs(tmp_path):
    content = yaml.safe_load(STUDY.read_text())
    # Nothing but what any study of the learners says: claims and lines name the sizes of another input.
    lines = [{"learner": next(iter(content["learners"]))}]
    figure = {"name": "panels", "panels": [{"kind": "risk", "title": "Risk", "x": "samples", "lines": lines}]}
    content |= {"claims": {}, "presets": {}, "revisions": {}, "figure": figure, "axes": {"dimension": [196]}}
    for learner in content["learners"].values():
        learner.pop("only", None)
    content["problem"] = {"input": {"name": "shifted_digits"}, "teacher": {"name": "picture_class"}}
    file = tmp_path / "digits.yaml"
    file.write_text(yaml.safe_dump(content))
    with pytest.raises(ValueError, match=r"points\.test: found 2000; expected at most 497, all that there are"):
        hierlearn.load_study(file, preset="quick")
