"""What every kernel must do with its points, whatever its formula."""

import os
import runpy
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from hierlearn.core.registry import available, build, parameters
from hierlearn.kernels.recursive import Recursive

BY_QUADRATURE = runpy.run_path(str(Path(__file__).parents[1] / "oracles" / "quadrature.py"))["KERNELS"]

VARIANTS = [
    *({"name": "ntk_raw", "activation": a, "bias": b} for a in ("relu", "relu2", "relu3") for b in (False, True)),
    *({"name": "ntk_neural", "features": f, "activation": "relu2"} for f in ("step", "relu", "relu2", "quadratic")),
    *({"name": "ntk_neural", "activation": a, "bias": False} for a in ("relu", "relu2", "relu3")),
    *({"name": "arccos", "order": o, "bias": o == 1} for o in (0, 1, 2)),
    *({"name": "ntk", "depth": 3, "trained": t} for t in ("all", "hidden", "last")),
    *({"name": "ntk", "depth": d, "bias": False} for d in (2, 4, 20)),
    {"name": "arcsin"},
    {"name": "rbf", "bandwidth": 0.7},
    {"name": "polynomial", "degree": 3, "scale": 2.0},
    {"name": "polynomial_of_squares", "degree": 2, "scale": 3.0},
    *({"name": "recursive", "base": b} for b in ("arccos0", "arccos1", "arccos2", "arcsin", "exponential")),
    *({"name": "recursive", "base": b, "depth": 20} for b in ("arccos0", "arccos1", "arccos2")),
    {"name": "recursive", "base": "arcsin", "depth": 3, "bias": True},
    *({"name": "ntk_convolutional", "patch": 2, "depth": 2, "pooling": p} for p in (False, True)),
    *({"name": "ntk_pictures", "height": 2, "pooling": p} for p in (False, True)),
]
# No functions of the inner product.
OTHERS = ("polynomial_of_squares", "ntk_convolutional", "ntk_pictures")


# The others are their own definition.
INTEGRALS = [v for v in VARIANTS if v["name"] in BY_QUADRATURE and v.get("base") != "exponential"]


def _words(description):
    return "-".join(str(value) for value in description.values())


@pytest.fixture(params=VARIANTS, ids=_words)
def kernel(request):
    return build("kernels", request.param)


@pytest.fixture(params=[v for v in VARIANTS if v["name"] not in OTHERS], ids=_words)
def kernel_of_angle(request):
    """On unit vectors a function of their inner product."""
    return build("kernels", request.param)


def _points(count, dimension=6, seed=0):
    generator = np.random.default_rng(seed)
    return generator.standard_normal((count, dimension)) * generator.uniform(0.1, 3.0, (count, 1))


def _sizes(gram):
    """sqrt(K(x, x) K(z, z)), which bounds |K(x, z)|."""
    return np.sqrt(np.multiply.outer(np.diag(gram), np.diag(gram)))


def _unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def test_every_kernel_is_covered():
    assert {variant["name"] for variant in VARIANTS} == set(available("kernels"))


def test_gram_matrix_is_symmetric_bit_by_bit_across_tiles(kernel):
    gram = kernel(_points(300))
    assert gram.dtype == np.float64
    assert np.array_equal(gram, gram.T)


@pytest.mark.parametrize("described", INTEGRALS, ids=_words)
def test_gram_matrix_agrees_with_quadrature(described):
    """Across tiles, at points of different norms that are no neighbours."""
    x, given = _points(140), {name: value for name, value in described.items() if name != "name"}
    expected = BY_QUADRATURE[described["name"]](x, **given)
    assert np.max(np.abs(build("kernels", described)(x) - expected) / _sizes(expected)) < 1e-12


