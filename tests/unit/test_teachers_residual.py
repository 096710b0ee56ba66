"""Compositions with a residual link against enumeration, quadrature and plain loops."""

from itertools import product
from math import cos, exp, isclose, prod, sin, sqrt, tanh

import numpy as np
import pytest
from small_study import study_of

from hierlearn.core.registry import build, parameters
from hierlearn.core.streams import Streams
from hierlearn.pipeline.plan import grid_checks
from hierlearn.teachers.composed_sines import ComposedSines
from hierlearn.teachers.residual_composition import ResidualComposition

STREAMS = Streams(("residual",), (0, 1))
FUNCTIONS = {"sin": sin, "exponential": lambda t: exp(t) - 1, "tanh": tanh}


def law(name, dimension, **given):
    return build("inputs", {"name": name} | given, dimension=dimension)


def posed(inputs, count=50, **given):
    teacher = ResidualComposition(**given)
    return teacher, teacher.draw(STREAMS, inputs), inputs.sample(STREAMS, "test", 0, count)


def corners(dimension):
    signs = np.array(list(product((-1.0, 1.0), repeat=dimension)))
    return np.stack([signs, signs]) / sqrt(dimension)


def test_a_product_is_k_signs_each_with_the_same_product():
    teacher, state, x = posed(law("hypercube", 9), order=3, alpha=0.25, beta=0.5)
    target = teacher.target(state, x)
    for seed in range(2):
        assert len(set(state["coordinates"][seed])) == 3
        s = 3.0 * x[seed].astype(float)[:, state["coordinates"][seed]]
        wanted = 0.5 * s + 0.25 * (s[:, 0] * s[:, 1] * s[:, 2])[:, None]
        np.testing.assert_allclose(target[seed], wanted, rtol=1e-6)


@pytest.mark.parametrize("instance", ["product", "parities_8"])
def test_norms_on_the_cube_are_those_of_all_its_corners(instance):
    dimension = {"product": 7, "parities_8": 16}[instance]
    x, inputs = corners(dimension), law("hypercube", dimension)
    for alpha, beta in ((0.3, 1), (0.3, 0), (0.9, 0.2), (0, 1)):
        teacher, state, _ = posed(inputs, instance=instance, alpha=alpha, beta=beta)
        squares = np.mean(np.sum(teacher.target(state, x) ** 2, axis=-1), axis=1)
        np.testing.assert_allclose(teacher.norm(state, inputs) ** 2, squares, rtol=1e-12)


def test_the_zero_predictor_has_the_errors_of_the_papers_figures():
    inputs = law("hypercube", 30, norm="sqrt_dimension")
    for instance, everything, composite in (("parities_8", 8.72, 0.72), ("parities_15", 16.35, 1.35)):
        teacher, state, x = posed(inputs, instance=instance)
        assert teacher.norm(state, inputs) ** 2 == pytest.approx([everything] * 2)
        parts = teacher.parts(state, x)
        np.testing.assert_allclose(np.sum(parts["composite"] ** 2, axis=-1), composite, rtol=1e-12)


def test_eight_parities_are_the_first_version_of_the_figure():
    teacher, state, x = posed(law("hypercube", 20, norm="sqrt_dimension"), instance="parities_8", beta=0.5)
    target = teacher.target(state, x)
    for seed, point in product(range(2), range(50)):
        s = x[seed, point, state["coordinates"][seed]].astype(float)
        f = [s[2 * j] * s[2 * j + 1] for j in range(8)]
        g = [f[0] * f[1] * f[2] * f[3]] * 4 + [f[4] * f[5] * f[6] * f[7]] * 4
        assert target[seed, point] == pytest.approx([0.5 * a + 0.3 * b for a, b in zip(f, g, strict=True)])


def test_fifteen_parities_are_the_later_version_of_the_figure():
    teacher, state, x = posed(law("hypercube", 30), instance="parities_15")
    target = teacher.target(state, x)
    assert [len(set(chosen)) for chosen in state["coordinates"]] == [30, 30]
    for seed, point in product(range(2), range(50)):
        s = np.sign(x[seed, point, state["coordinates"][seed]].astype(float))
        f = [s[2 * j] * s[2 * j + 1] for j in range(15)]
        g = [(-1) ** i * f[0] * f[1] * f[2] * f[3] for i in range(1, 16)]
        assert target[seed, point] == pytest.approx([a + 0.3 * b for a, b in zip(f, g, strict=True)])


