"""Ticks that a reader can read off, on linear and logarithmic axes."""

from itertools import pairwise

import numpy as np
from matplotlib.ticker import (
    FixedLocator,
    LogLocator,
    NullFormatter,
    NullLocator,
    ScalarFormatter,
    StrMethodFormatter,
)

# Coordinates along which so many values lie that a tick at each says nothing.
DENSE = ("samples", "step")


def ticked(place, axis: str) -> None:
    """Ticks at the values themselves where they are few numbers on a log axis. axis: the coordinate along it."""
    drawn = [line.get_xdata() for line in place.get_lines() if line.get_marker() not in ("None", None, "")]
    values = np.unique(np.concatenate(drawn)) if drawn else np.empty(0)
    if axis in DENSE or place.get_xscale() != "log" or not 1 < len(values) <= 8 or values[-1] >= 10_000:
        return
    # neighbours that are too close for two labels share the first one's
    apart, span = [values[0]], np.log(values[-1] / values[0])
    apart += [v for a, v in pairwise(values) if np.log(v / a) > 0.07 * span]
    place.xaxis.set_major_locator(FixedLocator(apart))
    place.xaxis.set_minor_locator(NullLocator())
    place.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))


def tidy(place) -> None:
    """Plain numbers on log axes of less than a decade and a half, and no numbers at minor ticks."""
    for scale, axis in ((place.get_xscale(), place.xaxis), (place.get_yscale(), place.yaxis)):
        if scale != "log":
            continue
        low, high = axis.get_view_interval()
        if high / low < 30:
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            plain = ScalarFormatter()
            plain.set_scientific(False)
            axis.set_major_formatter(plain)
        axis.set_minor_formatter(NullFormatter())
