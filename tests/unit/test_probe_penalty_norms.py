"""Norms of trained models with and without a penalty, against recomputed references and what a penalty does."""

import numpy as np
import pytest

from hierlearn.core.problem import pose
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.pipeline.measurements import penalty_norms

KEY = ("norms",)


def problem(seeds=(0, 1)):
    inputs = build("inputs", {"name": "sphere"}, dimension=5)
    teacher = build("teachers", {"name": "ridge_polynomial", "degree": 2})
    return pose(inputs, teacher, "unit", 0.0, Streams(KEY, seeds))


def norms(seeds=(0, 1), **parameters):
    given = {"name": "penalty_norms", "samples": 40, "widths": [4, 8], **parameters}
    return build("probes", given).measure(problem(seeds))


def test_measures_are_those_that_are_declared():
    assert set(norms()) == set(penalty_norms.PenaltyNorms.MEASURES) | {"seed", "width", "flops"}


def test_the_start_is_standard_normal_beside_the_leading_eigenvectors_of_the_labels():
    """|W|_{2,4} of both by their definitions; W* has the least-squares length."""
    found = norms((2,), widths=[4])
    streams = Streams(KEY, (2,)).at("penalty_norms")
    batch = problem((2,)).draw("training", 40)
    x, y = batch.x[0].astype(np.float64), batch.labels[0, :, 0]
    w0, begin = (
        streams.at(name).generators()[0].standard_normal(shape) for name, shape in (("w0", (2, 5)), ("start", (4, 5)))
    )
    vectors = np.linalg.eigh(x.T @ (x * y[:, None]))[1]
    reference = np.stack([vectors[:, -1], vectors[:, -1], vectors[:, 0], vectors[:, 0]])
    gates = np.tile(x @ w0.T >= 0, (1, 2))
    outputs = (gates * (x @ reference.T) ** 2) @ np.array([1.0, 1.0, -1.0, -1.0]) / 4
    length = np.sqrt(outputs @ y / (outputs @ outputs))
    size = np.sum(np.sum(begin**2, axis=1) ** 2) ** 0.25
    assert found["start_norm_ratio"].values.item() == pytest.approx(size / (length * 4**0.25), rel=1e-6)


def test_a_penalty_makes_the_end_smaller_and_the_loss_larger():
    found = norms(widths=[16, 64])
    assert np.all(found["norm_ratio"].values < found["unpenalised_norm_ratio"].values)
    assert np.all(found["train_loss"].values > found["unpenalised_train_loss"].values)


def test_without_a_penalty_a_wide_model_ends_at_the_norm_of_its_start():
    found = norms(widths=[256], start=3.0)
    np.testing.assert_allclose(found["unpenalised_norm_ratio"].values, found["start_norm_ratio"].values, rtol=0.05)
    assert np.all(found["norm_ratio"].values < 0.5 * found["start_norm_ratio"].values)


def test_a_width_has_its_values_whatever_is_measured_beside_it():
    together, alone = norms(widths=[4, 8]), norms((1,), widths=[4, 8])
    np.testing.assert_array_equal(together["norm_ratio"].values[1], alone["norm_ratio"].values[0])
