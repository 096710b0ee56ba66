"""The lowest of several numbers that a claim asks for together."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from hierlearn.statistics.estimates import Measurement
from hierlearn.statistics.intervals import LEVEL


def lowest(measured: Callable[[float], Sequence[Measurement]], names: Sequence[str]) -> Measurement:
    """The lowest value, and an interval for the lowest of the true ones.

    measured: of a level, one measurement per name. The lower end is the lowest lower end at the usual level: all are
    above it only if each is. The upper end is the lowest at a level that holds for all of them at once (Bonferroni). A
    measurement without an interval leaves none.
    """
    single, joint = measured(LEVEL), measured(1 - (1 - LEVEL) / len(names))
    least = min(single, key=lambda one: (one.value == one.value, one.value))
    reason = "; ".join(f"{name}: {one.reason}" for name, one in zip(names, single, strict=True) if one.reason)
    whole = all(one.low == one.low and one.high == one.high for one in single)
    ends = (min(one.low for one in single), min(one.high for one in joint)) if whole else (float("nan"),) * 2
    detail = {
        name: {"value": one.value, "low": one.low, "high": one.high} for name, one in zip(names, single, strict=True)
    }
    sizes = dict.fromkeys(size for one in single for size in one.detail.get("sizes_fitted", ()))
    return replace(least, low=ends[0], high=ends[1], reason=reason, detail=detail | {"sizes_fitted": list(sizes)})
