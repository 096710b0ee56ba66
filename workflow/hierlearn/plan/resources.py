"""What every job needs, from its sizes: memory, time, cores and GPUs; and what is refused as absurd.

A component may say beside its code what it holds at once and what it computes, by stage: a learner in `fit`, `kept`
(what a fit leaves to the next that differs in its choices alone), `model` (what is stored of one fit) and `predict`, a
representation in `fit`, a probe in `measure`:

    MEMORY = {"fit": ((3, "samples", "samples"), (2, "validation", "samples")), "model": (("samples", "outputs"),)}
    WORK = {"fit": (("choices", "samples", "samples", "samples"),)}

in float64 numbers and in floating-point operations. A term is a product of numbers and sizes; a mapping at its end says
for which values of the parameters it counts. Sizes: samples, validation, test, unlabelled, dimension, features,
outputs, seeds, choices (all combinations; the values of a single one as in `ridge_choices`), presented (points that all
steps of a training see, each as often as it is seen), and the component's own parameters (of a list the largest entry).
A learner and a representation speak of one seed, a probe of all. What a component leaves unsaid is four arrays over its
two largest sizes. A teacher of more than one output has their number as terms in OUTPUTS.

PARALLEL and GPUS are terms alike, of a learner's `fit` and of the whole of the others: the share of the operations that
threads divide among themselves, as measured on two, 0 where it is not said, and the number of GPUs that a component
computes on. A job with a fit, or another single step, of more than LONG operations has as many cores as bring it below
that, as long as they are worth it. How many they are does not hang on how the grid is cut or how many seeds there are:
numbers hang on the threads that compute them.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hierlearn.core import registry
from hierlearn.plan.faults import Path
from hierlearn.plan.study import RAW, Point, Study, Task

# An interpreter with numpy, scipy and netCDF4 takes 80 MB, with matplotlib and xarray 200 MB.
BASE_MB, DRAWING_MB = 160, 320
# A netCDF file is held as bytes, as arrays, and once more while it is written.
COPIES = 4
# Starting Python and importing, and what a shared file system may add.
BASE_MINUTES = 10
# Operations per second of one slow core: a request that is too short costs the job, one that is too long some priority.
# Of the trainings of the quick preset the slowest did 13e9 on a fast core, and half of it on one half as fast.
RATE = 5.0e9
# Five hours of such a core. More cores are worth it as long as at least half of what they could do is used.
LONG, CORES, WORTH = 1.0e14, (1, 2, 4, 8, 16), 0.5
# No machine has as much; a size that needs it is a slip of the pen.
ABSURD_MB = 1_000_000
# What a probe is given at least, as its points and draws may have any size of their own.
PROBE_MB, PROBE_MINUTES = 300, 120
# A study of more jobs than this is submitted to a cluster in packs of tasks, at most so many.
JOBS, PACKS = 190, 100
# Sizes that no model has.
HELD_OUT = ("validation", "test", "unlabelled")

Sizes = Mapping[str, float]


@dataclass(frozen=True)
class Needs:
    """What a job asks for: memory in MB, minutes of wall time, cores (the threads that it computes with), GPUs."""

    mem_mb: int
    runtime: int
    cores: int = 1
    gpus: int = 0


def generate(study: Study, task: Task) -> Needs:
    """Draws the data of a task."""
    return _needs(COPIES * _data(study, task))


def represent(study: Study, task: Task, representation: str) -> Needs:
    """Fits a representation, and shows it the unlabelled and the validation points."""
    largest, operations, longest, gpus, parallel = 0.0, 0.0, 0.0, 0.0, 1.0
    for point in task.points:
        described = study.representation(representation, point)
        sizes = _parameters(described) | _sizes(study, task, point, described)
        shown = sizes["unlabelled"] + sizes["validation"]
        # Features of all seeds in float32, twice while they are stacked; one seed's in float64 for the regression.
        features = sizes["features"] * (sizes["seeds"] * shown + 3 * shown)
        held = _terms("representations", described, "MEMORY", "fit", sizes)
        largest = max(largest, features + held + sizes["seeds"] * _kept(described, sizes))
        work = _terms("representations", described, "WORK", "fit", sizes) + 6 * shown * sizes["features"] ** 2
        operations, longest = operations + sizes["seeds"] * work, max(longest, work)
        gpus = max(gpus, _said("representations", described, "GPUS", sizes))
        parallel = min(parallel, _said("representations", described, "PARALLEL", sizes))
    return _needs(COPIES * _data(study, task) + largest, operations, longest, parallel, gpus)


def train(study: Study, task: Task, learner: str) -> Needs:
    """Walks up the sample sizes to the last, at all points and variants of a task."""
    largest, operations, longest, gpus, parallel = 0.0, 0.0, 0.0, 0.0, 1.0
    for point in study.trained(learner, task):
        variants = study.variants(learner, point, task.part)
        described = [variant["learner"] for variant in variants]
        # Variants that differ in their choices alone find again what was computed for each seed.
        shared = len({repr(one) for one in described}) < len(described)
        trained: list[tuple] = []
        for variant in variants:
            training = variant["learner"], _tried(variant)
            again = training in trained
            trained.append(training)
            for sizes in _walked(study, task, learner, point, variant):
                held = _terms("learners", variant["learner"], "MEMORY", "fit", sizes)
                if shared:
                    held += sizes["seeds"] * _terms("learners", variant["learner"], "MEMORY", "kept", sizes)
                largest = max(largest, held)
                gpus = max(gpus, _said("learners", variant["learner"], "GPUS", sizes))
                parallel = min(parallel, _said("learners", variant["learner"], "PARALLEL", sizes))
                work = _terms("learners", variant["learner"], "WORK", "fit", sizes)
                longest = max(longest, work)
                if not again:
                    operations += sizes["seeds"] * work
    shown = max((_features(study, task, learner, point, "validation") for point in task.points), default=0.0)
    held = COPIES * (_data(study, task) + _models(study, task, learner)) + shown + largest
    return _needs(held, operations, longest, parallel, gpus)


def evaluate(study: Study, task: Task) -> Needs:
    """Scores the learners of a task one after the other, on one core."""
    largest, operations, gpus = 0.0, 0.0, 0.0
    for learner in study.learners_in(task):
        models = COPIES * _models(study, task, learner)
        for point in study.trained(learner, task):
            shown = _features(study, task, learner, point, "test")
            for variant in study.variants(learner, point, task.part):
                for sizes in _walked(study, task, learner, point, variant):
                    held = _terms("learners", variant["learner"], "MEMORY", "predict", sizes)
                    largest = max(largest, models + shown + held)
                    gpus = max(gpus, _said("learners", variant["learner"], "GPUS", sizes))
                    operations += sizes["seeds"] * _terms("learners", variant["learner"], "WORK", "predict", sizes)
    return _needs(COPIES * _data(study, task) + largest + _cube(study), operations, gpus=gpus)


def probe(study: Study, name: str) -> Needs:
    """Measures at one point of the probe's grid after the other."""
    entry = study.probes[name]
    described = registry.defaults("probes", entry.component["name"]) | entry.component
    axes = study.axes | entry.axes
    sizes = _parameters(described) | {"seeds": study.seed_count, "dimension": max(axes["dimension"])}
    points = math.prod(len(values) for values in axes.values())
    operations = points * _terms("probes", described, "WORK", "measure", sizes)
    held = _terms("probes", described, "MEMORY", "measure", sizes)
    for key, schema in registry.parameters("probes", described["name"]).items():
        if schema.get("component") == "representations" and described[key]["name"] != RAW["name"]:
            fitted = registry.defaults("representations", described[key]["name"]) | described[key]
            features = fitted.get("directions") or fitted.get("count", sizes["dimension"])
            shown = sizes | _parameters(fitted) | {"features": features}
            held += _terms("representations", fitted, "MEMORY", "fit", shown) + shown["seeds"] * _kept(fitted, shown)
    parallel, gpus = (_said("probes", described, literal, sizes) for literal in ("PARALLEL", "GPUS"))
    needs = _needs(held, operations, operations / points, parallel, gpus)
    return replace(needs, mem_mb=max(needs.mem_mb, PROBE_MB), runtime=max(needs.runtime, PROBE_MINUTES))


