"""The coupling probe and its sums, against enumeration of every outcome, automatic differentiation and limits."""

from itertools import product
from math import factorial

import numpy as np
import pytest
import torch

from hierlearn.core.problem import pose
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.pipeline.measurements import coupling as module
from hierlearn.theory.activations import derivative
from hierlearn.theory.randomisation import Sums, laws

SIGMA = {
    "relu3": lambda t: torch.relu(t) ** 3 / 6,
    "relu2": lambda t: torch.relu(t) ** 2 / 2,
    "erf": torch.erf,
    "softplus": torch.nn.functional.softplus,
}


def problem(dimension=6, seeds=(0, 1), law="sphere"):
    inputs = build("inputs", {"name": law}, dimension=dimension)
    kind = {"name": "parity"} if law == "hypercube" else {"name": "ridge_polynomial", "degree": 2}
    return pose(inputs, build("teachers", kind), "unit", 0.0, Streams(("coupling",), seeds))


def probe(**parameters):
    return build("probes", {"name": "coupling", **parameters})


def taylor(sigma, before, moved, order):
    """f and f^(0) .. f^(k) at points: sigma(t + s) and d^j/du^j sigma(t + u s) / j! at u = 0, summed over neurons."""
    u = torch.zeros(before.shape, dtype=torch.float64, requires_grad=True)
    value = sigma(before + u * moved)
    terms = []
    for j in range(order + 1):
        terms.append(value.detach().numpy() / factorial(j))
        if j < order:
            (value,) = torch.autograd.grad(value.sum(), u, create_graph=True)
    return sigma(before + moved).detach().numpy(), terms


@pytest.mark.parametrize("shared", [True, False], ids=["aligned", "random"])
@pytest.mark.parametrize(
    ("activation", "order", "randomisation"),
    [
        ("relu3", 2, "signs"),
        ("relu2", 2, "signs"),
        ("relu3", 2, "equal"),
        ("erf", 3, "signs"),
        ("erf", 3, "equal"),
        ("softplus", 2, "tight"),
        ("erf", 3, "tight"),
        ("erf", 3, "matched"),
    ],
)
def test_sizes_are_those_of_all_outcomes_listed(activation, order, randomisation, shared):
    """A network of 2 x 3 neurons has 64 outcomes or fewer."""
    rng, points, pairs = np.random.default_rng(5), 4, 3
    width, multipliers = 2 * pairs, laws(randomisation, order)
    before = rng.standard_normal((points, pairs))
    movements = [rng.standard_normal((points, 1 if shared else pairs)) for _ in range(2)]
    drawn = [rng.integers(0, len(law.values), (pairs, 5)) for law in multipliers]

    derivatives = [derivative(activation, j) for j in range(order + 1)]
    sums = Sums(order, points, draws=5)
    # In two parts, as blocks of neurons are.
    for part in (slice(0, 2), slice(2, 3)):
        gates = [of(before[:, part]) for of in derivatives]
        for sign, moved, law, outcomes in zip((1.0, -1.0), movements, multipliers, drawn, strict=True):
            moved = moved if shared else moved[:, part]
            sums.add(derivatives[0], gates, before[:, part], moved, sign, law, outcomes[part])
    terms_found, sizes = sums.sizes(width)

    signs = np.repeat([1.0, -1.0], pairs)
    twice = torch.tensor(np.concatenate([before, before], axis=1))
    full = [np.broadcast_to(moved, before.shape) for moved in movements]

    def network(outcomes):
        """f^(j) for j = 0 .. k, and f, (k + 2, points)."""
        z = np.concatenate([law.values[i] for law, i in zip(multipliers, outcomes, strict=True)])
        value, terms = taylor(SIGMA[activation], twice, torch.tensor(np.concatenate(full, axis=1) * z), order)
        return np.stack([part @ signs / np.sqrt(width) for part in (*terms, value)])

    choices = [list(product(range(len(law.values)), repeat=pairs)) for law in multipliers]
    mean = np.zeros((order + 2, points))
    largest = np.zeros(points)
    for outcomes in product(*choices):
        outcomes = [np.array(half) for half in outcomes]
        chance = np.prod([law.probabilities[half].prod() for law, half in zip(multipliers, outcomes, strict=True)])
        *terms, value = network(outcomes)
        rest = value - np.sum(terms, axis=0)
        mean += chance * np.square([*terms[1:], rest, value - terms[0] - terms[order]])
        largest = np.maximum(largest, np.abs(rest))
    expected = np.sqrt(np.mean(mean, axis=1))
    np.testing.assert_allclose(terms_found, expected[:order], rtol=1e-9)
    assert sizes["remainder"] == pytest.approx(expected[order], rel=1e-8)
    assert sizes["distance"] == pytest.approx(expected[order + 1], rel=1e-8)
    assert sizes["worst_remainder"] == pytest.approx(np.max(largest), rel=1e-8)

    errors = []
    for i in range(5):
        *terms, value = network([half[:, i] for half in drawn])
        errors.append(np.max(np.abs(value - terms[0] - terms[order])))
    assert sizes["one_draw_error"] == pytest.approx(np.mean(errors), rel=1e-9)