def test_a_polynomial_multiplies_neighbouring_coordinates():
    teacher, state, x = posed(law("gaussian", 6), instance="polynomial", order=5, degree=3)
    target, rows = teacher.target(state, x), state["rows"]
    np.testing.assert_allclose(rows @ rows.swapaxes(1, 2), np.stack([np.eye(5)] * 2), atol=1e-12)
    for seed, point in product(range(2), range(50)):
        y = rows[seed] @ x[seed, point].astype(float)
        wanted = [y[j] + 0.3 * prod(y[(j + t) % 5] for t in range(3)) for j in range(5)]
        assert target[seed, point] == pytest.approx(wanted)


def pair_of_the_sphere():
    """Nodes (n, 2) and masses of two coordinates of a uniform point of S^3, times sqrt(4): uniform on a disc."""
    radius, weights = np.polynomial.legendre.leggauss(40)
    radius, weights = (radius + 1) / 2, weights / 2
    angle = 2 * np.pi * np.arange(80) / 80
    nodes = 2 * radius[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    return nodes.reshape(-1, 2), np.repeat(weights * 2 * radius / 80, 80)


def pair_of_the_normal_law():
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    weights = weights / weights.sum()
    return np.array(list(product(nodes, repeat=2))), np.outer(weights, weights).ravel()


@pytest.mark.parametrize(("name", "pair"), [("sphere", pair_of_the_sphere), ("gaussian", pair_of_the_normal_law)])
@pytest.mark.parametrize(("instance", "degree"), [("polynomial", 2), ("powers", 2), ("powers", 3), ("powers", 10)])
def test_norms_of_polynomials_are_those_of_quadrature(name, pair, instance, degree):
    inputs = law(name, 4)
    teacher, state, _ = posed(inputs, instance=instance, order=2, degree=degree, alpha=0.7, beta=0.6)
    nodes, masses = pair()
    # Points whose F is at the nodes: the rows are orthogonal.
    rows = state["rows"][0]
    x = nodes @ np.linalg.pinv(rows).T
    target = teacher.target({key: values[:1] for key, values in state.items()}, x[None])[0]
    assert teacher.norm(state, inputs) ** 2 == pytest.approx([masses @ np.sum(target**2, axis=1)] * 2, rel=1e-9)
    composite = (target - 0.6 * nodes) / 0.7
    if instance == "powers":
        np.testing.assert_allclose(masses @ composite**2, 1.0, rtol=1e-9)
        np.testing.assert_allclose(composite[:, 0], composite[:, 1], rtol=1e-9, atol=1e-9)
        bare = nodes[:, 0] ** degree - nodes[:, 1] ** degree
        assert np.corrcoef(bare, composite[:, 0])[0, 1] == pytest.approx(1.0)


@pytest.mark.parametrize("arguments", ["unit", "sqrt_dimension"])
@pytest.mark.parametrize(("base", "composite"), [("sin", "exponential"), ("exponential", "tanh"), ("tanh", "sin")])
def test_smooth_functions_are_two_networks(arguments, base, composite):
    teacher, state, x = posed(
        law("sphere", 6),
        instance="smooth",
        order=3,
        base_neurons=2,
        composite_neurons=5,
        base_activation=base,
        composite_activation=composite,
        arguments=arguments,
    )
    target = teacher.target(state, x)
    length = sqrt(0.5) if arguments == "unit" else sqrt(6 / 2)
    np.testing.assert_allclose(np.linalg.norm(state["base_rows"], axis=-1), length)
    np.testing.assert_allclose(np.linalg.norm(state["composite_rows"], axis=-1), sqrt(0.5))
    for part in ("base", "composite"):
        assert np.abs(state[f"{part}_coefficients"]).max() <= 1
    for point in range(10):
        y = []
        for r in range(3):
            inner = [state["base_rows"][1, r, i] @ x[1, point].astype(float) for i in range(2)]
            y.append(sum(state["base_coefficients"][1, r, i] * FUNCTIONS[base](inner[i]) for i in range(2)))
        for r in range(3):
            inner = [state["composite_rows"][1, r, i] @ np.array(y) for i in range(5)]
            g = sum(state["composite_coefficients"][1, r, i] * FUNCTIONS[composite](inner[i]) for i in range(5))
            assert target[1, point, r] == pytest.approx(y[r] + 0.3 * g)


@pytest.mark.parametrize("name", ["hypercube", "sphere", "gaussian"])
def test_the_norm_of_a_smooth_function_is_estimated_to_a_fraction_of_a_per_cent(name):
    inputs = law(name, 8)
    teacher, state, x = posed(inputs, 60_000, instance="smooth", base_activation="tanh", order=2)
    squares = np.sum(teacher.target(state, x) ** 2, axis=-1)
    # Both are estimates from about as many points.
    error = 2 * squares.std(axis=1) / sqrt(squares.shape[1])
    assert np.all(error / squares.mean(axis=1) < 0.02)
    assert np.all(np.abs(teacher.norm(state, inputs) ** 2 - squares.mean(axis=1)) < 3 * error)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("hypercube", {"instance": "product"}),
        ("hypercube", {"instance": "smooth"}),
        ("gaussian", {"instance": "polynomial"}),
        ("gaussian", {"instance": "powers", "degree": 10}),
        ("gaussian", {"instance": "smooth", "arguments": "unit"}),
    ],
)
def test_the_norm_of_the_input_does_not_change_the_problem(name, given):
    found = []
    for norm in ("unit", "sqrt_dimension"):
        inputs = law(name, 5, norm=norm)
        teacher, state, x = posed(inputs, **given)
        found.append((teacher.target(state, x), teacher.norm(state, inputs)))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "instance"),
    [("hypercube", "product"), ("gaussian", "powers"), ("sphere", "polynomial"), ("sphere", "smooth")],
)
def test_the_parts_are_the_base_and_what_is_composed_with_it(name, instance):
    inputs = law(name, 6)
    teacher, state, x = posed(inputs, instance=instance, alpha=0.4, beta=0.7)
    parts = teacher.parts(state, x)
    assert list(parts) == ["base", "composite"]
    np.testing.assert_allclose(parts["base"] + parts["composite"], teacher.target(state, x))
    np.testing.assert_allclose(parts["base"], 0.7 * teacher.bases(state, x))
    alone, own, _ = posed(inputs, instance=instance, alpha=0.4, beta=0)
    np.testing.assert_allclose(alone.target(own, x), parts["composite"])
    plain, own, _ = posed(inputs, instance=instance, alpha=0, beta=0.7)
    np.testing.assert_allclose(plain.target(own, x), parts["base"])


