"""Ticks that a reader can read off, on linear and logarithmic axes."""

import textwrap

import numpy as np

SUPERSCRIPTS = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")
# A coordinate along which so many values lie that a tick at each says nothing.
DENSE = "step"
# Shares of a panel's width that a character of a tick's label takes, and that labels are apart at least.
CHARACTER, BESIDE = 0.021, 0.02
# Ticks of dimensions are at least this factor apart; room to each side of a single value, a factor.
FACTOR, ROOM = 1.25, 4.0
# Letters of panels' titles in a row of panels.
LETTERS = 130


def fix_ticks(axis, values, form: str = "{x:g}") -> None:
    """Ticks of an axis at these values alone."""
    from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

    axis.set_major_locator(FixedLocator(values))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(StrMethodFormatter(form))


def tick_values(place, axis: str) -> None:
    """Ticks at the values themselves where they are few numbers on a log axis, or few whole ones on a linear one.

    axis: the coordinate along it.
    """
    # Bounds, levels and guides have no markers.
    x = [line.get_xdata() for line in place.get_lines() if line.get_marker() not in ("None", None, "")]
    values = np.unique(np.concatenate(x)) if x else np.empty(0)
    whole = 1 < len(values) <= 8 and (values == np.round(values)).all() and np.ptp(values) <= 8
    if place.get_xscale() == "linear" and whole:
        fix_ticks(place.xaxis, values)
    if axis == DENSE or place.get_xscale() != "log" or not 1 < len(values) <= 8 or values[-1] >= 10_000:
        return
    # values that are too close for two labels share the first one's
    left, right = place.get_xlim()
    apart, span = [values[0]], np.log(right / left)
    for value in values[1:]:
        characters = (len(f"{value:g}") + len(f"{apart[-1]:g}")) / 2
        if np.log(value / apart[-1]) > (CHARACTER * characters + BESIDE) * span:
            apart.append(value)
    # One number alone gives no scale.
    fix_ticks(place.xaxis, apart if len(apart) > 1 else values[[0, -1]])


def dimension_axis(place, dimensions) -> None:
    """A tick at each of increasing dimensions whose number does not run into the one before."""
    kept = list(dimensions[:1])
    for d in dimensions[1:]:
        if d >= FACTOR * kept[-1]:
            kept.append(d)
    tidy(place)
    fix_ticks(place.xaxis, kept, "{x:.0f}")


def surround(place, sizes) -> None:
    """Limits of axes that will be logarithmic and have a single value, about it: matplotlib has none for all numbers.

    sizes: along x, where markers of one size stand beside one another.
    """
    lines = [np.array(line.get_data(), dtype=float) for line in place.get_lines()]
    points = np.concatenate([np.empty((2, 0)), *lines], axis=1)
    x, y = (values[np.isfinite(values) & (values > 0)] for values in points)
    if len(sizes) == 1 and len(x):
        place.set_xlim(x.min() / ROOM, x.max() * ROOM)
    # A median is an exponential of a logarithm.
    if len(y) and np.isclose(y.min(), y.max(), rtol=1e-9):
        place.set_ylim(y.min() / ROOM, y.max() * ROOM)


def broken(label: str, beside: int) -> str:
    """A label in lines that fit above a panel with others beside it. beside: how many stand in a row."""
    letters = max(LETTERS // beside, 8)
    return "\n".join(
        line for part in label.split("\n") for line in textwrap.wrap(part, letters, break_long_words=False)
    )


def power(value: float, position: int | None = None) -> str:
    """A tick's label: 10 to a whole power in plain characters, which are drawn ten times as fast as formulas."""
    exponent = round(np.log10(value))
    return "10" + str(exponent).translate(SUPERSCRIPTS) if np.isclose(value, 10.0**exponent) else f"{value:g}"


def tidy(place) -> None:
    """Two numbers or more on every log axis: powers of 10 where it spans two decades, else plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, ScalarFormatter

    for scale, axis in ((place.get_xscale(), place.xaxis), (place.get_yscale(), place.yaxis)):
        if scale != "log":
            continue
        low, high = axis.get_view_interval()
        axis.set_minor_formatter(NullFormatter())
        if high / low >= 100:
            axis.set_major_formatter(FuncFormatter(power))
            continue
        # Of 1, 2 and 5 there are two in every factor of 6.25, and in less there may be one.
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)) if high / low >= 7 else MaxNLocator(4))
        numbers = ScalarFormatter(useOffset=False)
        numbers.set_scientific(False)
        axis.set_major_formatter(numbers)


def name_values(place, names) -> None:
    """Names in place of the numbers along an axis of a few kinds, which no line joins."""
    x = [line.get_xdata() for line in place.get_lines() if line.get_marker() not in ("None", None, "")]
    values = np.unique(np.concatenate(x))
    place.set_xticks(values, names[: len(values)])
    place.set_xlim(values[0] - 0.5, values[-1] + 0.5)
