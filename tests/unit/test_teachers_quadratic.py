"""Quadratic DenseNets and the two toys: against plain loops, points and exact sums."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

from hierlearn.core.problem import pose
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.teachers import quadratic_densenet
from hierlearn.teachers.quadratic_densenet import QuadraticDensenet
from hierlearn.teachers.quadratic_toy import QuadraticToy
from hierlearn.theory.distributions import grid

STREAMS = Streams(("quadratic",), (0, 1))


def law(name="uniform", dimension=7, **given):
    return build("inputs", {"name": name} | given, dimension=dimension)


def posed(inputs, teacher, count=20):
    state = teacher.draw(STREAMS, inputs)
    return state, inputs.sample(STREAMS.at("points"), "test", 0, count)


def within(squares, expected, errors=5):
    """Whether means (S,) of samples (S, n) are within some standard errors of what is expected."""
    spread = squares.std(axis=1) / np.sqrt(squares.shape[1])
    return np.all(np.abs(squares.mean(axis=1) - expected) < errors * spread)


def test_the_target_is_the_recursion_of_the_paper():
    graph = [[0, 1], [0, 2], [0, 1, 3]]
    teacher = QuadraticDensenet(depth=4, widths=[4, 3, 2], graph=graph, alphas=[1, 0.5, 0.3], kappa=2)
    state, x = posed(law(), teacher)
    target, hidden = teacher.target(state, x), teacher.hidden(state, x)
    for seed in range(2):
        for point in range(20):
            z = x[seed, point].astype(float)
            seen, total = [z, z**2 - 1.0], 0.0
            for layer, (sources, alpha) in enumerate(zip(graph, [1, 0.5, 0.3], strict=True), start=2):
                s = sum(state[f"weights_{layer}_{j}"][seed] @ seen[j] for j in sources)
                np.testing.assert_allclose(hidden[f"S_{layer}"][seed, point], s, rtol=1e-9)
                seen.append(s**2)
                total += alpha * np.sum(s**2)
            assert target[seed, point, 0] == pytest.approx(total)


def test_parts_sum_to_the_target_layer_by_layer():
    teacher = QuadraticDensenet(depth=3, gap=0.3)
    state, x = posed(law(), teacher)
    parts = teacher.parts(state, x)
    assert list(parts) == ["layer_2", "layer_3"]
    np.testing.assert_allclose(sum(parts.values()), teacher.target(state, x))
    np.testing.assert_allclose(parts["layer_3"][..., 0], 0.3 * np.sum(teacher.hidden(state, x)["S_3"] ** 2, axis=-1))


@pytest.mark.parametrize("kappa", [1, 3])
def test_singular_values_lie_between_one_over_kappa_and_kappa(kappa):
    teacher = QuadraticDensenet(depth=4, widths=[5, 3, 2], kappa=kappa, features="drawn")
    state, _ = posed(law(), teacher)
    for name in ("weights_2_0", "weights_2_1", "weights_3_2", "weights_4_0"):
        values = np.linalg.svd(state[name], compute_uv=False)
        assert values.min() >= 1 / kappa - 1e-12
        assert values.max() <= kappa + 1e-12
    spread = np.ptp(np.linalg.svd(state["weights_2_0"], compute_uv=False))
    assert spread > 0.3 if kappa > 1 else spread < 1e-12


@pytest.mark.parametrize(("name", "depth"), [("gaussian", 2), ("uniform", 3), ("gaussian_mixture", 2)])
def test_unit_features_have_variance_one_and_keep_the_condition_of_their_layer(name, depth):
    inputs = law(name)
    teacher, drawn = QuadraticDensenet(depth=depth), QuadraticDensenet(depth=depth, features="drawn")
    state, x = posed(inputs, teacher, 100_000)
    for feature in teacher.hidden(state, x).values():
        np.testing.assert_allclose(np.mean(np.var(feature, axis=1), axis=-1), 1.0, rtol=0.03)
    plain = drawn.draw(STREAMS, inputs)
    ratio = state["weights_2_0"] / plain["weights_2_0"]
    np.testing.assert_allclose(ratio, ratio[:, :1, :1] * np.ones_like(ratio), rtol=1e-9)
    np.testing.assert_allclose(state["weights_2_1"] / plain["weights_2_1"], ratio, rtol=1e-9)


@pytest.mark.parametrize("name", ["gaussian", "uniform", "skewed"])
@pytest.mark.parametrize("graph", [[[0, 1]], [[1]], [[0]]])
def test_norms_of_one_layer_are_exact(name, graph):
    inputs, teacher = law(name, 5), QuadraticDensenet(depth=2, widths=[3], graph=graph, kappa=2)
    state, x = posed(inputs, teacher, 100_000)
    assert np.all(state["norm_error"] == 0)
    target = teacher.target(state, x)[..., 0]
    assert within(target, state["mean"])
    assert within(target**2, teacher.norm(state, inputs) ** 2)


def test_sampled_norms_have_the_error_that_they_state():
    inputs, teacher = law(dimension=9), QuadraticDensenet(depth=3)
    state, x = posed(inputs, teacher, 200_000)
    squares = teacher.target(state, x)[..., 0] ** 2
    assert np.all((state["norm_error"] > 1e-3) & (state["norm_error"] < 5e-3))
    own = squares.std(axis=1) / squares.mean(axis=1) / 2 / np.sqrt(squares.shape[1])
    ratio = np.sqrt(squares.mean(axis=1)) / teacher.norm(state, inputs)
    assert np.all(np.abs(ratio - 1) < 5 * np.hypot(own, state["norm_error"]))


def test_a_norm_that_hangs_on_single_points_is_of_more_of_them(monkeypatch):
    inputs, teacher = law("gaussian", 6), QuadraticDensenet(depth=3, widths=[2, 2], kappa=3)
    streams = Streams(("quadratic",), (0, 3, 10))
    more = teacher.draw(streams, inputs)
    monkeypatch.setattr(quadratic_densenet, "MOST_POINTS", 0)
    usual = teacher.draw(streams, inputs)
    heavy = usual["norm_error"] > quadratic_densenet.MOST_ERROR
    assert heavy.any() and not heavy.all()
    assert np.all(more["norm_error"][heavy] < usual["norm_error"][heavy])
    assert np.array_equal(more["second_moment"] != usual["second_moment"], heavy)
    assert np.array_equal(more["weights_3_2"], usual["weights_3_2"])


def test_the_moments_of_layers_are_those_of_other_points():
    inputs, teacher = law(dimension=9), QuadraticDensenet(depth=3, widths=[4, 2])
    state, x = posed(inputs, teacher, 100_000)
    sums = np.stack([np.sum(one**2, axis=-1) for one in teacher.hidden(state, x).values()], axis=-1)
    np.testing.assert_allclose(sums.mean(axis=1), state["layer_means"], rtol=0.02)
    covariance = np.stack([np.cov(one.T) for one in sums])
    np.testing.assert_allclose(covariance, state["layer_covariance"], rtol=0.05)
    np.testing.assert_allclose(state["mean"], np.sum(state["alphas"] * state["layer_means"], axis=1))


def test_weights_by_variance_give_the_layers_their_shares():
    inputs, teacher = law(), QuadraticDensenet(depth=3, alphas=[1, 0.25], alpha_by="variance")
    state, x = posed(inputs, teacher, 100_000)
    parts = teacher.parts(state, x)
    np.testing.assert_allclose(state["alphas"][:, 0], 1.0)
    shares = np.var(parts["layer_3"][..., 0], axis=1) / np.var(parts["layer_2"][..., 0], axis=1)
    np.testing.assert_allclose(shares, 0.25, rtol=0.05)


def test_a_layer_of_weight_zero_is_left_out():
    teacher = QuadraticDensenet(depth=3, alphas=[0, 1])
    state, x = posed(law(), teacher)
    assert np.all(teacher.parts(state, x)["layer_2"] == 0)
    np.testing.assert_allclose(teacher.target(state, x), teacher.parts(state, x)["layer_3"])


def test_classes_are_the_sign_above_a_normal_threshold_with_a_target_of_variance_one():
    inputs, teacher = law("gaussian", 9), QuadraticDensenet(depth=3, kind="classes", gap=0.02)
    state, x = posed(inputs, teacher, 100_000)
    parts = teacher.parts(state, x)
    threshold, rest = parts["threshold"][..., 0], parts["layer_2"][..., 0] + parts["layer_3"][..., 0]
    # both this and the variance that the teacher was scaled by are means of eighth powers of normal points
    np.testing.assert_allclose(rest.var(axis=1), 1.0, rtol=0.15)
    assert within(threshold, -state["mean"])
    np.testing.assert_allclose(threshold.var(axis=1), 1.0, rtol=0.02)
    correlations = [np.corrcoef(one, other)[0, 1] for one, other in zip(threshold, rest, strict=True)]
    assert np.all(np.abs(correlations) < 5 / np.sqrt(100_000))
    assert np.array_equal(teacher.target(state, x)[..., 0], np.where(threshold + rest < 0, -1.0, 1.0))
    assert 0.3 < np.mean(teacher.target(state, x) > 0) < 0.7
    np.testing.assert_allclose(state["alphas"][:, 1] / state["alphas"][:, 0], 0.02)
    assert state["weights_2_0"].shape[-1] == 8


def test_what_the_check_refuses_is_refused_without_it():
    for given, words in (
        ({"graph": [[0, 1], [1, 2]]}, "graph J_3 = {1, 2}"),
        ({"widths": [2, 3]}, "widths 2 then 3 at layer 3"),
        ({"kind": "classes"}, "kind 'classes' with law 'uniform'"),
    ):
        with pytest.raises(ValueError, match=words.replace("{", r"\{").replace("}", r"\}")):
            QuadraticDensenet(**given).draw(STREAMS, law())


@pytest.mark.parametrize("instance", ["toy_quartic", "toy_two_level"])
def test_toys_are_the_polynomials_of_the_paper_on_some_coordinates(instance):
    inputs, teacher = law(dimension=6), QuadraticToy(instance=instance, alpha=0.3)
    state, x = posed(inputs, teacher)
    for seed in range(2):
        u = x[seed].astype(float)[:, state["coordinates"][seed]].T
        if instance == "toy_quartic":
            wanted = u[0] ** 2 + 2 * u[1] ** 2 + 0.3 * (u[0] ** 2 + 2 * u[1] ** 2 + u[2]) ** 2
        else:
            wanted = u[0] ** 4 + u[1] ** 4 + 0.3 * ((u[0] ** 4 + u[2]) ** 2 + (u[1] ** 4 + u[3]) ** 2)
        np.testing.assert_allclose(teacher.target(state, x)[seed, :, 0], wanted, rtol=1e-9)
        assert [teacher.hidden(state, x)[f"S_{2 + i}"].shape[-1] for i in (0, 1)] == list(teacher.layer_widths)


@pytest.mark.parametrize(("name", "instance"), [("gaussian", "toy_quartic"), ("uniform", "toy_two_level")])
def test_norms_of_toys_are_exact(name, instance):
    inputs, teacher = law(name), QuadraticToy(instance=instance)
    state, x = posed(inputs, teacher, 100_000)
    assert within(teacher.target(state, x)[..., 0] ** 2, teacher.norm(state, inputs) ** 2)
    assert pose(inputs, teacher, "unit", 0.0, STREAMS).factor == pytest.approx(1 / teacher.norm(state, inputs))


@pytest.mark.parametrize("instance", ["toy_quartic", "toy_two_level"])
def test_a_toy_by_variance_has_the_variances_that_it_says(instance):
    inputs, teacher = law("uniform"), QuadraticToy(instance=instance, alpha=0.3, alpha_by="variance")
    state, x = posed(inputs, teacher, 100_000)
    lower, higher = (np.var(part[..., 0], axis=1) for part in teacher.parts(state, x).values())
    np.testing.assert_allclose(higher / lower, 0.3, rtol=0.03)
    assert within(teacher.target(state, x)[..., 0] ** 2, teacher.norm(state, inputs) ** 2)


def best_quadratic(function, law, variables, degree, power=1):
    """The polynomial of degree 2 that is nearest to a function of few coordinates, in mean square.

    function: (n, variables) -> (n,), a polynomial of the given degree. Returns {(): constant, (i,): coefficient of
    x_i, (i, j): coefficient of x_i x_j, i <= j}.
    """
    points, masses = grid(law, variables, degree + 2, power)
    terms = [powers for order in range(3) for powers in combinations_with_replacement(range(variables), order)]
    columns = np.stack([np.prod(points[:, list(powers)], axis=1) for powers in terms], axis=1)
    root = np.sqrt(masses)
    found, *_ = np.linalg.lstsq(root[:, None] * columns, root * function(points), rcond=None)
    return dict(zip(terms, found.tolist(), strict=True))


def test_the_quartic_toy_leaks_into_a_product_only_where_coordinates_are_skewed():
    toy, state = (
        QuadraticToy(instance="toy_quartic"),
        {"coordinates": np.arange(3)[None], "alphas": np.array([[1, 0.1]])},
    )

    def value(u):
        return toy.target(state, u[None])[0, :, 0]

    for name in ("gaussian", "uniform"):
        found = best_quadratic(value, name, 3, 4)
        assert found[0, 2] == pytest.approx(0, abs=1e-9)
        assert found[2, 2] == pytest.approx(0.1)
    # x_1^2 x_3 has the coefficient E x_1^3 along x_1 x_3, twice alpha of it in the toy
    skewness = np.mean(law("skewed", 50).sample(STREAMS, "test", 0, 20_000).astype(float) ** 3)
    found = best_quadratic(value, "skewed", 3, 4, 4)
    assert found[0, 2] == pytest.approx(2 * 0.1 * skewness, rel=0.02)
    assert found[1, 2] == pytest.approx(2 * found[0, 2])


def test_a_toy_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="dimension 3; expected at least 4"):
        QuadraticToy(instance="toy_two_level").draw(STREAMS, law(dimension=3))
    with pytest.raises(ValueError, match="gaussian of norm unit"):
        QuadraticToy().draw(STREAMS, law("gaussian", norm="unit"))


@pytest.mark.parametrize("kind", ["wave", "target", "heavy"])
def test_a_misfit_has_its_size_and_is_what_a_network_lacks(kind):
    given = {"name": "quadratic_densenet", "widths": [2, 1], "gap": 0.2, "misfit": 0.3, "misfit_of": kind}
    inputs = law("gaussian")
    state, x = posed(inputs, build("teachers", given), 20000)
    without = build("teachers", given | {"misfit_of": "none"})
    clean = QuadraticDensenet(widths=[2, 1], gap=0.2).target(state, x)
    assert np.array_equal(without.target(state, x), clean)
    error = (build("teachers", given).target(state, x) - clean)[..., 0]
    assert np.all(np.abs(np.mean(error**2, axis=1) / 0.09 - 1) < 0.15)
    # It hardly goes with what a network can do, and where it hangs on the target alone equal targets are off alike.
    for one in (x[..., 0], x[..., 0] * x[..., 1], clean[..., 0]):
        assert max(abs(np.corrcoef(error[i], one[i])[0, 1]) for i in range(2)) < 0.25
    order = np.argsort(clean[..., 0], axis=1)
    steps = np.abs(np.diff(np.take_along_axis(error, order, 1), axis=1))
    assert (np.median(steps) < 0.05) == (kind == "target")


def test_a_misfit_of_classes_is_refused():
    teacher = build(
        "teachers", {"name": "quadratic_densenet", "kind": "classes", "widths": [2, 1], "misfit_of": "wave"}
    )
    with pytest.raises(ValueError, match="expected none, or regression"):
        posed(law("gaussian"), teacher)