def test_outputs_and_degrees_are_those_of_the_instance():
    assert ResidualComposition(order=5).outputs == 5
    assert ResidualComposition(order=5).degrees() == (1, 5)
    assert ResidualComposition(order=5, beta=0).degrees() == (5,)
    assert ResidualComposition(instance="parities_8").outputs == 8
    assert ResidualComposition(instance="parities_15").outputs == 15
    assert ResidualComposition(instance="parities_15").degrees() == (2, 8)
    assert ResidualComposition(instance="polynomial", order=6, degree=3).degrees() == (1, 3)
    assert ResidualComposition(instance="powers", degree=6).outputs == 2
    assert ResidualComposition(instance="powers", degree=6).degrees() == (1, 2, 4, 6)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("hypercube", {"order": 9}, "order 9; expected at most the dimension 8"),
        ("hypercube", {"instance": "parities_8"}, "dimension 8; expected at least 16 for parities_8"),
        ("hypercube", {"instance": "parities_15"}, "dimension 8; expected at least 30 for parities_15"),
        ("sphere", {"instance": "polynomial", "order": 9}, "order 9; expected at most the dimension 8"),
        ("sphere", {"instance": "polynomial", "order": 3}, "degree 4; expected at most the order 3"),
        ("sphere", {}, "instance 'product' with law 'sphere'; expected polynomial"),
        ("hypercube", {"instance": "powers"}, "instance 'powers' with law 'hypercube'; expected product"),
        (
            "gaussian",
            {"instance": "smooth", "base_activation": "exponential", "composite_activation": "exponential"},
            "expected sin or tanh",
        ),
        ("hypercube", {"alpha": 0, "beta": 0}, "beta 0 with alpha 0; expected one of them above 0"),
        ("anisotropic_sphere", {}, "input law 'anisotropic_sphere'; expected one of hypercube"),
    ],
)
def test_what_is_impossible_is_refused(name, given, message):
    with pytest.raises(ValueError, match=message):
        ResidualComposition(**given).draw(STREAMS, law(name, 8))