def test_wide_aligned_networks_have_the_sizes_of_the_limit():
    """With sigma'' = step: E f^(1)^2 = E relu(g)^2 E <b, x>^2 / sqrt(m), f^(2) = (<b, x>^2 - <b', x>^2) / 8."""
    dimension, width = 5, 4000
    measured = probe(activation="relu2", widths=[width], points=600).measure(problem(dimension, seeds=(0, 1, 2)))
    first, second = (measured[name].values[:, 0] for name in ("linear", "quadratic"))
    np.testing.assert_allclose(first * width**0.25, np.sqrt(0.5 / dimension), rtol=0.1)
    np.testing.assert_allclose(second, np.sqrt(4 / (dimension * (dimension + 2))) / 8, rtol=0.15)


def test_the_dominant_term_of_order_three_is_that_of_the_limit():
    """E sin'''(g + c) = -exp(-1/2) cos c, and E <b, x>^6 = 15 / (d (d + 2) (d + 4))."""
    dimension, shift = 4, 0.8
    options = {"order": 3, "activation": "sin", "shift": shift, "randomisation": "tight"}
    measured = probe(**options, widths=[6000], points=600).measure(problem(dimension, seeds=(0, 1, 2)))
    expected = np.exp(-0.5) * np.cos(shift) / 12 * np.sqrt(15 / (dimension * (dimension + 2) * (dimension + 4)))
    np.testing.assert_allclose(measured["cubic"].values[:, 0], expected, rtol=0.2)


@pytest.mark.parametrize(
    ("order", "activation", "chosen", "rival", "term", "exponent"),
    [
        (2, "relu3", "signs", "equal", "linear", 1 / 4),
        (3, "erf", "tight", "signs", "quadratic", 1 / 6),
        (3, "erf", "tight", "equal", "linear", 1 / 3),
    ],
)
def test_a_term_below_the_order_grows_where_the_multipliers_leave_it(order, activation, chosen, rival, term, exponent):
    """Aligned f^(j) is of order m^{1/2 - j/(2k)} where z leaves it: j = 1 of all equal, j = 2 of signs."""
    widths, options = [1000, 8000], {"order": order, "activation": activation, "shift": 0.8 if order == 3 else 0.0}
    far, near = (probe(**options, randomisation=name, widths=widths).measure(problem()) for name in (rival, chosen))
    growth = np.log(far[term].values[:, 1] / far[term].values[:, 0]) / np.log(8)
    np.testing.assert_allclose(growth, exponent, atol=0.03)
    assert np.all(far["distance"].values[:, 1] > far["distance"].values[:, 0])
    assert np.all(near["distance"].values[:, 1] < 0.8 * near["distance"].values[:, 0])


def test_the_whole_remainder_is_below_the_bound_of_its_lipschitz_constant():
    """sigma = relu^3 / 6 has a second derivative with constant 1: the remainder is below m^{-1/4} / 6 (Lemma 11b)."""
    for weights in ("aligned", "random"):
        for law in ("sphere", "hypercube"):
            measured = probe(weights=weights, widths=[10, 200]).measure(problem(law=law))
            bound = np.array([10, 200]) ** -0.25 / 6
            assert np.all(measured["worst_remainder"].values <= bound)
            assert np.all(measured["remainder"].values <= measured["worst_remainder"].values)


def test_a_width_and_a_seed_have_their_values_whatever_is_measured_beside_them(monkeypatch):
    options = {"weights": "random", "points": 5, "draws": 2}
    together = probe(widths=[8, 40], **options).measure(problem(seeds=(0, 1)))
    alone = probe(widths=[40], **options).measure(problem(seeds=(1,)))
    monkeypatch.setattr(module, "BLOCK_ROWS", 7)
    blocks = probe(widths=[8, 40], **options).measure(problem(seeds=(0, 1)))
    for name in ("linear", "quadratic", "remainder", "distance", "worst_remainder", "one_draw_error"):
        assert np.array_equal(alone[name].values[0, 0], together[name].values[1, 1])
        np.testing.assert_allclose(blocks[name].values, together[name].values, rtol=1e-9)
        assert not np.allclose(together[name].values[0], together[name].values[1], rtol=1e-3)


def test_variables_carry_their_dimensions_units_and_counts():
    measured = probe(widths=[40, 8], points=5).measure(problem())
    assert set(module.Coupling.MEASURES) < set(measured)
    assert all(measured[name].attributes["units"] == "1" for name in module.Coupling.MEASURES)
    assert {measured[name].dimensions for name in module.Coupling.MEASURES} == {("seed", "width")}
    assert np.isnan(measured["cubic"].values).all()
    remainder, slope = measured["remainder"].values, measured["remainder_slope"].values
    np.testing.assert_allclose(remainder[:, 1] * 5 ** slope[:, 0], remainder[:, 0])
    assert np.isnan(slope[:, 1]).all()
    # 5 points times 4 and 20 pairs in 6 dimensions.
    assert np.array_equal(measured["flops"].values, np.full(2, 2 * 5 * 24 * 6))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"activation": "relu3", "order": 3, "randomisation": "tight"}, "'relu3' with order 3 and tight; expected an"),
        ({"activation": "relu3", "randomisation": "tight"}, "expected an analytic one"),
        ({"activation": "erf"}, r"f\^\(2\) of 'erf' with shift 0.0 cancels over w0"),
    ],
)
def test_what_has_no_such_term_is_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        probe(**parameters).measure(problem())


def test_points_of_another_norm_are_refused():
    with pytest.raises(ValueError, match="input law 'gaussian'; expected one of sphere"):
        probe().measure(problem(law="gaussian"))
