"""Every figure is drawn and every claim measured at every preset, on made-up numbers of a run's shapes."""

import numpy as np
import pytest
import shipped
import xarray
from matplotlib.backends.backend_agg import FigureCanvasAgg
from shipped import STUDIES

from hierlearn.core import registry
from hierlearn.core.registry import PACKAGE, build
from hierlearn.pipeline.figures._legends import hides_data
from hierlearn.pipeline.figures._style import lay_out
from hierlearn.pipeline.files.load import load
from hierlearn.pipeline.plan import grid_checks, jobs, references
from hierlearn.pipeline.plan.presets import bodies

STATED = [(file, preset) for file in STUDIES for preset, _ in bodies(load(file, file.name)[0], "smoke")]
ALPHA = PACKAGE.parents[1] / "config" / "studies" / "allenzhu2019-alpha.yaml"
SEEDS, STEPS = 2, [1, 10, 100]
# What a probe's variables have of its own coordinates, where no line of the study tells.
OWN = {"sample_complexity": ("line", "threshold"), "risk": ("line", "ridge", "samples")}


def said(study, what):
    """What the learners of a study say that they measure or record."""
    entries = study.learners.values()
    classes = [registry.implementation("learners", entry.component["name"]) for entry in entries]
    return {name for one in classes for name in {"MEASURES": one.MEASURES, "TRACES": one.TRACES}[what]}


def dataset(coordinates, names, along, same=()):
    """Variables that fall along one coordinate and differ along each of the others, but for those where they are the
    same: a coordinate along which scores coincide needs no value."""
    steps = dict.fromkeys(coordinates, 0.1) | {along: 2.0} | dict.fromkeys(same, 0.0)
    ranks = sum(np.ix_(*(steps[axis] * np.arange(len(values)) for axis, values in coordinates.items())))
    variables = {name: (tuple(coordinates), 2.0 * 0.7**ranks) for name in names}
    return xarray.Dataset(variables, coordinates)


def learned(study, coordinates, names, along):
    """Variables of every learner, the same along what only other learners sweep."""
    entries = study.learners
    parts = [dataset(coordinates, names, along, set(study.swept) - set(entry.sweep)) for entry in entries.values()]
    return xarray.concat(parts, "learner").assign_coords(learner=list(entries))


def cubes(study):
    """scores.nc and traces.nc."""
    coordinates = study.coordinates | {"seed": list(range(SEEDS))}
    del coordinates["learner"]
    chosen = {f"selected_{key}" for entry in study.learners.values() for key in entry.select}
    names = {*references.SCORES, *said(study, "MEASURES"), *chosen, "target_norm", "unlabelled_samples"}
    scores = learned(study, coordinates, names, "samples")
    scores["status"] = xarray.zeros_like(scores.test_risk, dtype=np.int8)
    return scores, learned(study, coordinates | {"step": STEPS}, said(study, "TRACES"), "step")


def axis_values(given):
    """Of a coordinate: what its parameter lists, or as many whole numbers as would fit."""
    return list(range(given)) if isinstance(given, int) else list(given)


def probes(study):
    """Every probe; a variable has those of the probe's own coordinates that the study goes along or always fixes."""
    found = {}
    panels = study.figure.get("panels", [])
    named = [panel | line for panel in panels for line in panel["lines"]]
    named += [claim.quantity for claim in study.claims.values()]
    named += [claim.quantity | (claim.control or {}).get("quantity", {}) for claim in study.claims.values()]
    for name, entry in study.probes.items():
        component = entry.component["name"]
        own = registry.implementation("probes", component).COORDINATES
        described = registry.defaults("probes", component) | entry.component
        # Lines of theory have no seeds.
        seeds = {} if "line" in own else {"seed": list(range(SEEDS))}
        grid = study.axes | entry.axes | seeds
        variables = {}
        for variable in registry.implementation("probes", component).MEASURES:
            uses = [use for use in named if use.get("probe") == name and variable in use.values()]
            lines, places = (
                {use.get(key) for use in uses for key in ("x", "axis")},
                [use.get("where", {}) for use in uses],
            )
            needed = {
                axis: axis_values(described[parameter])
                for axis, parameter in own.items()
                if (axis in OWN[variable] if "line" in own else axis in lines or all(axis in place for place in places))
            }
            variables[variable] = dataset(grid | needed, [variable], next(iter(needed), "dimension"))[variable]
        found[name] = xarray.Dataset(variables)
    return found