def aggregate(study: Study) -> Needs:
    """Joins the scores of all tasks."""
    return _needs(COPIES * _cube(study))


def judge(study: Study) -> Needs:
    """Judges the claims on the scores of all tasks."""
    return _needs(COPIES * _cube(study), base=DRAWING_MB)


figure = judge


def ledger() -> Needs:
    """Joins the claims of all studies."""
    return _needs(0.0)


def largest_jobs(study: Study) -> Iterator[tuple[Path, str, Needs]]:
    """(path in the study file, what the job does, its needs) of the jobs that need most; scoring follows training."""
    for task in study.tasks.values():
        yield ("points",), f"the data of {task.name}", generate(study, task)
        for name in study.representations_in(task):
            yield ("representations", name), f"fitting it at {task.name}", represent(study, task, name)
        for name in study.learners_in(task):
            yield ("learners", name), f"training it at {task.name}", train(study, task, name)
    for name in study.probes:
        yield ("probes", name), "measuring it", probe(study, name)


def pack(study: Study) -> int:
    """How many tasks of a study a cluster is given in one submission, a power of two; 0: every job on its own."""
    jobs = sum(2 + len(study.representations_in(t)) + len(study.learners_in(t)) for t in study.tasks.values())
    if jobs + len(study.probes) <= JOBS:
        return 0
    return 2 ** math.ceil(math.log2(max(len(study.tasks) / PACKS, 1)))