def faults(law_name, dimension=8, axes=None, **teacher):
    content = {
        "problem": {
            "input": {"name": law_name},
            "teacher": {"name": "residual_composition"} | teacher,
            "scale": "paper",
            "label_noise": 0,
        },
        "axes": {"dimension": [dimension]} | (axes or {}),
        "seeds": 1,
        "representations": {},
        "learners": {},
    }
    return [str(fault) for fault in grid_checks.impossible(study_of(content, "s", "s.yaml", "quick"))]


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (faults("hypercube", order=9), "problem.teacher.order: found 9"),
        (faults("sphere", instance="polynomial", order=3), "problem.teacher.degree: found 4"),
        (faults("hypercube", 15, instance="parities_8"), "axes.dimension: found 15; expected at least 16"),
        (faults("hypercube", 29, instance="parities_15"), "axes.dimension: found 29; expected at least 30"),
        (faults("sphere", 5, name="composed_sines"), "axes.dimension: found 5; expected at most 4"),
        (faults("sphere", 3, name="composed_sines"), "axes.dimension: found 3; expected at least 4"),
        (faults("sphere"), "problem.teacher.instance: found 'product' with law 'sphere'"),
        (faults("hypercube", instance="powers"), "problem.teacher.instance: found 'powers' with law 'hypercube'"),
        (faults("hypercube", alpha=1.0), "problem.teacher.alpha: found 1.0"),
        (faults("hypercube", alpha=0, beta=0.0), "problem.teacher.beta: found 0.0 with alpha 0"),
        (faults("hypercube", 16, {"beta": [1, 0]}, instance="parities_8", alpha=0), "axes.beta: found 0 with alpha 0"),
        (
            faults("sphere", instance="smooth", base_activation="exponential", composite_activation="exponential"),
            "problem.teacher.arguments: found 'sqrt_dimension'",
        ),
    ],
)
def test_the_check_of_the_configuration_lists_what_is_impossible(found, wanted):
    assert len(found) == 1
    assert wanted in found[0]


def test_what_is_possible_has_no_faults():
    assert not faults("hypercube")
    assert not faults("sphere", instance="powers", order=9)
    assert not faults("gaussian", instance="smooth")
    assert set(parameters("teachers", "residual_composition")["instance"]["enum"]) == {
        *("product", "parities_8", "parities_15", "polynomial", "powers", "smooth")
    }


def test_composed_sines_have_the_norm_of_quadrature():
    """u_4 = t has the density 2/pi sqrt(1 - t^2); the other three are uniform on a sphere of radius sqrt(1 - t^2)."""
    k = np.arange(1, 81)
    t, masses = np.cos(k * np.pi / 81), 2 / 81 * np.sin(k * np.pi / 81) ** 2
    h, weights = np.polynomial.legendre.leggauss(50)
    angle = 2 * np.pi * np.arange(100) / 100
    radius = np.sqrt(1 - t**2)[:, None, None]
    flat = np.sqrt(1 - h**2)[:, None]
    inner = np.sin(3 * radius * flat * np.cos(angle)) + np.sin(3 * radius * flat * np.sin(angle))
    inner = inner + np.sin(3 * radius * h[:, None]) - 2
    square = np.einsum("t,h,tha->", masses * np.cos(7 * t) ** 2, weights / 2, inner**4) / 100
    inputs = law("sphere", 4)
    norms = ComposedSines().norm(ComposedSines().draw(STREAMS, inputs), inputs)
    assert norms**2 == pytest.approx([square] * 2, rel=1e-9)


def test_composed_sines_are_the_papers_function_of_rotated_points():
    inputs = law("sphere", 4)
    state = ComposedSines().draw(STREAMS, inputs)
    x = inputs.sample(STREAMS, "test", 0, 20)
    for seed in range(2):
        rotation = state["rotation"][seed]
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(4), atol=1e-12)
        for point in range(20):
            u = rotation @ x[seed, point].astype(float)
            wanted = (sin(3 * u[0]) + sin(3 * u[1]) + sin(3 * u[2]) - 2) ** 2 * cos(7 * u[3])
            assert isclose(ComposedSines().target(state, x)[seed, point, 0], wanted, rel_tol=1e-9, abs_tol=1e-12)


def test_composed_sines_have_four_coordinates():
    with pytest.raises(ValueError, match="composed_sines: dimension 5; expected at most 4"):
        ComposedSines().draw(STREAMS, law("sphere", 5))
