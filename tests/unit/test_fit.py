"""Fits of some seeds each become one of all."""

import numpy as np
import pytest

from hierlearn.core.protocols import Fit


def fit(*seeds, **more):
    values = np.array(seeds, float)
    return Fit(
        state={"weights": np.stack([values, -values], axis=1)},
        status=np.zeros(len(seeds), np.int8),
        validation_risk=values,
        train_risk=values / 2,
        choices={"ridge": values},
        **more,
    )


def test_the_seeds_follow_one_another_in_everything():
    one = Fit.stack([fit(3, 8, flops=np.ones(2)), fit(5, flops=np.zeros(1))])
    assert one.validation_risk.tolist() == one.choices["ridge"].tolist() == [3, 8, 5]
    assert one.state["weights"].tolist() == [[3, -3], [8, -8], [5, -5]]
    assert one.flops.tolist() == [1, 1, 0]
    assert one.status.dtype == np.int8


def test_what_nobody_says_stays_unsaid():
    one = Fit.stack(fit(seed) for seed in (1, 2))
    assert one.certificate is None
    assert one.flops is None
    assert one.trace == {}


def test_fits_of_different_measures_are_none():
    with pytest.raises(KeyError):
        Fit.stack([fit(1, measures={"movement": np.ones(1)}), fit(2)])
