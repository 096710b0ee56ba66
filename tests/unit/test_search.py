"""The search for crossings, on curves that are known."""

import numpy as np
import pytest

from hierlearn.pipeline.plan.sizes import lattice
from hierlearn.pipeline.run.sample_sizes import next_place
from hierlearn.statistics.learning_curves import LEFT_CENSORED, OBSERVED, RIGHT_CENSORED, crossings

SIZES = np.array(lattice(8, 4096, 4))
STEP = np.log(2) / 4


def searched(risk, near, thresholds=(0.5,)):
    """Places in the order of their visits. risk: (N,) along SIZES."""
    visits = {}
    first = int(np.argmin(np.abs(np.log(SIZES) - np.log(near))))
    while (place := next_place(visits, first, len(SIZES), thresholds)) is not None:
        assert place not in visits
        visits[place] = risk[place]
    return visits


def crossing(risk, visits, threshold=0.5):
    """n* and its status from the sizes visited alone."""
    seen = np.full(len(SIZES), np.nan)
    for place in visits:
        seen[place] = risk[place]
    n, status = crossings(SIZES, seen, threshold)
    return float(n), str(status)


def falling(n_star, power=1.0):
    """A curve through 0.5 at n_star."""
    return 0.5 * (n_star / SIZES) ** power


def test_a_search_that_begins_beside_the_crossing_takes_two_fits():
    assert list(searched(falling(279, 3), 256)) == [20, 21]
    assert list(searched(falling(279, 3), 304)) == [21, 20]


def test_steps_double_while_the_risks_say_nothing_of_the_crossing():
    # Risks this far from the threshold are not told apart.
    up, down = list(searched(falling(1200, 6), 128)), list(searched(falling(60, 6), 512))
    assert [place - up[0] for place in up[:5]] == [0, 1, 3, 7, 15]
    assert [down[0] - place for place in down[:5]] == [0, 1, 3, 7, 15]


def test_where_the_last_two_risks_foretell_the_crossing_the_search_goes_there():
    assert list(searched(falling(279, 1.5), 181)) == [18, 19, 21, 20]
    assert list(searched(falling(279, 1.5), 431)) == [23, 22, 20, 21]


def test_what_lies_between_is_cut_until_the_crossing_is_between_neighbours():
    for n_star in (100, 279, 1200):
        visits = searched(falling(n_star, 3), 128)
        below = int(np.sum(n_star > SIZES)) - 1
        assert {below, below + 1} <= set(visits)


def test_a_risk_close_to_the_threshold_at_the_last_place_asks_for_one_more():
    risk = np.where(SIZES < 300, 0.9, 0.2)
    risk[21] = 0.49
    assert list(searched(risk, 256)) == [20, 21, 22]
    risk[20], risk[21] = 0.51, 0.2
    assert list(searched(risk, 256)) == [20, 21, 19]


def test_a_plateau_on_the_threshold_does_not_go_on_for_ever():
    assert len(searched(np.full(len(SIZES), 0.499), 256)) <= 8
    risk = np.where(SIZES < 300, 0.9, 0.49)
    assert len(searched(risk, 256)) == 3


@pytest.mark.parametrize(
    ("level", "edge", "status"), [(0.9, SIZES[-1], RIGHT_CENSORED), (0.2, SIZES[0], LEFT_CENSORED)]
)
def test_a_curve_without_a_crossing_is_censored_at_the_end_of_the_lattice(level, edge, status):
    risk = np.full(len(SIZES), level)
    for near in (8, 200, 4096):
        assert crossing(risk, searched(risk, near)) == (edge, status)


def test_beyond_the_cap_takes_one_fit():
    risk = np.full(len(SIZES), 0.9)
    assert list(searched(risk, 10**5)) == [len(SIZES) - 1]


def test_every_threshold_has_its_own_bracket():
    risk = falling(300, 2)
    visits = searched(risk, 300, (0.5, 0.1))
    for threshold, n_star in ((0.5, 300), (0.1, 300 * 5**0.5)):
        assert crossing(risk, visits, threshold) == (pytest.approx(n_star), OBSERVED)
    assert set(searched(risk, 300)) < set(visits)
    assert len(visits) < 10


def test_a_size_without_a_number_counts_as_one_above():
    risk = np.where(SIZES < 500, np.nan, 0.1)
    visits, first = searched(risk, 128), int(np.sum(SIZES < 500))
    assert {first - 1, first} <= set(visits)


@pytest.mark.parametrize("off", [0.25, 0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("power", [0.7, 1.5, 4.0])
def test_where_a_search_begins_does_not_move_a_crossing_of_a_curve_that_falls(off, power):
    for n_star in np.geomspace(40, 2000, 23):
        # Between neighbours a power law is interpolated without error, from wherever they were found.
        risk = falling(n_star, power)
        assert crossing(risk, searched(risk, off * n_star)) == (pytest.approx(n_star), OBSERVED)


def noisy(generator, count, power):
    """Curves (count, N) through 0.5 at sizes between those of the lattice, validation and test risk, and n* (count,).

    A seed's own deviation along n, and that of each held-out sample, which test and validation points do not share.
    """
    n_star = np.exp(generator.uniform(np.log(150), np.log(600), (count, 1)))
    wiggles = np.cumsum(generator.normal(0, 0.03, (count, len(SIZES))), axis=1)
    wiggles += generator.normal(0, 0.05, (count, len(SIZES)))
    truth = np.log(0.5) - power * np.log(SIZES / n_star) + wiggles
    held_out = generator.normal(0, 0.03, (2, count, 1)) + generator.normal(0, 0.01, (2, count, len(SIZES)))
    return np.exp(truth + held_out[0]), np.exp(truth + held_out[1]), n_star[:, 0]


@pytest.mark.parametrize("power", [0.7, 1.0, 2.0])
@pytest.mark.parametrize("off", [0.25, 1.0, 4.0])
def test_a_search_is_not_biased_against_the_whole_curve(off, power):
    generator, count = np.random.default_rng([int(100 * off), int(10 * power)]), 400
    validation, test, n_star = noisy(generator, count, power)
    whole, _ = crossings(SIZES, test, 0.5)
    visits = [searched(risk, off * n) for risk, n in zip(validation, n_star, strict=True)]
    found = [crossing(risk, places) for risk, places in zip(test, visits, strict=True)]
    # A crossing beyond the end of a search counts as its end.
    steps = np.array([np.log(n / of_all) / STEP for (n, _), of_all in zip(found, whole, strict=True)])
    assert abs(np.median(steps)) < 0.05
    assert abs(np.mean(steps)) < 0.05
    assert np.std(steps) < 0.3
    assert np.mean([status == OBSERVED for _, status in found]) > 0.93
