"""What every probe must do with its default parameters; tests/unit has what it measures."""

import numpy as np
import pytest

from hierlearn.core.problem import pose
from hierlearn.core.registry import available, build, defaults, implementation
from hierlearn.core.streams import Streams

SEEDS = (4, 7, 9)
# Where the common problem is not one that a probe measures, and what keeps it short.
PROBLEMS = {
    "marginal_accuracy": ("gaussian", 10, {"name": "quadratic_densenet"}),
    "alternating_squares": ("gaussian", 6, {"name": "quadratic_densenet", "widths": [2, 1]}),
    "parity_network": ("hypercube", 10, {"name": "parity", "order": 2}),
}
SHORT = {
    "parity_network": {"width": 20, "copies": 2},
    "marginal_accuracy": {"points": 2000},
    "alternating_squares": {"points": 1000, "rounds": 2},
    # By default there are no other networks, and nothing of them to measure.
    "tracking": {"others": {"twin": {"name": "randomised"}}},
}


def problem(name, seeds=SEEDS):
    law, dimension, teacher = PROBLEMS.get(name, ("sphere", 6, {"name": "ridge_polynomial", "degree": 2}))
    inputs = build("inputs", {"name": law}, dimension=dimension)
    return pose(inputs, build("teachers", teacher), "unit", 0.0, Streams(("probed",), seeds), 40)


class Measured:
    """A probe with what it measures for all seeds together."""

    def __init__(self, name):
        self.name, self.parameters = name, defaults("probes", name) | SHORT.get(name, {})
        self.together = self.again()

    def again(self, seeds=SEEDS):
        return build("probes", {"name": self.name} | self.parameters).measure(problem(self.name, seeds))


@pytest.fixture(scope="module", params=available("probes"))
def measured(request):
    return Measured(request.param)


def test_it_measures_what_it_declares_and_nothing_else(measured):
    declared = implementation("probes", measured.name).MEASURES
    coordinates = implementation("probes", measured.name).COORDINATES
    assert all(declared.values())
    assert set(declared) <= set(measured.together) <= {*declared, *coordinates, "seed", "flops"}


def test_a_variable_has_the_shape_of_its_coordinates(measured):
    found = measured.together
    for name, variable in found.items():
        assert np.shape(variable.values) == tuple(np.size(found[axis].values) for axis in variable.dimensions), name
        # Only a coordinate may be words.
        assert np.asarray(variable.values).dtype.kind in ("Ufi" if variable.dimensions == (name,) else "fi"), name
    for axis, parameter in implementation("probes", measured.name).COORDINATES.items():
        if isinstance(measured.parameters[parameter], list | dict):
            assert found[axis].values.tolist() == list(measured.parameters[parameter])
    if "seed" in found:
        assert tuple(found["seed"].values) == SEEDS


def test_equal_problems_give_equal_numbers(measured):
    again = measured.again()
    assert again.keys() == measured.together.keys()
    for name, variable in measured.together.items():
        assert np.array_equal(variable.values, again[name].values, equal_nan=variable.values.dtype.kind == "f"), name


def test_a_seed_has_its_values_whatever_seeds_are_beside_it(measured):
    for position in (2, 0):
        alone = measured.again(SEEDS[position : position + 1])
        for name, variable in measured.together.items():
            values = variable.values
            if "seed" in variable.dimensions:
                values = np.take(values, [position], axis=variable.dimensions.index("seed"))
            if values.dtype.kind == "f":
                # Sums over seeds at once may end in another last bit.
                np.testing.assert_allclose(alone[name].values, values, rtol=1e-12, atol=0, err_msg=name)
            else:
                assert np.array_equal(alone[name].values, values), name


def test_a_measure_says_what_it_is_and_in_which_unit(measured):
    for name in implementation("probes", measured.name).MEASURES:
        if name in measured.together:
            assert {"long_name", "units"} <= set(measured.together[name].attributes), name
