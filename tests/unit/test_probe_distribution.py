"""Isotropy, degree preservation and hypercontractivity: closed forms of normal points, and laws that lack them."""

import numpy as np
import pytest
from scipy.stats import norm

from hierlearn.core.problem import pose
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.inputs.anisotropic_sphere import AnisotropicSphere
from hierlearn.inputs.gaussian import Gaussian
from hierlearn.inputs.gaussian_mixture import GaussianMixture
from hierlearn.inputs.gaussian_scales import GaussianScales
from hierlearn.inputs.hypercube import Hypercube
from hierlearn.inputs.sphere import Sphere
from hierlearn.inputs.uniform import Uniform
from hierlearn.pipeline.measurements.distribution import Distribution
from hierlearn.theory.distributions import (
    heaviest,
    hypercontractive_bound,
    isotropy,
    moment_ratios,
    monomials,
    rule,
    top_share,
    variables,
)

LAWS = {
    "gaussian": Gaussian(1),
    "uniform": Uniform(1),
    "mixture": GaussianMixture(1),
    "unequal": GaussianMixture(1, components=2, condition=9, row_norms="unequal"),
    "cube": Hypercube(1),
    "sphere": Sphere(1),
    "spiked": AnisotropicSphere(1),
    "scales": GaussianScales(1),
}


@pytest.fixture(scope="module")
def measured():
    def at(dimension):
        problem = pose(
            build("inputs", {"name": "sphere"}, dimension=dimension),
            build("teachers", {"name": "ridge_polynomial"}),
            "unit",
            0.0,
            Streams(("distribution",), (0, 1)),
        )
        probe = Distribution(laws=LAWS, degrees=[1, 2], points=20_000, monomials=50)
        return {name: variable.values for name, variable in probe.measure(problem).items()}

    return {d: at(d) for d in (8, 24)}


def of(found, name, law, degree=None):
    values = found[name][..., list(LAWS).index(law), :] if degree else found[name][..., list(LAWS).index(law)]
    return values[..., degree - 1] if degree else values


def test_normal_and_uniform_points_have_the_constants_of_their_moments(measured):
    for found in measured.values():
        np.testing.assert_allclose(of(found, "isotropy", "gaussian"), 1.0, atol=0.05)
        np.testing.assert_allclose(of(found, "isotropy_of_squares", "gaussian"), 2.0, atol=0.15)
        np.testing.assert_allclose(of(found, "isotropy_of_squares", "uniform"), 0.8, atol=0.05)
        np.testing.assert_allclose(of(found, "top_share", "gaussian", 2), 1.0, atol=0.08)
        np.testing.assert_allclose(of(found, "top_share", "uniform", 2), 0.8, atol=0.05)
        np.testing.assert_allclose(of(found, "worst_moment_ratio", "gaussian", 1), 3.0, rtol=0.1)
        assert np.all(of(found, "worst_moment_ratio", "gaussian", 2) > 10)


def test_a_share_on_the_points_that_chose_it_is_below_that_on_fresh_ones(measured):
    for found in measured.values():
        assert np.all(of(found, "top_share_below", "gaussian", 2) < of(found, "top_share", "gaussian", 2))


def test_mixtures_keep_their_bounds_and_are_isotropic_only_with_equal_rows(measured):
    small, large = measured[8], measured[24]
    for found in measured.values():
        for degree in (1, 2):
            assert np.all(
                of(found, "top_share", "mixture", degree) >= of(found, "guaranteed_top_share", "mixture", degree)
            )
            bound = of(found, "hypercontractive_bound", "mixture", degree)
            assert bound == 4 * 9**degree
            assert np.all(of(found, "worst_moment_ratio", "mixture", degree) <= bound)
        assert np.all(of(found, "isotropy_of_squares", "mixture") < of(found, "mixture_isotropy", "mixture"))
        assert np.all(of(found, "mixture_isotropy", "mixture") < 3.8)
        assert np.isnan(of(found, "mixture_isotropy", "uniform")).all()
    ratio = of(large, "isotropy_of_squares", "unequal") / of(small, "isotropy_of_squares", "unequal")
    # 0.64 d + 2 * 1.64
    np.testing.assert_allclose(ratio, (0.64 * 24 + 3.28) / (0.64 * 8 + 3.28), rtol=0.1)


def test_laws_that_lack_a_property_are_found_out(measured):
    found = measured[8]
    assert np.all(of(found, "top_share", "cube", 2) < 1e-10)
    assert np.all(of(found, "top_share", "sphere", 2) < 1e-10)
    assert np.all(of(found, "isotropy_of_squares", "cube") < 1e-10)
    assert np.all(of(measured[24], "isotropy", "spiked") > 4)


