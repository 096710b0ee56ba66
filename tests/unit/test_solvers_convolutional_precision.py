"""Steps of convolutional networks in bfloat16 against the same in float32."""

import numpy as np
import pytest
import torch
from test_solvers_convolutional import CASES, points, recipe

from hierlearn.solvers.convolutional.recipe import Phase
from hierlearn.solvers.convolutional.training import ConvolutionalTraining


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("case", ["patches", "wide plain", "wide_resnet", "quadratic, linked"])
def test_half_precision_trains_as_single_to_its_rounding_and_keeps_weights_in_float32(case, device):
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("no GPU here: half precision is tried on the processor alone")
    net, found = CASES[case], {}
    for half in (False, True):
        the_recipe = recipe(net, [Phase(len(net.layers), 0, 4)], half=half)
        one = ConvolutionalTraining(the_recipe, points(net), [0], np.float32([0.02]), np.float32([0.0]), device)
        before = one.model(0)
        one.advance(4)
        found[half] = {name: values - before[name] for name, values in one.model(0).items()}
        assert {values.dtype for values in one.model(0).values()} == {np.dtype(np.float32)}
    moved = [np.concatenate([values.ravel() for values in found[half].values()]) for half in (False, True)]
    apart = np.linalg.norm(moved[1] - moved[0]) / np.linalg.norm(moved[0])
    # A bfloat16 has eight bits: four steps are a few parts in a hundred apart, and not to the bit the same.
    assert 0 < apart < 0.1