def ticks(axis):
    """The labels of an axis that can be seen."""
    low, high = sorted(axis.get_view_interval())
    places = axis.get_majorticklocs()
    texts = axis.get_major_formatter().format_ticks(places)
    return [text for at, text in zip(places, texts, strict=True) if low <= at <= high and text]


def unreadable(figure):
    """What a reader would stumble over: panels without data, axes with fewer than two numbers, text on text or cut,
    legends on curves."""
    renderer, found = FigureCanvasAgg(figure).get_renderer(), []
    heads = []
    for place in figure.axes:
        if not place.axison:
            continue
        title = place.get_title("left") or place.get_title()
        if not place.get_lines():
            found.append(f"{title}: no data")
        # A panel of bars may have one row.
        axes = (place.xaxis, 2), (place.yaxis, 1 if place.yaxis_inverted() else 2)
        found += [f"{title}: {ticks(axis)} on an axis" for axis, least in axes if len(ticks(axis)) < least]
        head = (place._left_title if place.get_title("left") else place.title).get_window_extent(renderer)
        if head.x1 > figure.bbox.x1 or any(head.overlaps(other) for other in heads):
            found.append(f"{title}: the title is cut, or lies on its neighbour's")
        heads.append(head)
        if place.get_legend() is not None and hides_data(place, renderer):
            found.append(f"{title}: the legend lies on a line or a band")
        if place.get_legend() is not None and place.get_legend().get_window_extent(renderer).x1 > figure.bbox.x1 + 1:
            found.append(f"{title}: the legend is cut")
        # Numbers stand at the ends of curves, which are nearer to each other here than in a run.
        texts = [text for text in place.texts if text.get_text() and not text.get_text().isdigit()]
        boxes = [text.get_window_extent(renderer) for text in texts]
        found += [
            f"{title}: {text.get_text()} is cut"
            for text, box in zip(texts, boxes, strict=True)
            if box.x1 > figure.bbox.x1 + 1
        ]
        found += [
            f"{title}: {one.get_text()} on {other.get_text()}"
            for k, one in enumerate(texts)
            for m, other in enumerate(texts[:k])
            if boxes[k].shrunk(0.95, 0.7).overlaps(boxes[m].shrunk(0.95, 0.7))
        ]
    return found


@pytest.mark.parametrize(
    ("file", "preset"),
    # `make` draws quick, and the other tests smoke; full has the figures of standard with more points.
    [one if one[1] == "standard" else pytest.param(*one, marks=pytest.mark.slow) for one in STATED],
    ids=[f"{file.stem}-{preset}" for file, preset in STATED],
)
def test_a_study_can_be_drawn_and_judged(file, preset):
    study, faults = shipped.checked(file, preset)
    if [fault.path[-1] for fault in faults] == ["folder"]:
        pytest.skip(f"data that are not here: {faults[0].found}")
    assert faults == [] and list(grid_checks.warnings(study)) == []
    scores, traces = cubes(study) if study.learners else (None, None)
    measured, drawing = probes(study), jobs.figure(study)
    figure = lay_out(build("figures", drawing["figure"]).draw(scores, measured, drawing, traces))
    assert unreadable(figure) == []
    for claim in jobs.judge(study)["claims"].values():
        quantity = build("quantities", claim["quantity"])
        extra = [traces] if getattr(quantity, "reads_traces", False) else []
        # What is measured says nothing here, but it is measured.
        assert quantity.measure(scores, measured, *extra).seeds >= 0


def test_a_place_that_a_claim_leaves_open_is_found():
    study, _ = shipped.checked(ALPHA, "quick")
    (samples,) = study.learners["resnet"].samples["at"]
    quantity = {"name": "score_mean", "learner": "resnet", "samples": samples, "where": {}}
    scores, _ = cubes(study)
    with pytest.raises(ValueError, match="leaves alpha, learning_rate_ratio open"):
        build("quantities", quantity).measure(scores, {})
