"""Teachers against quadrature, Monte Carlo and another library's polynomials."""

from dataclasses import replace
from itertools import pairwise
from math import sqrt

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import eval_gegenbauer, eval_hermitenorm, factorial, gamma

from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.teachers.parity import Parity
from hierlearn.teachers.ridge_polynomial import RidgePolynomial

STREAMS = Streams(("teachers",), (0, 1))


def law(name, dimension):
    return build("inputs", {"name": name}, dimension=dimension)


def sphere_mean(function, dimension):
    """E function(t) for a coordinate t of a uniform point of the sphere, by adaptive quadrature."""
    constant = gamma(dimension / 2) / (sqrt(np.pi) * gamma((dimension - 1) / 2))
    # t = cos(angle) takes the singularity of the density at d = 3 and below away.
    value, _ = quad(lambda a: function(np.cos(a)) * np.sin(a) ** (dimension - 2), 0, np.pi, epsabs=1e-12, epsrel=1e-12)
    return constant * value


def along(teacher, inputs, t):
    """The function of one direction at projections t."""
    one = replace(teacher, directions=[[1.0]], orthonormal=True)
    state = one.draw(STREAMS.take([0]), inputs)
    x = np.zeros((1, np.size(t), inputs.dimension))
    x[0, :, 0] = t
    return teacher.target(state, x)[0, :, 0]


@pytest.mark.parametrize(("dimension", "degree"), [(3, 1), (3, 4), (6, 2), (6, 5), (20, 4)])
def test_on_the_sphere_a_term_is_the_gegenbauer_polynomial_of_unit_norm(dimension, degree):
    t = np.linspace(-1, 1, 41)
    wanted = eval_gegenbauer(degree, dimension / 2 - 1, t)
    wanted /= sqrt(sphere_mean(lambda u: eval_gegenbauer(degree, dimension / 2 - 1, u) ** 2, dimension))
    found = along(RidgePolynomial(degree=degree), law("sphere", dimension), t)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("degree", [1, 3, 6])
def test_under_a_normal_law_a_term_is_the_hermite_polynomial_of_unit_norm(degree):
    t = np.linspace(-4, 4, 41)
    found = along(RidgePolynomial(degree=degree), law("gaussian", 5), t)
    np.testing.assert_allclose(found, eval_hermitenorm(degree, t) / sqrt(factorial(degree)), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("dimension", "degree"), [(3, 2), (7, 3), (12, 4)])
def test_a_monomial_has_unit_norm_on_the_sphere(dimension, degree):
    t = np.linspace(-1, 1, 11)
    wanted = t**degree / sqrt(sphere_mean(lambda u: u ** (2 * degree), dimension))
    found = along(RidgePolynomial(degree=degree, basis="monomial"), law("sphere", dimension), t)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["sphere", "gaussian"])
@pytest.mark.parametrize("basis", ["gegenbauer", "monomial"])
@pytest.mark.parametrize("orthonormal", [True, False])
def test_the_norm_of_several_terms_is_that_of_monte_carlo(name, basis, orthonormal):
    inputs = law(name, 4)
    teacher = RidgePolynomial(degree=2, basis=basis, rank=3, orthonormal=orthonormal)
    state = teacher.draw(STREAMS, inputs)
    squares = teacher.target(state, inputs.sample(STREAMS, "norm", 0, 60_000))[..., 0] ** 2
    error = squares.std(axis=1) / sqrt(squares.shape[1])
    assert np.all(np.abs(squares.mean(axis=1) - teacher.norm(state, inputs) ** 2) < 4 * error)


def test_terms_of_one_degree_in_orthonormal_directions_have_unit_norm_together():
    """Ridge functions of degree p correlate as P_p(<b, b'>): nearly nothing in high dimension, exactly 1 alone."""
    teacher = RidgePolynomial(degree=4, rank=1)
    inputs = law("sphere", 6)
    assert teacher.norm(teacher.draw(STREAMS, inputs), inputs) == pytest.approx(1.0, abs=1e-12)


def test_a_gegenbauer_target_has_no_component_of_lower_degree():
    for low, high in pairwise(range(5)):

        def product(t, low=low, high=high):
            return along(RidgePolynomial(degree=high), law("sphere", 5), np.array([t]))[0] * t**low

        assert abs(sphere_mean(product, 5)) < 1e-10


