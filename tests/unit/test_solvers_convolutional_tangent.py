"""The tangent kernel of a convolutional network against Jacobians of torch's own layers, point by point."""

import numpy as np
import pytest
import torch
from test_solvers_convolutional import CASES, CLASSES, Plain, generators, network
from torch.utils.flop_counter import FlopCounterMode

from hierlearn.solvers.convolutional import architecture, model, tangent

# Factors of patches with height and width, behind activations that are no ReLUs, and in a first layer of two places.
ALL = CASES | {
    "tree of pictures": network("patches", (3, 8, 8), 3, 80, activation="quadratic", links=True),
    "two places": network("patches", (5, 2, 4), 2, 64, links=True, head="flat"),
}


def network_at_its_start(net):
    """Weights with the statistics of some points, and these points."""
    shapes = net.shapes() | net.head_shapes(CLASSES)
    weights = model.start(shapes, lambda name: generators(3, name))
    channels, *size = net.shape
    x = np.random.default_rng(4).standard_normal((9, *size, channels)).astype(np.float32)
    return weights | tangent.statistics_of_points(net, weights, x, "cpu"), x


def jacobian(net, weights, point):
    """(k, p) of one point (height, width, channels), by backward passes through torch's layers at rest."""
    plain = Plain(net, CLASSES)
    plain.load(weights)
    plain.eval()
    outputs = plain(torch.tensor(point[None]).permute(0, 3, 1, 2))[0]
    rows = [torch.autograd.grad(one, list(plain.parameters()), retain_graph=True) for one in outputs]
    return torch.stack([torch.cat([part.flatten() for part in row]) for row in rows]).double().numpy()


@pytest.mark.parametrize("outputs_at_once", [1, 3, CLASSES])
@pytest.mark.parametrize("case", ALL)
def test_the_kernel_is_the_mean_over_outputs_of_products_of_gradients(case, outputs_at_once, monkeypatch):
    # Several blocks, the last of them smaller.
    monkeypatch.setattr(architecture, "BLOCK_POINTS", 2)
    monkeypatch.setattr(architecture.Architecture, "outputs_at_once", lambda *_: outputs_at_once)
    net = ALL[case]
    weights, x = network_at_its_start(net)
    found, across = tangent.grams(net, weights, x[:5], x[5:8], "cpu")
    rows = [jacobian(net, weights, point) for point in x[:8]]
    wanted = np.array([[np.sum(a * b) / CLASSES for b in rows[:5]] for a in rows])
    size = np.abs(wanted).max()
    np.testing.assert_allclose(found, wanted[:5], atol=1e-4 * size)
    np.testing.assert_allclose(across, wanted[5:], atol=1e-4 * size)
    np.testing.assert_array_equal(across, tangent.gram(net, weights, x[5:8], x[:5], "cpu"))
    assert np.array_equal(found, found.T)


@pytest.mark.parametrize("case", ["plain", "quadratic, linked", "wide_resnet"])
def test_the_statistics_are_those_of_a_pass_of_torch_over_the_points(case):
    net = CASES[case]
    weights, x = network_at_its_start(net)
    plain = Plain(net, CLASSES)
    plain.load(weights)
    for module in plain.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.reset_running_stats()
            # The mean over all batches: of one batch, itself.
            module.momentum = None
    plain(torch.tensor(x).permute(0, 3, 1, 2))
    seen = {name: tensor for tensor, name in plain.names().items() if "mean" in name or "variance" in name}
    assert seen.keys() == {name for name in weights if "mean" in name or "variance" in name}
    for name, tensor in seen.items():
        np.testing.assert_allclose(weights[name].ravel(), tensor.numpy(), rtol=1e-3, atol=1e-4, err_msg=name)


# Some with a rest and all at once; one by one is the longest, and slow.
@pytest.mark.parametrize("outputs_at_once", [pytest.param(1, marks=pytest.mark.slow), 3, CLASSES])
@pytest.mark.parametrize("case", ALL)
def test_products_of_gradients_are_counted(case, outputs_at_once, monkeypatch):
    monkeypatch.setattr(architecture.Architecture, "outputs_at_once", lambda *_: outputs_at_once)
    net = ALL[case]
    weights, x = network_at_its_start(net)

    def multiplications(n, others):
        with FlopCounterMode(display=False) as counter:
            tangent.gram(net, weights, x[:n], x[:others], "cpu")
        return counter.get_total_flops() / 2

    # What is made for every point, and not for pairs of them, falls out.
    found = multiplications(3, 3) - multiplications(3, 2) - multiplications(2, 3) + multiplications(2, 2)
    assert found == net.gradient_products(CLASSES, 3)


@pytest.mark.parametrize(
    ("case", "layers"), [("patches", (1, 2)), ("tree of pictures", (1, 2)), ("two places", (0, 1)), ("plain", ())]
)
def test_few_places_and_many_channels_have_gradients_in_factors(case, layers, monkeypatch):
    net = ALL[case]
    assert net.factored == layers
    products = net.gradient_products(CLASSES, 9)
    monkeypatch.setattr(architecture.Layer, "is_factored", False)
    whole = net.gradient_products(CLASSES, 9)
    assert products < whole if layers else products == whole
