"""Quantities that are measured on a probe alone."""

from dataclasses import replace

import numpy as np
import xarray
from recomputation.estimates import cases, fitted_line, lowest, named, of_mean, positive_log, spanning, t_mean
from recomputation.tables import probe_at
from scipy import stats


def probe_slope(files, probe, variable, axis="dimension", where=(), values=None):
    logs = positive_log(probe_at(files.probes[probe][variable], dict(where), (axis,)))
    sizes = files.probes[probe][axis].values
    order = np.argsort(sizes)
    keep = order[named(sizes[order], values)]
    x, logs = np.log(sizes[keep]), logs[keep]
    line = fitted_line(x, logs, logs)
    if logs.shape[1] < 2:
        return line
    whole = np.isfinite(logs).all(axis=1)
    return spanning(line, t_mean([stats.linregress(x[whole], one[whole]).slope for one in logs.T]))


def probe_theory_ratio(files, probe, variable, theory, axis="dimension", where=(), values=None):
    data = files.probes[probe]
    measured, known = (probe_at(data[name], dict(where), (axis,)) for name in (variable, theory))
    logs = np.median(positive_log(measured), axis=1) - np.log(known.mean(axis=1))
    logs = logs[named(data[axis].values, values)]
    return t_mean(logs[np.isfinite(logs)])


def probe_mean(files, probe, variable, over=None, log=False, positive=False, least=None, most=None, where=()):
    values = probe_at(files.probes[probe][variable], dict(where), ())
    if over is not None:
        values = values / probe_at(files.probes[probe][over], dict(where), ())
    found = of_mean(values, log, positive)
    ends = -np.inf if least is None else least, np.inf if most is None else most
    return replace(found, low=float(np.clip(found.low, *ends)), high=float(np.clip(found.high, *ends)))


def probe_difference(files, probe, variable, axis, above, below, where=()):
    values = probe_at(files.probes[probe][variable], dict(where), (axis,))
    places = files.probes[probe][axis].values
    here, *others = (values[np.flatnonzero(places == one)[0]] for one in (above, *below))
    single, joint = ([t_mean(here - one, level=1 - 0.05 / n) for one in others] for n in (1, len(others)))
    return lowest(single, joint)


def probe_holds(files, probe, larger, smaller, level=None, where=()):
    data = files.probes[probe]
    sides = [
        data[name].sel({axis: value for axis, value in dict(where).items() if axis in data[name].dims})
        for name in (larger, smaller)
    ]
    sides = xarray.broadcast(*sides)
    sides = [side if "seed" in side.dims else side.expand_dims("seed") for side in sides]
    a, b = (side.transpose(..., "seed").values.astype(float) for side in sides)
    return cases(a, b if level is None else np.full_like(b, level))
