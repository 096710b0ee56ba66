"""Which layers of a network are there, and which of them move, in the phases of a training."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Phase:
    """depth: layers in front of the head; rest: how many of them, from the first, do not move; steps: how many.

    pull: whether layers are drawn to where they were when the phase began, as far as they were trained before.
    """

    depth: int
    rest: int
    steps: int
    pull: bool = False


def phases(schedule: str, depth: int, steps: int, trained: int = 1, fixed: int | None = None, refit: int = 0):
    """The phases of a schedule  (allenzhu2020, Figures 7 and 8): steps times depth in all, and those of the refit.

    joint: all at once; staged: one layer more in each, nothing at rest; layerwise: one layer more, all before it at
    rest; only: the first `trained` layers alone, under a head of their own; fixed: these first, then the whole network
    with its first `fixed` layers at rest (as many as were trained, if None). refit: steps of the last head alone.
    """
    fixed = trained if fixed is None else fixed
    found = {
        "joint": [Phase(depth, 0, steps * depth)],
        "staged": [Phase(layer, 0, steps) for layer in range(1, depth + 1)],
        "layerwise": [Phase(layer, layer - 1, steps) for layer in range(1, depth + 1)],
        "only": [Phase(trained, 0, steps * depth)],
        "fixed": [Phase(trained, 0, steps * trained), Phase(depth, fixed, steps * (depth - trained), pull=True)],
    }[schedule]
    return found + ([Phase(found[-1].depth, found[-1].depth, refit)] if refit else [])