def _needs(
    numbers: float,
    operations: float = 0.0,
    longest: float = 0.0,
    parallel: float = 0.0,
    gpus: float = 0.0,
    base: int = BASE_MB,
) -> Needs:
    """longest: operations of the longest single step, which the number of cores follows."""
    parallel = min(parallel, 1.0)
    # Amdahl's law; the first number of cores that is enough, else the largest that is worth it.
    taken = {cores: 1 - parallel + parallel / cores for cores in CORES}
    worth = [cores for cores in CORES if cores == 1 or WORTH * cores * taken[cores] < 1]
    cores = next((cores for cores in worth if longest * taken[cores] <= LONG), max(worth))
    memory, minutes = math.ceil(numbers * 8 / 1e6), math.ceil(operations * taken[cores] / RATE / 60)
    return Needs(base + memory, BASE_MINUTES + minutes, cores, math.ceil(gpus))


def _said(kind: str, described: Mapping[str, Any], literal: str, sizes: Sizes) -> float:
    """The sum of the terms of a literal that has no stages, 0 where a component has none."""
    return sum(_product(term, described, sizes) for term in registry.literal(kind, described["name"], literal) or ())


def _sizes(study: Study, task: Task, point: Point, representation: Mapping[str, Any]) -> dict[str, float]:
    """What a term may refer to at a point, seen through a representation."""
    if representation["name"] == RAW["name"]:
        features = point.dimension
    else:
        features = representation.get("directions") or representation.get("count", point.dimension)
    return {
        "seeds": len(study.seeds_in(task)),
        "dimension": point.dimension,
        "features": features,
        "outputs": _outputs(point),
        "unlabelled": representation.get("unlabelled", 0),
        "validation": study.held_out.validation,
        "test": study.held_out.test,
    }


def _outputs(point: Point) -> int:
    """Number of outputs: 1, or the sum of the terms of the teacher's literal OUTPUTS."""
    teacher = point.problem["teacher"]
    terms = registry.literal("teachers", teacher["name"], "OUTPUTS") or ((1,),)
    return round(sum(_product(term, teacher, _parameters(teacher)) for term in terms))


def _tried(variant: Mapping[str, Any]) -> dict[str, list]:
    """The choices that a variant trains; how it chooses among them takes no training."""
    known = registry.literal("learners", variant["learner"]["name"], "CHOICES") or {}
    return {key: values for key, values in variant["choices"].items() if "rule" not in known[key]}


