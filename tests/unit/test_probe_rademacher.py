"""The probe of the complexity against its definition, and of trained gaps against predictions made by hand."""

import numpy as np
import pytest

from hierlearn.core.problem import pose
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.pipeline.measurements import generalisation_gap, rademacher
from hierlearn.theory.spectra import colour

KEY = ("complexity",)


def problem(dimension=5, seeds=(0, 1), law="sphere"):
    inputs = build("inputs", {"name": law}, dimension=dimension)
    teacher = build("teachers", {"name": "ridge_polynomial", "degree": 2})
    return pose(inputs, teacher, "unit", 0.0, Streams(KEY, seeds))


def complexity(dimension=5, seeds=(0, 1), law="sphere", **parameters):
    return build("probes", {"name": "rademacher", **parameters}).measure(problem(dimension, seeds, law))


def gap(seeds=(0, 1), **parameters):
    given = {"name": "generalisation_gap", "test": 300, "max_iterations": 60, **parameters}
    return build("probes", given).measure(problem(6, seeds))


def by_hand(x, w0, draws):
    """(1/2) (mean_r lambda_max^+(a_r A_r)^2)^{1/2} with every matrix summed point by point."""
    values = []
    for draw in draws:
        squares = []
        for a in (1.0, -1.0):
            for row in w0:
                moment = sum(s * np.outer(h, h) for s, h in zip(draw, x, strict=True) if h @ row >= 0) / len(x)
                squares.append(max(np.linalg.eigvalsh(a * moment)[-1], 0.0) ** 2)
        values.append(0.5 * np.sqrt(np.mean(squares)))
    return values


@pytest.mark.parametrize("spectrum", ["isotropic", "spiked", "power"])
def test_the_complexity_is_its_definition(spectrum):
    found = complexity(seeds=(2,), spectra=[spectrum], samples=[20], widths=[6], draws=5)
    streams = Streams(KEY, (2,)).at("rademacher")
    w0 = streams.at("w0").generators()[0].standard_normal((3, 5))
    draws = 1 - 2 * streams.at("signs").generators()[0].integers(0, 2, (20, 5)).T
    x = colour(problem(5, (2,)).draw("training", 20).x[0].astype(np.float64), spectrum)
    values = by_hand(x, w0, draws)
    assert found["complexity"].values.item() == pytest.approx(np.mean(values), rel=1e-5)
    assert found["standard_error"].values.item() == pytest.approx(np.std(values, ddof=1) / np.sqrt(5), rel=1e-4)
    norms = np.linalg.norm(x, axis=1)
    ratio = found["bound_maximum"].values.item() / found["bound_mean_square"].values.item()
    assert ratio == pytest.approx(norms.max() / np.sqrt(np.mean(norms**2)), rel=1e-6)


def test_the_supremum_without_signs_is_that_of_the_second_moments_of_open_gates():
    found = complexity(seeds=(2,), spectra=["spiked"], samples=[20], widths=[6], draws=5)
    w0 = Streams(KEY, (2,)).at("rademacher", "w0").generators()[0].standard_normal((3, 5))
    x = colour(problem(5, (2,)).draw("training", 20).x[0].astype(np.float64), "spiked")
    assert found["equal_signs"].values.item() == pytest.approx(by_hand(x, w0, np.ones((1, 20)))[0], rel=1e-5)


def test_the_ball_of_every_neuron_has_the_supremum_of_its_definition():
    """|w_r| <= 1 for all r: 1/(2 sqrt(m)) times the sum of the largest eigenvalues, m = 6 here."""
    found = complexity(seeds=(2,), spectra=["isotropic"], samples=[20], widths=[6], draws=5)
    streams = Streams(KEY, (2,)).at("rademacher")
    w0 = streams.at("w0").generators()[0].standard_normal((3, 5))
    draws = 1 - 2 * streams.at("signs").generators()[0].integers(0, 2, (20, 5)).T
    x = colour(problem(5, (2,)).draw("training", 20).x[0].astype(np.float64), "isotropic")
    total = 0.0
    for a in (1.0, -1.0):
        for row in w0:
            for draw in draws:
                moment = sum(s * np.outer(h, h) for s, h in zip(draw, x, strict=True) if h @ row >= 0) / len(x)
                total += max(np.linalg.eigvalsh(a * moment)[-1], 0.0)
    assert found["each_neuron"].values.item() == pytest.approx(total / (2 * np.sqrt(6) * len(draws)), rel=1e-5)


def test_isotropic_theory_is_the_theory_of_isotropic_features_at_any_spectra():
    spiked = complexity(spectra=["spiked"], samples=[20, 80], widths=[2, 6], draws=2)
    isotropic = complexity(spectra=["isotropic"], samples=[20, 80], widths=[2, 6], draws=2)
    np.testing.assert_array_equal(spiked["isotropic_theory"].values, isotropic["theory"].values[0])
    assert np.all(spiked["theory"].values > spiked["isotropic_theory"].values)


