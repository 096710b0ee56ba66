"""Smallest eigenvalues of step features against sampled moments, and what must hold between them."""

import numpy as np
import pytest

from hierlearn.core.problem import pose
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.pipeline.measurements.assumption2 import Assumption2
from hierlearn.theory.assumption2 import second_moment

KEY = ("assumption",)


def measured(dimension=5, seeds=(0, 1), law="sphere", **parameters):
    teacher = {"name": "parity"} if law == "hypercube" else {"name": "ridge_polynomial", "degree": 2}
    inputs = build("inputs", {"name": law}, dimension=dimension)
    problem = pose(inputs, build("teachers", teacher), "unit", 0.0, Streams(KEY, seeds))
    return build("probes", {"name": "assumption2", **parameters}).measure(problem)


def test_eigenvalues_are_those_of_a_large_sample():
    found = measured(dimension=6, seeds=(3,), orders=[1], multiples=[1], rarest=0.2)
    streams = Streams(KEY, (3,)).at("assumption2", 0)
    rows = streams.at("rows").generators()[0].standard_normal((6, 6))
    biases = streams.at("biases").generators()[0].standard_normal(6)
    x = np.random.default_rng(0).standard_normal((1_000_000, 6))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    on = (x @ rows.T + biases >= 0).astype(np.float64)
    moment, share = on.T @ on / len(x), on.mean(axis=0)
    kept = np.flatnonzero(np.minimum(share, 1 - share) >= 0.2)
    expected = {
        "biased": np.linalg.eigvalsh(moment)[0],
        "trimmed": np.linalg.eigvalsh(moment[np.ix_(kept, kept)])[0],
        "rarest_outcome": np.minimum(share, 1 - share).min(),
    }
    for name, value in expected.items():
        assert found[name].values.item() == pytest.approx(value, abs=2e-3), name
    plain = (x @ rows.T >= 0).astype(np.float64)
    smallest = np.linalg.eigvalsh(plain.T @ plain / len(x))[0]
    assert found["smallest_eigenvalue"].values.item() == pytest.approx(smallest, abs=2e-3)


def test_more_units_never_raise_the_smallest_eigenvalue():
    found = measured(orders=[2], multiples=[0.5, 1, 2])
    for name in ("smallest_eigenvalue", "biased", "trimmed"):
        assert np.all(np.diff(found[name].values, axis=2) <= 1e-12), name
    assert np.all(found["trimmed"].values >= found["biased"].values - 1e-12)


def test_without_biases_the_law_of_x_does_not_matter():
    values = [measured(law=law, seeds=(0,))["smallest_eigenvalue"].values for law in ("sphere", "gaussian")]
    np.testing.assert_array_equal(*values)


def test_two_units_that_are_on_everywhere_leave_exactly_nothing():
    """At d = 3 and hundreds of units some biases exceed |v|."""
    found = measured(dimension=3, seeds=(0,), orders=[2], multiples=[30])
    assert found["biased"].values.item() == found["rarest_outcome"].values.item() == 0.0


def test_a_seed_an_order_and_a_multiple_have_their_values_whatever_is_measured_beside_them():
    together = measured(seeds=(0, 4), orders=[1, 3, 2], multiples=[0.5, 1], repeats=3)
    alone = measured(seeds=(4,), orders=[3], multiples=[1], repeats=3)
    for name in ("smallest_eigenvalue", "biased", "limit", "reciprocal"):
        assert together[name].values[1, 1, 1] == pytest.approx(alone[name].values.item(), rel=1e-9)


def test_repeats_give_the_median_of_their_draws():
    found = measured(seeds=(0,), orders=[1], multiples=[2], repeats=3)
    values = []
    for repeat in range(3):
        generator = Streams(KEY, (0,)).at("assumption2", repeat).at("rows").generators()[0]
        values.append(np.linalg.eigvalsh(second_moment(generator.standard_normal((10, 5))))[0])
    assert len(set(values)) == 3
    assert found["smallest_eigenvalue"].values.item() == pytest.approx(np.median(values), rel=1e-9)


def test_levels_are_those_of_the_paper_at_every_order():
    """E_k for k = 1, 2, 3; D = 8, 32 and 128 features of 4 dimensions."""
    found = measured(dimension=4, orders=[1, 2, 3], multiples=[2])
    np.testing.assert_allclose(found["limit"].values[0, :, 0], [0.0908, 0.0908, 0.0643], atol=1e-4)
    np.testing.assert_allclose(found["reciprocal"].values[0, :, 0], [1 / 9, 1 / 33, 1 / 129])
    assert found["smallest_eigenvalue"].dimensions == ("seed", "order", "multiple")
    assert set(found) == set(Assumption2.MEASURES) | {"seed", "order", "multiple", "flops"}


def test_a_law_without_closed_form_is_refused():
    with pytest.raises(ValueError, match="input law 'hypercube'"):
        measured(law="hypercube")


def test_laws_side_by_side_are_each_as_it_is_alone():
    parameters = {"orders": [1, 2], "multiples": [0.5, 1], "repeats": 2}
    teacher, inputs = (
        build("teachers", {"name": "ridge_polynomial", "degree": 2}),
        build("inputs", {"name": "sphere"}, dimension=5),
    )
    problem = pose(inputs, teacher, "unit", 0.0, Streams(KEY, (0, 1)))
    both = build("probes", {"name": "assumption2_laws", "laws": ["gaussian", "sphere"], **parameters}).measure(problem)
    for i, law in enumerate(("gaussian", "sphere")):
        alone = measured(law=law, **parameters)
        for name in Assumption2.MEASURES:
            np.testing.assert_array_equal(both[name].values[:, i], alone[name].values, err_msg=f"{law} {name}")
