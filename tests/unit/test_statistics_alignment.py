"""How far learned features are from given ones."""

import numpy as np
import pytest

from hierlearn.statistics.features import feature_errors


def test_feature_errors_see_through_rotations_and_only_the_linear_one_through_other_maps():
    rng = np.random.default_rng(0)
    wanted = rng.standard_normal((400, 3))
    spun = np.linalg.qr(rng.standard_normal((7, 3)))[0]
    assert max(feature_errors(wanted @ spun.T, wanted)) < 1e-12
    rotation, linear, _ = feature_errors(wanted * [1.0, 1.0, 2.0], wanted)
    assert linear < 1e-14
    assert rotation == pytest.approx(np.mean(wanted[:, 2] ** 2) / np.mean(np.sum(wanted**2, 1)), rel=0.05)
    rotation, linear, _ = feature_errors(wanted[:, :2], wanted)
    assert linear == pytest.approx(np.mean(wanted[:, 2] ** 2) / np.mean(np.sum(wanted**2, 1)), rel=0.05)
    assert all(np.isnan(feature_errors(np.full((400, 3), np.nan), wanted)))


def test_no_rotation_does_better_than_the_one_that_is_taken():
    rng = np.random.default_rng(1)
    wanted = rng.standard_normal((300, 3))
    learned = wanted @ rng.standard_normal((3, 3)) + 0.3 * rng.standard_normal((300, 3))
    found = feature_errors(learned, wanted)[0] * np.mean(np.sum(wanted**2, axis=1))
    for _ in range(200):
        turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        assert np.mean(np.sum((learned @ turn - wanted) ** 2, axis=1)) >= found - 1e-12


def test_only_the_error_of_whole_features_counts_what_wide_ones_carry_beside():
    rng = np.random.default_rng(2)
    wanted, beside = np.linalg.qr(rng.standard_normal((400, 8)))[0].reshape(400, 2, 4).swapaxes(0, 1)
    found = feature_errors(np.hstack([wanted, 0.5 * beside]), wanted)
    # Orthogonal columns of one size, so the rest is a quarter of what is wanted.
    assert found == pytest.approx((0, 0, 0.25), abs=1e-12)
    square = wanted @ rng.standard_normal((4, 4)) + 0.1 * beside
    rotation, _, whole = feature_errors(square, wanted)
    assert whole == pytest.approx(rotation)
