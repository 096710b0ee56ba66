"""Examples in docstrings give what they say."""

import doctest

import pytest

from hierlearn import datasets, estimators

PUBLIC = [getattr(module, name) for module in (datasets, estimators) for name in module.__all__]
SHOWN = [part for part in PUBLIC if part is not datasets.Truth]


@pytest.mark.parametrize("part", SHOWN, ids=lambda part: part.__name__)
@pytest.mark.filterwarnings("ignore:.*lies at the end of its grid")
def test_the_example_gives_what_it_says(part):
    tests = [test for test in doctest.DocTestFinder().find(part, part.__name__, globs={}) if test.examples]
    assert tests, f"{part.__name__} has no example"
    told = []
    for test in tests:
        assert doctest.DocTestRunner().run(test, out=told.append).failed == 0, "".join(told)