def _walked(
    study: Study, task: Task, learner: str, point: Point, variant: Mapping[str, Any]
) -> Iterator[dict[str, float]]:
    """The sizes at every sample size of a learner."""
    representation = study.representation(study.learners[learner].representation, point)
    sizes = _parameters(variant["learner"]) | _sizes(study, task, point, representation)
    sizes["choices"] = math.prod(len(values) for values in variant["choices"].values())
    known = registry.literal("learners", variant["learner"]["name"], "CHOICES") or {}
    sizes |= {f"{choice}_choices": len(variant["choices"].get(choice, [None])) for choice in known}
    for samples in study.sample_sizes(learner, point):
        yield sizes | {"samples": samples, "presented": _presented(variant["learner"], samples)}


def _presented(learner: Mapping[str, Any], samples: int) -> float:
    """Points that the steps see: each fresh one once, so many batches as there are steps, or all in every epoch."""
    if learner.get("online"):
        return samples
    if learner.get("steps"):
        return learner["steps"] * min(learner.get("batch", samples), samples)
    return learner.get("epochs", 1) * samples


def _data(study: Study, task: Task) -> float:
    """Numbers in data.nc: x, and for labelled points labels and targets."""
    needed = [(point, sum(study.points_needed(task, point).values())) for point in task.points]
    return len(study.seeds_in(task)) * sum(count * (point.dimension + 2 * _outputs(point)) for point, count in needed)


def _features(study: Study, task: Task, learner: str, point: Point, role: str) -> float:
    """Features of the training pool and of one role, float32, of all seeds and once more of one."""
    representation = study.representation(study.learners[learner].representation, point)
    sizes = _sizes(study, task, point, representation)
    shown = max(study.sample_sizes(learner, point), default=0) + sizes[role] + sizes["unlabelled"]
    return (sizes["seeds"] + 1) * shown * sizes["features"]


def _models(study: Study, task: Task, learner: str) -> float:
    """Numbers in a model file: one model per point, variant, sample size and seed."""
    return sum(
        sizes["seeds"] * _terms("learners", variant["learner"], "MEMORY", "model", sizes)
        for point in study.trained(learner, task)
        for variant in study.variants(learner, point, task.part)
        for sizes in _walked(study, task, learner, point, variant)
    )


def _cube(study: Study) -> float:
    """Numbers in scores.nc: about twenty variables over all coordinates."""
    return 20.0 * math.prod(len(values) for values in study.coordinates.values())


def _kept(described: Mapping[str, Any], sizes: Sizes) -> float:
    """Numbers in a representation file, per seed."""
    return 2 * sizes["features"] ** 2 + 2 * sizes["features"] * sizes["dimension"]


def _parameters(described: Mapping[str, Any]) -> dict[str, float]:
    """The parameters of a component that are sizes: numbers, and of a list of numbers the largest."""
    found = {}
    for name, value in described.items():
        numbers = value if isinstance(value, list) else [value]
        if numbers and all(isinstance(n, int | float) and not isinstance(n, bool) for n in numbers):
            found[name] = max(numbers)
    return found


def _terms(kind: str, described: Mapping[str, Any], literal: str, stage: str, sizes: Sizes) -> float:
    """What a component says of a stage, as a number. sizes: its own parameters included."""
    said = registry.literal(kind, described["name"], literal) or {}
    if stage == "kept":
        return sum(_product(term, described, sizes) for term in said.get(stage, ()))
    if stage not in said:
        return _unsaid(literal, stage, sizes)
    return sum(_product(term, described, sizes) for term in said[stage])


def _product(term: Iterable[Any], described: Mapping[str, Any], sizes: Sizes) -> float:
    product = 1.0
    for factor in term:
        if isinstance(factor, dict):
            counts = all(described[parameter] in values for parameter, values in factor.items())
            product *= counts
        else:
            product *= sizes[factor] if isinstance(factor, str) else factor
    return product


def _unsaid(literal: str, stage: str, sizes: Sizes) -> float:
    """Arrays over the two largest sizes: four at once, one in a model; a thousand passes over the four."""
    if stage == "model":
        sizes = {name: size for name, size in sizes.items() if name not in HELD_OUT}
        return math.prod(sorted(sizes.values())[-2:])
    numbers = 4.0 * math.prod(sorted(sizes.values())[-2:])
    return numbers if literal == "MEMORY" else 1000.0 * numbers
