"""What every kernel must do with its points, whatever its formula."""

import numpy as np
import pytest

from hierlearn.components import available, build, parameters

VARIANTS = [
    *({"name": "ntk_raw", "activation": a, "bias": b} for a in ("relu", "relu2", "relu3") for b in (False, True)),
    *({"name": "ntk_neural", "features": f, "activation": "relu2"} for f in ("step", "relu", "relu2", "quadratic")),
    *({"name": "ntk_neural", "activation": a, "bias": False} for a in ("relu", "relu2", "relu3")),
    *({"name": "arccos", "order": o, "bias": o == 1} for o in (0, 1, 2)),
    *({"name": "ntk", "depth": 3, "trained": t} for t in ("all", "hidden", "last")),
    {"name": "arcsin"},
    {"name": "rbf", "bandwidth": 0.7},
    *({"name": "recursive", "base": b} for b in ("arccos0", "arccos1", "arccos2", "arcsin", "exponential")),
    {"name": "recursive", "base": "arcsin", "depth": 3, "bias": True},
]


@pytest.fixture(params=VARIANTS, ids=lambda v: "-".join(str(value) for value in v.values()))
def kernel(request):
    return build("kernels", request.param)


def _points(count, dimension=6, seed=0):
    generator = np.random.default_rng(seed)
    return generator.standard_normal((count, dimension)) * generator.uniform(0.1, 3.0, (count, 1))


def _unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def test_every_kernel_is_covered():
    assert {variant["name"] for variant in VARIANTS} == set(available("kernels"))


def test_gram_matrix_is_symmetric_bit_by_bit_across_tiles(kernel):
    gram = kernel(_points(300))
    assert gram.dtype == np.float64
    assert np.array_equal(gram, gram.T)


def test_symmetric_and_rectangular_forms_agree(kernel):
    x = _points(300)
    np.testing.assert_allclose(kernel(x), kernel(x, x), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(kernel(x[:5], x[100:290]), kernel(x)[:5, 100:290], rtol=1e-9, atol=1e-12)


def test_gram_matrix_is_positive_semi_definite_to_rounding(kernel):
    values = np.linalg.eigvalsh(kernel(_unit(_points(250))))
    assert values[0] > -1e-12 * values[-1]


def test_profile_gives_the_values_on_unit_vectors(kernel):
    x, z = _unit(_points(40)), _unit(_points(30, seed=1))
    np.testing.assert_allclose(kernel(x, z), kernel.profile(x @ z.T), rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(np.diag(kernel(x)), kernel.profile(np.array(1.0)), rtol=1e-13)


def test_profile_leaves_its_argument_alone(kernel):
    t = np.linspace(-1, 1, 7)
    kernel.profile(t)
    assert np.array_equal(t, np.linspace(-1, 1, 7))


def test_single_precision_points_are_computed_in_double(kernel):
    x = _points(9).astype(np.float32)
    assert np.array_equal(kernel(x), kernel(x.astype(np.float64)))


def test_zero_opposite_and_repeated_points_give_finite_values(kernel):
    x = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, 2.0], [-1.0, -2.0], [1e-200, 0.0], [1e8, 1.0]])
    gram = kernel(x)
    assert np.all(np.isfinite(gram))
    np.testing.assert_allclose(gram[1], gram[2], rtol=1e-14)
    assert gram[1, 2] == gram[1, 1]


def test_bad_points_are_refused_in_one_line(kernel):
    with pytest.raises(ValueError, match=r"expected \(points, dimension\)") as caught:
        kernel(np.zeros(3))
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="expected that of x, 2"):
        kernel(np.zeros((3, 2)), np.zeros((3, 4)))
    with pytest.raises(ValueError, match="not finite"):
        kernel(np.array([[np.nan, 1.0]]))


@pytest.mark.parametrize("name", available("kernels"))
def test_parameters_are_described_with_a_default(name):
    for schema in parameters("kernels", name).values():
        assert schema["description"]
        assert "default" in schema
    assert build("kernels", {"name": name})


@pytest.mark.parametrize("symmetric", [True, False])
def test_threads_change_no_bit(monkeypatch, symmetric):
    generator = np.random.default_rng(5)
    x, z = generator.standard_normal((2, 300, 4))
    kernel = build("kernels", {"name": "ntk"})
    alone = kernel(x, None if symmetric else z)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert np.array_equal(kernel(x, None if symmetric else z), alone)