def test_features_have_unit_mean_square_norm_and_the_spectrum_that_was_asked_for():
    x = problem(12, (0,)).draw("training", 20_000).x[0]
    for spectrum, leading in (("isotropic", 1 / 12), ("spiked", 0.5), ("power", 1 / np.sum(np.arange(1, 13) ** -2.0))):
        h = colour(x, spectrum).astype(np.float64)
        assert np.mean(np.sum(h**2, axis=1)) == pytest.approx(1.0, rel=0.02)
        assert np.mean(h[:, 0] ** 2) == pytest.approx(leading, rel=0.04)


def test_a_cell_has_its_value_whatever_is_measured_beside_it():
    together = complexity(seeds=(0, 3), spectra=["isotropic", "power"], samples=[30, 60], widths=[4, 8], draws=4)
    alone = complexity(seeds=(3,), spectra=["power"], samples=[60], widths=[8], draws=4)
    smaller = complexity(seeds=(3,), spectra=["power"], samples=[30, 60], widths=[4, 8], draws=4)
    assert together["complexity"].values[1, 1, 1, 1] == alone["complexity"].values.item()
    np.testing.assert_array_equal(together["complexity"].values[1, 1], smaller["complexity"].values[0, 0])


def test_the_bound_is_never_below_the_complexity_and_isotropy_helps():
    found = complexity(dimension=30, spectra=["isotropic", "spiked"], samples=[400], widths=[8], draws=4)
    assert np.all(found["bound_maximum"].values >= found["complexity"].values)
    isotropic, spiked = np.moveaxis(found["complexity"].values[:, :, 0, 0], 1, 0)
    assert np.all(spiked > 1.5 * isotropic)


def test_measures_are_those_that_are_declared():
    own = {"seed", "spectrum", "samples", "width", "flops"}
    assert set(complexity()) == set(rademacher.Rademacher.MEASURES) | own
    assert set(gap(samples=[20])) == set(generalisation_gap.GeneralisationGap.MEASURES) | own


@pytest.mark.parametrize("name", ["rademacher", "generalisation_gap"])
def test_points_of_other_norms_are_refused(name):
    with pytest.raises(ValueError, match="input law 'gaussian'"):
        build("probes", {"name": name}).measure(problem(law="gaussian"))


def test_gaps_stay_below_twice_the_complexity_of_their_ball():
    found = gap(samples=[60, 240], widths=[8], ridge=1e-3)
    assert np.all(found["gap"].values < found["complexity_bound"].values)
    assert np.all(found["gap"].values[:, :, 0] > found["gap"].values[:, :, 1])
    assert np.all(found["train_loss"].values < np.log(2))


def test_the_fast_bounds_are_smaller_by_the_root_of_the_number_of_samples():
    found = gap((1,), samples=[25, 100], widths=[8])
    for name in ("complexity_bound", "operator_norm_bound"):
        ratio = (found[name].values / found[f"fast_{name}"].values)[0, 0, :, 0]
        np.testing.assert_allclose(ratio, [5, 10], rtol=1e-9)


def test_the_bound_of_a_gap_is_the_complexity_times_the_squared_norm():
    """Two ridges share their signs, so that only the norm separates their bounds."""
    loose, tight = (gap(samples=[50], widths=[4], ridge=r) for r in (1e-3, 1e-1))
    scale = [found["complexity_bound"].values / found["norm"].values ** 2 for found in (loose, tight)]
    np.testing.assert_allclose(*scale, rtol=1e-9)
    assert np.all(tight["norm"].values < loose["norm"].values)
    together = gap(seeds=(0, 1, 2), samples=[25, 50], widths=[4, 6], ridge=1e-3)
    np.testing.assert_array_equal(together["gap"].values[:2, :, 1, 0], loose["gap"].values[:, :, 0, 0])


def test_a_collapsed_training_has_no_gap_that_its_bound_could_hold_for(caplog):
    found = gap(seeds=(1,), samples=[40], widths=[4], ridge=1e9, spectra=["isotropic"])
    for name in ("gap", "train_loss", "norm", "complexity_bound"):
        assert np.isnan(found[name].values).all()
    assert "generalisation_gap: taylor at seed 1, spectrum isotropic, samples 40, width 4: collapsed: " in caplog.text


@pytest.mark.parametrize("spectrum", ["isotropic", "spiked"])
def test_the_bound_by_the_operator_norm_is_written_out_and_above_the_complexity(spectrum):
    """B_h |W|^2 (2 log(2 m D) |(1/n) sum h h^T|_op / n)^{1/2} with the points that the model was trained on."""
    found = gap(seeds=(1,), spectra=[spectrum], samples=[20, 50], widths=[4])
    for j, n in enumerate((20, 50)):
        h = colour(problem(6, (1,)).draw("training", 50).x[0, :n].astype(np.float64), spectrum)
        largest, moment = np.linalg.norm(h, axis=1).max(), np.linalg.svd(h, compute_uv=False)[0] ** 2 / n
        size = found["norm"].values[0, 0, j, 0] ** 2
        expected = largest * size * np.sqrt(2 * np.log(2 * 4 * 6) * moment / n)
        assert found["operator_norm_bound"].values[0, 0, j, 0] == pytest.approx(expected, rel=1e-5)
    assert np.all(found["complexity_bound"].values < found["operator_norm_bound"].values)
