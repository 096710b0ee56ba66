"""The theory line against kernel ridge regression that is really run."""

import numpy as np
import pytest

from hierlearn.core.registry import available, build
from hierlearn.kernels.ntk_neural import NtkNeural
from hierlearn.kernels.ntk_raw import NtkRaw
from hierlearn.theory.deterministic_equivalent import _kappa, expected_risk, sample_complexity, spectrum_for
from hierlearn.theory.dimensions import harmonics
from hierlearn.theory.gegenbauer import orthonormal, spectrum

SEEDS, TEST = 12, 1500
# The spectrum on the sphere is that of a function of the inner product.
OTHERS = ("polynomial_of_squares", "ntk_convolutional", "ntk_pictures")
ZONAL = [name for name in available("kernels") if name not in OTHERS]
# Degrees that a kernel with its default parameters lacks by parity: arcsin is odd, relu has no odd degree above 1.
HOLES = {("arcsin", 2), ("arcsin", 4), ("arccos", 3)}


def _measured(profile, dimension, degree, samples, ridge, noise, seed):
    """Risk relative to the power of the target on the same test points."""
    generator = np.random.default_rng(seed)
    x = generator.standard_normal((samples + TEST, dimension))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    target = orthonormal(degree, dimension, x[:, 0])
    gram = profile(np.clip(x @ x[:samples].T, -1, 1))
    labels = target[:samples] + noise * generator.standard_normal(samples)
    alpha = np.linalg.solve(gram[:samples] + samples * ridge * np.eye(samples), labels)
    error = np.mean((gram[samples:] @ alpha - target[samples:]) ** 2)
    return error / np.mean(target[samples:] ** 2)


@pytest.mark.parametrize(
    "kernel, dimension, degree, samples, ridge, noise",
    [
        (NtkRaw(), 10, 2, 150, 1e-3, 0.5),
        (NtkRaw(), 10, 2, 60, 0.0, 0.0),
        (NtkRaw(), 6, 4, 200, 0.0, 0.0),
        (NtkRaw(), 6, 4, 300, 1e-4, 0.0),
        (NtkRaw(), 8, 3, 200, 0.0, 0.5),
        (NtkNeural(), 6, 2, 150, 0.0, 0.0),
        (NtkNeural(), 10, 2, 200, 1e-3, 0.5),
        (NtkNeural(), 6, 4, 350, 0.0, 0.0),
        (NtkNeural(), 8, 3, 300, 1e-4, 0.3),
    ],
)
def test_risk_agrees_with_measured_kernel_ridge(kernel, dimension, degree, samples, ridge, noise):
    arguments = dimension, degree, samples, ridge, noise
    measured = np.mean([_measured(kernel.profile, *arguments, seed) for seed in range(SEEDS)])
    predicted = expected_risk(spectrum_for(kernel.profile, dimension, degree), {degree: 1.0}, samples, ridge, noise)
    assert measured == pytest.approx(predicted, rel=0.12)


@pytest.mark.parametrize("name", ZONAL)
def test_risk_of_every_kernel_agrees_with_kernel_ridge(name):
    kernel = build("kernels", {"name": name})
    dimension, degree, samples = (8, 3, 250) if (name, 2) in HOLES else (24, 2, 200)
    for share in (1e-6, 1e-3):
        ridge = share * float(kernel.profile(np.ones(())))
        arguments = dimension, degree, samples, ridge, 0.0
        measured = np.mean([_measured(kernel.profile, *arguments, seed) for seed in range(SEEDS)])
        predicted = expected_risk(spectrum_for(kernel.profile, dimension, degree), {degree: 1.0}, samples, ridge)
        assert measured == pytest.approx(predicted, rel=0.12)


def test_a_linear_kernel_gives_the_risk_of_least_squares():
    dimension, samples, noise = 40, 100, 0.7
    kernel = spectrum(lambda t: t, dimension, 1)
    result = expected_risk(kernel, {1: 1.0}, samples, noise=noise)
    assert result == pytest.approx(noise**2 * dimension / (samples - dimension), rel=1e-6)