def test_rare_points_of_a_large_scale_break_the_bound_of_normal_laws_alone(measured):
    for found in measured.values():
        assert np.array_equal(found["normal_bound"], [9.0, 81.0])
        assert np.all(of(found, "worst_moment_ratio", "gaussian", 2) < 81)
        assert np.all(of(found, "worst_moment_ratio", "scales", 2) > 81)
        # For linear functions E f^4 is 3 E s^4 of the scales.
        s = np.array([20.0, 1.0]) ** 2 / (0.01 * 400 + 0.99)
        wanted = 3 * (0.01 * s[0] ** 2 + 0.99 * s[1] ** 2)
        np.testing.assert_allclose(of(found, "moment_ratio", "scales", 1), wanted, rtol=0.3)


def test_no_polynomial_of_normal_points_is_heavier_than_the_bound_however_few_points_there_are():
    problem = pose(Gaussian(3), build("teachers", {"name": "ridge_polynomial"}), "unit", 0.0, Streams(("few",), (0, 1)))
    found = Distribution(laws={"gaussian": Gaussian(1)}, degrees=[1, 4], points=400).measure(problem)
    heaviest_of_all = found["worst_moment_ratio"].values
    np.testing.assert_allclose(heaviest_of_all[:, 0, 0], 3.0, rtol=1e-4)
    hermite = np.polynomial.hermite_e.herme2poly([0, 0, 0, 0, 1])
    nodes, masses = rule("gaussian", 16)
    of_hermite = moment_ratios(monomials(nodes[:, None], 4)[0], hermite[:, None], masses)[0]
    assert np.all(heaviest_of_all[:, 0, 1] < hypercontractive_bound(4))
    assert np.all(heaviest_of_all[:, 0, 1] < 1.5 * of_hermite)


def test_a_seed_is_measured_alike_whoever_else_is(measured):
    problem = pose(
        build("inputs", {"name": "sphere"}, dimension=8),
        build("teachers", {"name": "ridge_polynomial"}),
        "unit",
        0.0,
        Streams(("distribution",), (1,)),
    )
    alone = Distribution(laws={"cube": Hypercube(1), "gaussian": Gaussian(1)}, points=20_000, monomials=50)
    values = alone.measure(problem)
    assert values["top_share"].values[0, 1, 1] == of(measured[8], "top_share", "gaussian", 2)[1]


def test_the_direction_of_most_variance_is_found():
    generator = np.random.default_rng(0)
    mixing = np.diag([1.0, 2.0, 0.5])
    x, fresh = (generator.standard_normal((50_000, 3)) @ mixing for _ in range(2))
    assert isotropy(x, fresh) == pytest.approx((4.0, 2 * 16.0), rel=0.06)


def test_all_monomials_are_there_once():
    x = np.array([[2.0, 3.0], [5.0, 7.0]])
    values, orders = monomials(x, 2)
    np.testing.assert_array_equal(values[0], [1, 2, 3, 4, 6, 9])
    np.testing.assert_array_equal(values[1], [1, 5, 7, 25, 35, 49])
    np.testing.assert_array_equal(orders, [0, 1, 1, 2, 2, 2])
    assert variables(30, 2, 45) == 8
    assert variables(3, 2, 45) == 3


def test_a_polynomial_hidden_behind_lower_degrees_has_no_share():
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (4000, 3))
    assert top_share(*(monomials(half, 2)[0] for half in np.split(signs, 2)), monomials(signs, 2)[1]) == (
        pytest.approx(0.0, abs=1e-12),
        pytest.approx(0.0, abs=1e-12),
    )


def test_the_heaviest_polynomials_are_those_of_one_normal_coordinate():
    generator = np.random.default_rng(3)
    for degree in (1, 2, 3):
        # Many points of equal mass, further apart the further out.
        nodes = norm.ppf((np.arange(40_000) + 0.5) / 40_000)
        values, _ = monomials(nodes[:, None], degree)
        starts = generator.standard_normal((degree + 1, 6))
        before, found = moment_ratios(values, starts), heaviest(values, starts)
        after = moment_ratios(values, found)
        assert np.all(after >= before - 1e-9)
        hermite = np.polynomial.hermite_e.herme2poly([0] * degree + [1])
        assert after.max() >= 0.99 * moment_ratios(values, hermite[:, None])[0]
        assert after.max() <= hypercontractive_bound(degree)
    nodes, masses = rule("gaussian", 4)
    linear = moment_ratios(np.stack([nodes], axis=1), np.ones((1, 1)), masses)
    assert linear[0] == pytest.approx(3.0)
