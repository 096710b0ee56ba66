"""Examples in docstrings give what they say."""

import doctest

import pytest

from hierlearn import comparison, datasets, estimators, statistics, theory

PUBLIC = [getattr(module, name) for module in (datasets, estimators) for name in module.__all__]
PUBLIC += [getattr(module, name) for module in (theory, statistics) for name in module.PUBLIC]
PUBLIC += [comparison.compare, comparison.Comparison]
# What functions return has no example of its own.
RETURNED = (
    comparison.Comparison,
    datasets.Table,
    datasets.Truth,
    theory.Dimensions,
    statistics.SampleComplexity,
    statistics.Slope,
)
SHOWN = [part for part in PUBLIC if part not in RETURNED]


@pytest.mark.parametrize("part", SHOWN, ids=lambda part: part.__name__)
@pytest.mark.filterwarnings("ignore:.*lies at the end of its grid")
def test_the_example_gives_what_it_says(part):
    tests = [test for test in doctest.DocTestFinder().find(part, part.__name__, globs={}) if test.examples]
    assert tests, f"{part.__name__} has no example"
    told = []
    for test in tests:
        assert doctest.DocTestRunner().run(test, out=told.append).failed == 0, "".join(told)
