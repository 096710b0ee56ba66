"""Holm's correction against its definition and a worked example."""

import itertools

import numpy as np
import pytest
from scipy import stats

from hierlearn.statistics.intervals import holm


def test_a_worked_example():
    """Four tests: 4 * 0.005, 3 * 0.01, 2 * 0.03, 1 * 0.04 raised to the one before."""
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])


def closed(p):
    """Adjusted p-values by the closure of Bonferroni's test: the largest over all sets of tests that hold one."""
    m = len(p)
    sets = [one for size in range(1, m + 1) for one in itertools.combinations(range(m), size)]
    return [max(min(1.0, len(one) * min(p[j] for j in one)) for one in sets if i in one) for i in range(m)]


@pytest.mark.parametrize("seed", range(5))
def test_holm_is_the_closure_of_bonferroni(seed):
    p = np.random.default_rng(seed).random(7) ** 3
    np.testing.assert_allclose(holm(p), closed(p))


def test_equal_p_values_are_adjusted_alike():
    np.testing.assert_allclose(holm([0.02, 0.02, 0.5]), [0.06, 0.06, 0.5])


def test_large_p_values_do_not_change_those_of_small_ones():
    """Whatever larger ones are: what does not fail may count as 1."""
    one, other = holm([0.001, 0.004, 0.3, 0.9]), holm([0.001, 0.004, 1.0, 1.0])
    np.testing.assert_allclose(one[:2], other[:2])


def test_false_rejections_stay_rare_among_dependent_tests():
    generator = np.random.default_rng(0)
    shared = generator.standard_normal((4000, 1))
    z = 0.7 * shared + np.sqrt(1 - 0.49) * generator.standard_normal((4000, 10))
    false = [np.any(holm(p) <= 0.05) for p in stats.norm.sf(z)]
    assert np.mean(false) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 4000)


def test_no_tests_and_one_test():
    assert holm([]).shape == (0,)
    np.testing.assert_allclose(holm([0.3]), [0.3])


@pytest.mark.parametrize("wrong", [[-0.1], [1.1], [np.nan], [[0.1]]])
def test_what_is_no_p_value_is_refused(wrong):
    with pytest.raises(ValueError, match="from 0 to 1"):
        holm(wrong)