def test_single_precision_is_within_its_rounding_of_double(kernel):
    """Neighbours and nearly opposite points included, where single precision loses the angle of a cosine."""
    x = _points(150)
    close = 10.0 ** -np.arange(2, 10).repeat(2)[:, None]
    signs = np.tile([1.0, -1.0], 8)[:, None]
    x = np.concatenate([x, signs * x[:16] * (1.0 + close * _points(16, seed=1)), 2.0 * x[20:30], -x[20:30]])
    double, single = kernel(x), kernel(x, dtype=np.float32)
    # Of neighbours with 1 - cosine = 5e-13 the last bit is 2e-4 of it. Every arcsin takes a root, which halves that: of
    # the third one's angle, 4e-2, it is 2.5e-5 per bit, and a sum of products may be off by several.
    most = 1e-5 if isinstance(kernel, Recursive) else 3e-6
    assert single.dtype == np.float32
    assert np.array_equal(single, single.T)
    assert np.max(np.abs(single - double) / _sizes(double)) < most
    across = kernel(x[:140], x[140:], np.float32)
    assert across.dtype == np.float32
    assert np.max(np.abs(across - double[:140, 140:]) / _sizes(double)[:140, 140:]) < most


def test_a_gram_matrix_takes_little_memory_beside_itself(kernel):
    x, threads = _points(750), int(os.environ.get("OMP_NUM_THREADS") or 1)
    for dtype in (np.float64, np.float32):
        # What the first call imports and prepares stays, and is not meant.
        kernel(x[:300], dtype=dtype)
        tracemalloc.start()
        size = kernel(x, dtype=dtype).nbytes
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        # Copies of the points, and a few tiles of 128 KiB for every thread; a second matrix is 2.2 MB.
        assert peak < size + 0.5e6 + 1.0e6 * threads


def test_cosines_within_rounding_of_one_stay_finite_and_below_the_diagonal(kernel_of_angle):
    t = 1.0 + np.concatenate([-np.logspace(-17, -8, 400), [0.0, 2e-16, 1e-15]])
    values = kernel_of_angle.profile(t)
    assert np.all(values <= kernel_of_angle.profile(np.array(1.0)) * (1 + 1e-14))


def test_symmetric_and_rectangular_forms_agree(kernel):
    x = _points(300)
    np.testing.assert_allclose(kernel(x), kernel(x, x), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(kernel(x[:5], x[100:290]), kernel(x)[:5, 100:290], rtol=1e-9, atol=1e-12)


def test_gram_matrix_is_positive_semi_definite_to_rounding(kernel):
    values = np.linalg.eigvalsh(kernel(_unit(_points(250))))
    assert values[0] > -1e-12 * values[-1]


def test_profile_gives_the_values_on_unit_vectors(kernel_of_angle):
    x, z = _unit(_points(40)), _unit(_points(30, seed=1))
    np.testing.assert_allclose(kernel_of_angle(x, z), kernel_of_angle.profile(x @ z.T), rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(np.diag(kernel_of_angle(x)), kernel_of_angle.profile(np.array(1.0)), rtol=1e-13)


def test_profile_leaves_its_argument_alone(kernel_of_angle):
    t = np.linspace(-1, 1, 7)
    kernel_of_angle.profile(t)
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
    with pytest.raises(ValueError, match="dtype int64; expected float64 or float32"):
        kernel(np.ones((2, 3)), dtype=np.int64)


@pytest.mark.parametrize("name", available("kernels"))
def test_parameters_are_described_with_a_default(name):
    for schema in parameters("kernels", name).values():
        assert schema["description"]
        assert "default" in schema
    assert build("kernels", {"name": name})


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("symmetric", [True, False])
def test_threads_change_no_bit(monkeypatch, symmetric, dtype):
    generator = np.random.default_rng(5)
    x, z = generator.standard_normal((2, 300, 4))
    kernel = build("kernels", {"name": "ntk"})
    alone = kernel(x, None if symmetric else z, dtype)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert np.array_equal(kernel(x, None if symmetric else z, dtype), alone)
