"""Every figure is drawn and every claim measured at every preset, on made-up numbers of a run's shapes."""

import math

import numpy as np
import pytest
import xarray

from hierlearn import components
from hierlearn.components import PACKAGE, build
from hierlearn.study import checking, jobs, reading, references

STUDIES = sorted((PACKAGE.parents[1] / "config" / "studies").glob("*.yaml"))
SEEDS, STEPS = 2, [1, 10, 100]
# What a probe's variables have of its own coordinates, where no line of the study tells.
OWN = {"sample_complexity": ("line", "threshold"), "risk": ("line", "ridge", "samples")}


def said(study, literal):
    """What the learners of a study say that they measure or record."""
    entries = study.content["learners"].values()
    return {
        name for entry in entries for name in components.literal("learners", entry["learner"]["name"], literal) or ()
    }


def dataset(coordinates, names, along):
    """Variables that fall along one coordinate and differ by seed; zeros elsewhere cost no memory."""
    sizes = [len(values) for values in coordinates.values()]
    shape = [size if axis in (along, "seed") else 1 for axis, size in zip(coordinates, sizes, strict=True)]
    ranks = np.arange(math.prod(shape)).reshape(shape)
    values = np.broadcast_to(2.0 * 0.7**ranks, sizes)
    variables = {name: (tuple(coordinates), values) for name in names}
    return xarray.Dataset(variables, coordinates)


def cubes(study):
    """scores.nc and traces.nc."""
    coordinates = study.coordinates | {"seed": list(range(SEEDS))}
    chosen = {f"selected_{key}" for entry in study.content["learners"].values() for key in entry["select"]}
    names = {*references.SCORES, *said(study, "MEASURES"), *chosen, "target_norm", "unlabelled_samples"}
    scores = dataset(coordinates, names, "samples")
    scores["status"] = xarray.zeros_like(scores.test_risk, dtype=np.int8)
    return scores, dataset(coordinates | {"step": STEPS}, said(study, "TRACES"), "step")


def probes(study):
    """Every probe; a variable has those of the probe's own coordinates that the study goes along or always fixes."""
    found = {}
    panels = study.content["figure"].get("panels", [])
    named = [panel | line for panel in panels for line in panel["lines"]]
    named += [claim["quantity"] for claim in study.content["claims"].values()]
    for name, entry in study.content["probes"].items():
        component = entry["probe"]["name"]
        own = components.literal("probes", component, "COORDINATES") or {}
        described = components.defaults("probes", component) | entry["probe"]
        # Lines of theory have no seeds.
        seeds = {} if "line" in own else {"seed": list(range(SEEDS))}
        grid = study.axes | entry["axes"] | seeds
        variables = {}
        for variable in components.literal("probes", component, "MEASURES"):
            uses = [use for use in named if use.get("probe") == name and variable in use.values()]
            lines, places = (
                {use.get(key) for use in uses for key in ("x", "axis")},
                [use.get("where", {}) for use in uses],
            )
            needed = {
                axis: list(described[parameter])
                for axis, parameter in own.items()
                if (axis in OWN[variable] if "line" in own else axis in lines or all(axis in place for place in places))
            }
            variables[variable] = dataset(grid | needed, [variable], next(iter(needed), "dimension"))[variable]
        found[name] = xarray.Dataset(variables)
    return found


@pytest.mark.parametrize("preset", reading.PRESETS)
@pytest.mark.parametrize("file", STUDIES, ids=[file.stem for file in STUDIES])
def test_a_study_can_be_drawn_and_judged(file, preset):
    study, faults = checking.study(file, file.name, preset)
    assert faults == []
    scores, traces = cubes(study) if study.content["learners"] else (None, None)
    measured, drawing = probes(study), jobs.figure(study)
    figure = build("figures", drawing["figure"]).draw(scores, measured, drawing, traces)
    assert figure.axes
    for claim in jobs.judge(study)["claims"].values():
        quantity = build("quantities", claim["quantity"])
        extra = [traces] if getattr(quantity, "reads_traces", False) else []
        # What is measured says nothing here, but it is measured.
        assert quantity.measure(scores, measured, *extra).seeds >= 0
