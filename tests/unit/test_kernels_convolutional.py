"""Kernels of convolutional networks against wide finite networks, and where they are those of fully connected ones."""

import numpy as np
import pytest
import torch

from hierlearn.core.registry import build, defaults, validate

WIDTH, DRAWS = 256, 24


def kernel(**parameters):
    return build("kernels", {"name": "ntk_convolutional"} | parameters)


def points(n, dimension, seed=0):
    return np.random.default_rng(seed).standard_normal((n, dimension))


def finite_kernels(x, places, filters, patch, depth, pooling, dense):
    """Tangent and conjugate kernel of one network, the mean over draws of weights: torch's own gradients."""
    tangent = conjugate = 0.0
    for draw in range(DRAWS):
        generator = torch.Generator().manual_seed(draw)
        channels, weights = x.shape[1] // places, []
        for layer in range(depth + dense):
            seen = patch if layer < depth else places_at_the_end(places, filters, patch, depth, pooling)
            weights.append(torch.randn(seen, channels, WIDTH, generator=generator, dtype=torch.float64))
            channels = WIDTH
        last = 1 if dense else places_at_the_end(places, filters, patch, depth, pooling)
        weights.append(torch.randn(last, WIDTH, 1, generator=generator, dtype=torch.float64))
        for one in weights:
            one.requires_grad_(True)
        gradients, features = [], []
        for point in x:
            h = torch.tensor(point.reshape(-1, places).T.copy()) * np.sqrt(places)
            for one in weights[:depth]:
                h = np.sqrt(2 / WIDTH) * torch.relu(convolved(h, one, filters))
            h = h.mean(dim=0, keepdim=True) if pooling else h / np.sqrt(len(h))
            for one in weights[depth:-1]:
                h = np.sqrt(2 / WIDTH) * torch.relu(torch.einsum("pc,pco->o", h, one))[None]
            out = torch.einsum("pc,pco->o", h, weights[-1])[0]
            gradients.append(torch.cat([g.flatten() for g in torch.autograd.grad(out, weights)]).numpy())
            features.append(h.detach().numpy().ravel())
        gradients, features = np.array(gradients), np.array(features)
        tangent, conjugate = tangent + gradients @ gradients.T / DRAWS, conjugate + features @ features.T / DRAWS
    return tangent, conjugate


def places_at_the_end(places, filters, patch, depth, pooling):
    return 1 if pooling else places if filters == "circular" else places // patch**depth


def convolved(h, weight, filters):
    """(places, channels) -> (places', outputs)."""
    seen = len(weight)
    if filters == "tree":
        return torch.einsum("pac,aco->po", h.unflatten(0, (-1, seen)), weight) / np.sqrt(seen)
    moved = torch.stack([torch.roll(h, -a, 0) for a in range(seen)], dim=1)
    return torch.einsum("pac,aco->po", moved, weight) / np.sqrt(seen)


@pytest.mark.parametrize("pooling", [False, True])
@pytest.mark.parametrize(
    ("filters", "places", "patch", "depth", "dense"),
    [("circular", 5, 2, 2, 0), ("circular", 4, 4, 1, 1), ("tree", 8, 2, 2, 0), ("tree", 4, 2, 1, 1)],
)
def test_a_wide_network_has_its_kernels(filters, places, patch, depth, dense, pooling):
    x = points(4, 2 * places)
    parameters = {"filters": filters, "places": places, "patch": patch, "depth": depth, "pooling": pooling}
    tangent, conjugate = finite_kernels(x, dense=dense, **parameters)
    for trained, found in (("all", tangent), ("last", conjugate)):
        expected = kernel(**parameters, dense=dense, trained=trained)(x)
        # Entries scatter by 1 / sqrt(256 x 24) = 0.013 of the diagonal for each layer that is drawn.
        np.testing.assert_allclose(found, expected, rtol=0, atol=0.06 * expected.max())


@pytest.mark.parametrize("depth", [1, 3])
def test_filters_that_see_everything_are_fully_connected(depth):
    x, z = points(40, 12), points(30, 12, seed=1)
    connected = build("kernels", {"name": "ntk", "depth": depth + 1, "bias": False})
    for one in (kernel(depth=depth), kernel(depth=depth, places=1), kernel(depth=depth, places=4, patch=4)):
        np.testing.assert_allclose(one(x, z), connected(x, z), rtol=1e-11)
    last = build("kernels", {"name": "ntk", "depth": depth + 1, "bias": False, "trained": "last"})
    np.testing.assert_allclose(kernel(depth=depth, trained="last")(x, z), last(x, z), rtol=1e-11)


def test_pooling_is_the_mean_over_shifts():
    x, z = points(140, 6), points(30, 6, seed=1)
    shifted = [kernel(patch=3, depth=2)(x, np.roll(z, shift, axis=1)) for shift in range(6)]
    np.testing.assert_allclose(kernel(patch=3, depth=2, pooling=True)(x, z), np.mean(shifted, axis=0), rtol=1e-11)


def test_a_shift_changes_a_kernel_with_pooling_alone():
    x, z = points(20, 6), points(30, 6, seed=1)
    moved = np.roll(z, 2, axis=1)
    for dense in (0, 1):
        pooled, bare = kernel(pooling=True, dense=dense), kernel(dense=dense)
        np.testing.assert_allclose(pooled(x, moved), pooled(x, z), rtol=1e-11)
        assert np.max(np.abs(bare(x, moved) - bare(x, z))) > 0.1 * np.max(bare(x, z))


def test_a_tree_sees_which_places_are_neighbours():
    x, z = points(20, 8), points(20, 8, seed=1)
    tree = kernel(places=4, filters="tree", patch=2, depth=2)
    within, across = ([1, 0, 2, 3], [0, 2, 1, 3])

    def moved(points, order):
        return points.reshape(-1, 2, 4)[:, :, order].reshape(-1, 8)

    np.testing.assert_allclose(tree(moved(x, within), moved(z, within)), tree(x, z), rtol=1e-11)
    assert np.max(np.abs(tree(moved(x, across), moved(z, across)) - tree(x, z))) > 0.01


@pytest.mark.parametrize(
    ("parameters", "dimension", "message"),
    [
        ({"places": 5}, 12, ("places", "5 of x of dimension 12", "a divisor of the dimension")),
        ({"patch": 13}, 12, ("patch", "13", "at most the 12 places")),
        (
            {"places": 4, "filters": "tree", "patch": 2, "depth": 3},
            12,
            ("patch", "2 with 3 layers of a tree on 4 places", "a divisor of the places, layer by layer"),
        ),
    ],
)
def test_places_and_filters_that_do_not_fit_are_objections(parameters, dimension, message):
    law = build("inputs", {"name": "hypercube"}, dimension=dimension)
    described = {"name": "ntk_convolutional"} | defaults("kernels", "ntk_convolutional") | parameters
    assert validate("kernels", described, law) == [message]


def test_points_of_other_places_are_refused():
    with pytest.raises(ValueError, match="dimension 7; expected a multiple of the 3 places"):
        kernel(places=3)(points(2, 7))
