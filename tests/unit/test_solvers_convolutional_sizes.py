"""What a convolutional network is said to hold, against what torch keeps and its arrays have."""

import numpy as np
import pytest
import torch
from test_solvers_convolutional import CASES, CLASSES, generators

from hierlearn.solvers.convolutional import model

every = pytest.mark.parametrize("case", CASES)


def started(net):
    shapes = net.shapes() | net.head_shapes(CLASSES)
    weights = model.start(shapes, lambda name: generators(3, name))
    return {name: torch.tensor(values[None]) for name, values in (weights | model.statistics(weights)).items()}


@every
def test_weights_are_counted(case):
    assert CASES[case].weights(CLASSES) == sum(values.numel() for values in started(CASES[case]).values())


@every
def test_what_is_kept_for_the_way_back_is_counted_to_a_third(case):
    net, count, kept = CASES[case], 4, {}
    own = started(net)
    leaves = {
        name: values.requires_grad_("mean" not in name and "variance" not in name) for name, values in own.items()
    }
    known = {values.untyped_storage().data_ptr() for values in own.values()}
    channels, *size = net.shape
    x = torch.tensor(np.random.default_rng(1).standard_normal((1, count, *size, channels)), dtype=torch.float32)

    def keep(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in known:
            kept[storage.data_ptr()] = storage
        return tensor

    running = {name: values.detach().clone() for name, values in own.items()}
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        found = model.layers(net, leaves, running, x, trained_from=0)
    numbers = sum(len(storage) for storage in kept.values()) / 4 / count
    assert found and 2 / 3 < net.activations() / numbers < 3 / 2, (net.activations(), numbers)


@every
def test_a_pass_forward_holds_no_more_at_once_than_is_said_by_much(case):
    """The largest array that an operation makes, of which there are two or three at once."""
    # Of fewer pictures torch makes copies of their patches on one thread.
    net, count, made = CASES[case], 16, []

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            found = function(*args, **(kwargs or {}))
            made.extend(
                one.numel() for one in (found if isinstance(found, tuple) else (found,)) if torch.is_tensor(one)
            )
            return found

    channels, *size = net.shape
    own = started(net)
    with Watch(), torch.no_grad():
        model.layers(net, own, own, torch.zeros((1, count, *size, channels)))
    assert 1 <= net.largest() * count / max(made) <= 6
