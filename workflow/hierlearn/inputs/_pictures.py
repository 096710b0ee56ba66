"""Pictures of a finite set as an endless sample: a part of the set for each role, in passes over it."""

from collections.abc import Mapping

import numpy as np

from hierlearn.core.streams import Streams

OTHER = "training"
# How the 1797 digits are shared out.
DIGITS = {"training": 1000, "validation": 300, "test": 497}


def part_of(streams: Streams, role: str, parts: Mapping[str, int]) -> np.ndarray:
    """(S, N_role) numbers of the pictures of a role; roles without a part of their own have that of training points.

    The parts are disjoint and at random for every seed, alike from any streams of a problem.
    """
    role = role if role in parts else OTHER
    first = sum(size for name, size in parts.items() if list(parts).index(name) < list(parts).index(role))
    order = streams.shared("parts").stack(lambda generator: generator.permutation(sum(parts.values())))
    return order[:, first : first + parts[role]]


def passes(streams: Streams, chosen: np.ndarray, start: int, count: int) -> np.ndarray:
    """(S, count) entries start .. start+count of passes over chosen pictures (S, N), each in an order of its own.

    Prefix-stable; no picture comes twice within the first N.
    """
    if start < 0 or count < 1:
        raise ValueError(f"passes: start {start} and count {count}; expected start >= 0 and count >= 1")
    size = chosen.shape[1]
    first, last = start // size, (start + count - 1) // size
    orders = [
        streams.at("pass", number).stack(lambda generator: generator.permutation(size))
        for number in range(first, last + 1)
    ]
    places = np.concatenate(orders, axis=1)[:, start - first * size :][:, :count]
    return np.take_along_axis(chosen, places, axis=1)