def test_directions_are_orthonormal_unless_asked_otherwise():
    inputs = law("sphere", 7)
    directions = RidgePolynomial(rank=5).draw(STREAMS, inputs)["directions"]
    np.testing.assert_allclose(directions @ np.swapaxes(directions, 1, 2), np.stack([np.eye(5)] * 2), atol=1e-12)
    free = RidgePolynomial(rank=9, orthonormal=False).draw(STREAMS, inputs)["directions"]
    np.testing.assert_allclose(np.linalg.norm(free, axis=-1), 1.0, rtol=1e-12)


def test_more_orthonormal_directions_than_dimensions_are_refused():
    with pytest.raises(ValueError, match="rank 5; expected at most the dimension 4"):
        RidgePolynomial(rank=5).draw(STREAMS, law("sphere", 4))


def test_the_bases_are_the_polynomials_up_to_half_the_degree():
    inputs = law("sphere", 6)
    teacher = RidgePolynomial(degree=5, rank=2)
    state, x = teacher.draw(STREAMS, inputs), inputs.sample(STREAMS, "bases", 0, 20_000)
    bases = teacher.bases(state, x)
    assert bases.shape == (2, 20_000, 6)
    t = np.einsum("snd,sd->sn", x.astype(float), state["directions"][:, 1])
    constant = sqrt(sphere_mean(lambda u: eval_gegenbauer(3, 2, u) ** 2, 6))
    np.testing.assert_allclose(bases[..., 5], eval_gegenbauer(3, 2, t) / constant, rtol=1e-6, atol=1e-6)


def test_a_parity_is_the_product_of_its_coordinates():
    inputs = law("hypercube", 6)
    teacher = Parity(order=3)
    state, x = teacher.draw(STREAMS, inputs), inputs.sample(STREAMS, "parity", 0, 200)
    target = teacher.target(state, x)
    assert set(np.unique(target)) == {-1.0, 1.0}
    for seed in range(2):
        chosen = x[seed][:, state["coordinates"][seed]].astype(float)
        np.testing.assert_allclose(target[seed, :, 0], 6**1.5 * np.prod(chosen, axis=1), rtol=1e-5)
        assert len(set(state["coordinates"][seed])) == 3


def test_a_parity_correlates_with_no_smaller_one():
    inputs = law("hypercube", 4)
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * 4)).reshape(4, 16).T / 2
    state = Parity(order=3).draw(STREAMS, inputs)
    target = Parity(order=3).target(state, np.stack([signs, signs]))
    np.testing.assert_allclose(np.mean(target * signs, axis=1), 0.0, atol=1e-12)


def test_a_parity_of_more_coordinates_than_there_are_is_refused():
    with pytest.raises(ValueError, match="order 5; expected at most the dimension 4"):
        Parity(order=5).draw(STREAMS, law("hypercube", 4))


def test_given_directions_coefficients_and_length_make_the_named_polynomial():
    teacher = RidgePolynomial(
        degree=2, basis="monomial", directions=[[3.0], [1.0, 1.0]], coefficients=[2.0, -1.0], length=1.5
    )
    inputs = law("gaussian", 4)
    state, x = teacher.draw(STREAMS, inputs), inputs.sample(STREAMS, "test", 0, 200_000).astype(np.float64)
    wanted = 1.5**2 * (2.0 * x[..., 0] ** 2 - 0.5 * (x[..., 0] + x[..., 1]) ** 2) / sqrt(3)
    np.testing.assert_allclose(teacher.target(state, x)[..., 0], wanted, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(teacher.norm(state, inputs), np.sqrt(np.mean(wanted**2, axis=1)), rtol=0.02)


def test_directions_and_coefficients_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="coefficients 1 of them; expected 2"):
        RidgePolynomial(rank=2, coefficients=[1.0]).draw(STREAMS, law("sphere", 4))
    with pytest.raises(ValueError, match="more entries than coordinates; expected at most the dimension 4"):
        RidgePolynomial(directions=[[1.0] * 5]).draw(STREAMS, law("sphere", 4))


def test_on_the_anisotropic_sphere_a_power_has_the_norm_of_many_points():
    inputs = build("inputs", {"name": "anisotropic_sphere", "spectrum": "spiked"}, dimension=12)
    teacher = RidgePolynomial(degree=2, basis="monomial")
    state = teacher.draw(STREAMS, inputs)
    target = teacher.target(state, inputs.sample(STREAMS, "test", 0, 200_000))[..., 0]
    np.testing.assert_allclose(teacher.norm(state, inputs), np.sqrt(np.mean(target**2, axis=1)), rtol=0.02)
    with pytest.raises(ValueError, match="expected monomial"):
        RidgePolynomial(degree=2).draw(STREAMS, inputs)