def test_kappa_solves_its_equation():
    kernel = spectrum_for(NtkNeural().profile, 12, 4)
    ridge = 700 * 1e-4 + kernel.tail
    kappa = _kappa(kernel.eigenvalues, kernel.multiplicity, 700, ridge)
    freedom = np.sum(kernel.multiplicity * kernel.eigenvalues / (kernel.eigenvalues + kappa))
    assert freedom + ridge / kappa == pytest.approx(700, rel=1e-10)


def test_a_degree_that_the_kernel_lacks_is_never_learned():
    kernel = spectrum_for(NtkRaw(activation="relu2", bias=False).profile, 8, 4)
    assert expected_risk(kernel, {4: 1.0}, 10_000) >= 1


def test_risk_without_ridge_starts_at_one_and_obeys_the_counting_bound():
    kernel = spectrum_for(NtkRaw().profile, 10, 4)
    assert expected_risk(kernel, {4: 1.0}, 1e-3) == pytest.approx(1, rel=1e-3)
    for samples in (10, 100, 400, 700):
        assert expected_risk(kernel, {4: 1.0}, samples) >= 1 - samples / harmonics(10, 4)


@pytest.mark.parametrize("threshold", [0.9, 0.5, 0.1])
def test_a_kernel_of_one_degree_needs_the_missing_share_of_its_functions(threshold):
    # n / N of the functions are known after n points, also where that is less than one point; the ridge is zero.
    assert sample_complexity(lambda t: t, 3, 1, threshold) == pytest.approx(3 * (1 - threshold), rel=1e-9)


def test_a_search_passes_the_size_of_its_rank_where_the_risk_of_noisy_labels_has_no_bound():
    kernel = spectrum_for(lambda t: t, 3, 1)
    assert expected_risk(kernel, {1: 1.0}, 3.0, noise=0.5) > 1e5
    assert sample_complexity(lambda t: t, 3, 1, 0.2, noise=0.5) > 3


@pytest.mark.parametrize("dimension, degree", [(6, 2), (20, 4), (320, 4), (320, 6)])
def test_sample_complexity_is_where_the_risk_reaches_the_threshold(dimension, degree):
    samples = sample_complexity(NtkRaw().profile, dimension, degree, 0.5)
    kernel = spectrum_for(NtkRaw().profile, dimension, degree)
    assert expected_risk(kernel, {degree: 1.0}, samples) == pytest.approx(0.5, rel=1e-9)
    assert expected_risk(kernel, {degree: 1.0}, samples * 0.9) > 0.5


@pytest.mark.parametrize("degree", [2, 3, 4])
@pytest.mark.parametrize("name", ZONAL)
def test_every_kernel_is_stable_to_high_dimension_and_grows_as_the_counted_dimension(name, degree):
    """At d = 320 n* is finite, obeys counting, n >= (1 - risk) N(d, p), and falls with the risk that is allowed."""
    profile, dimensions = build("kernels", {"name": name}).profile, (80, 160, 320)
    if (name, degree) in HOLES:
        assert np.isnan([sample_complexity(profile, d, degree, 0.5, largest=1e9) for d in dimensions]).all()
        return
    counts = np.array([harmonics(d, degree) for d in dimensions], dtype=float)
    samples = np.array([sample_complexity(profile, d, degree, 0.5) for d in dimensions])
    assert np.all(samples >= 0.5 * counts)
    assert np.polyfit(np.log(counts), np.log(samples), 1)[0] == pytest.approx(1, abs=0.03)
    early, late = (sample_complexity(profile, dimensions[-1], degree, risk) for risk in (0.9, 0.1))
    assert 0.1 * counts[-1] <= early < samples[-1] < late < np.inf
    assert late >= 0.9 * counts[-1]
    kernel = spectrum_for(profile, dimensions[-1], degree)
    risks = np.array([expected_risk(kernel, {degree: 1.0}, n) for n in np.geomspace(early, late, 12)])
    assert np.all(np.isfinite(risks)) and np.all(np.diff(risks) < 0)


def test_a_threshold_out_of_reach_gives_no_number():
    assert np.isnan(sample_complexity(NtkRaw(activation="relu2", bias=False).profile, 8, 4, 0.5, largest=1e6))
