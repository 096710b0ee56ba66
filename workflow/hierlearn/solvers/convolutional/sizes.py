"""How many numbers a convolutional network holds while it is trained and while it is evaluated."""

from math import prod

from hierlearn.solvers.convolutional.architecture import Architecture, Convolution, Layer

# Filters of so few channels are faster as one product for all networks than as torch's convolution for each.
NARROW = 32

# Points whose Jacobians are made at once, and how many numbers of Jacobians are held: those of one output in any case.
BLOCK_POINTS, JACOBIANS = 128, 1 << 25


def outputs_at_once(network: Architecture, outputs: int, points: int) -> int:
    """Of how many outputs the Jacobians at so many points are held together: one pass forward serves them all."""
    return min(outputs, max(1, JACOBIANS // (weights(network, outputs) * (points + BLOCK_POINTS))))


def weights(network: Architecture, outputs: int) -> int:
    """Of all layers and the head, with the means and variances of batch normalisations."""
    total = network.features() * outputs + outputs + 4 * sum(network.head_norms)
    for i, layer in enumerate(network.layers):
        convolutions = [*layer.convolutions, *([] if layer.shortcut is None else [layer.shortcut])]
        total += sum(prod(one.kernel) * one.inputs * one.outputs for one in convolutions) + 4 * sum(network.norms(i))
    return total


def activations(network: Architecture) -> int:
    """What one picture leaves for the way back, itself among it."""
    return prod(network.shape) + sum(sum(_of_layer(network, layer)) for layer in network.layers)


def largest(network: Architecture) -> int:
    """What the largest layer holds of one picture on the way forward alone: patches, and arrays before and after."""
    found = []
    for layer in network.layers:
        arrays = [one for one in _of_layer(network, layer) if one]
        found.append(max(arrays) + 3 * layer.pool**2 * prod(layer.size) * layer.channels)
    return max(found)


def _of_layer(network: Architecture, layer: Layer) -> list[int]:
    """Entries of the arrays that a layer leaves for one picture: copies of patches, normalised and activated ones."""
    size, found = layer.given, []
    for one in layer.convolutions:
        entered, size = size, one.size(size)
        found.append(0 if is_patchless(one) else prod(size) * prod(one.kernel) * one.inputs)
        if network.activation == "quadratic":
            found += [prod(size) * one.outputs] * 3
        elif layer.kind == "residual":
            found += [prod(entered) * one.inputs] * 2
        elif layer.kind == "plain":
            found += [prod(size) * one.outputs] * 2
    return [*found, prod(layer.size) * layer.channels if layer.pool > 1 else 0]


def is_patchless(one: Convolution) -> bool:
    """Whether a convolution needs no copy of its patches: they do not overlap, or torch convolves."""
    return (one.kernel == one.stride and one.padding == (0, 0)) or max(one.inputs, one.outputs) > NARROW
