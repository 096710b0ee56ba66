"""What the boundary says of measurements and figures, and of methods that take other things than they are given."""

import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest

from hierlearn.core import contracts
from hierlearn.core.contracts import BrokenContract
from hierlearn.statistics.estimates import Measurement

X = np.ones((2, 4, 6), np.float32)
HERE = r"tests/unit/test_boundary_calls\.py:\d+: "


@dataclass
class Ledger:
    """Is asked as a quantity and as a figure are."""

    answer: object

    def measure(self, cube, probes):
        return self.answer

    def draw(self, cube, probes, study, traces):
        return self.answer


MEASURED = Measurement(np.float64(1.0), 0.5, np.nan, "", 3)


def test_a_whole_measurement_enters():
    assert contracts.measurement(Ledger(MEASURED), None, {}) is MEASURED


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "found nothing; expected a Measurement"),
        (1.5, "found a float; expected a Measurement"),
        (replace(MEASURED, value=None), "found value nothing; expected a number"),
        (replace(MEASURED, low=np.ones(2)), r"found low float64 of shape \(2,\); expected a number"),
        (replace(MEASURED, seeds=2.5), "found seeds a float; expected an integer"),
    ],
)
def test_a_measurement_that_is_not_whole_is_one_line(answer, message):
    with pytest.raises(BrokenContract, match=HERE + "measure: " + message):
        contracts.measurement(Ledger(answer), None, {})


def test_a_figure_that_is_none_is_one_line():
    with pytest.raises(BrokenContract, match=HERE + "draw: found nothing; expected a matplotlib Figure"):
        contracts.drawing(Ledger(None), None, {}, {}, None)


class Wide:
    """What a component inherits its methods from."""

    outputs = 1

    def apply(self, state, x):
        """As a protocol has it."""

    def target(self, state, x):
        """As a protocol has it."""


class Narrow(Wide):
    """Has a method that takes less than it is given, one whose lines are wrong, and one that ends the process."""

    def draw(self, streams, inputs):
        sys.exit("enough")

    def apply(self, x):
        return x

    def target(self, state, x):
        return len(1)


def test_a_method_with_other_parameters_is_one_line_with_its_place():
    message = HERE + r"apply: found the parameters \(self, x\); expected \(self, state, x\)"
    with pytest.raises(BrokenContract, match=message):
        contracts.features(Narrow(), {}, X)


def test_a_method_that_ends_the_process_is_one_line_with_its_place():
    with pytest.raises(BrokenContract, match=HERE + r"draw: found an exit \(enough\); expected a result or an error"):
        contracts.teacher_state(Narrow(), None, None)


def test_a_wrong_type_inside_a_method_is_no_matter_of_its_parameters():
    with pytest.raises(TypeError, match="object of type 'int' has no len"):
        contracts.target(Narrow(), {}, X)
