"""What every job needs, from its sizes: memory, time, cores and GPUs; and what is refused as absurd.

A component says in its method `needs` what it holds at once and what it computes, see core/needs.py. What it leaves
unsaid is four arrays over its two largest sizes. A job with a fit, or another single step, of more than LONG operations
has as many cores as bring it below that, as long as they are worth it. How many they are does not hang on how the grid
is cut or how many seeds there are: numbers hang on the threads that compute them.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hierlearn.core import registry
from hierlearn.core.needs import Needs, Sizes, points_presented
from hierlearn.pipeline.files.errors import Path
from hierlearn.pipeline.plan import component_guards
from hierlearn.pipeline.plan.grid import GridPoint, Task
from hierlearn.pipeline.plan.study import RAW, Study, remembered

# An interpreter with numpy, scipy and netCDF4 takes 80 MB, with matplotlib and xarray 200 MB; a fork of the
# server has also what that has loaded for other jobs, of which it shares 300 MB with all others.
BASE_MB, DRAWING_MB = 310, 440
# A netCDF file is held as bytes and as arrays; points that are drawn also in blocks, and once more while written.
# At quick and standard trainings take 0.1 to 0.9 of what is asked so, half of them more than 0.57 of it.
COPIES, DRAWN_COPIES = 2, 4
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
PROBE_MB, PROBE_MINUTES = 450, 120
# A study of more jobs than this is submitted to a cluster in packs of tasks, at most so many.
JOBS, PACKS = 190, 100
# A search takes two to four fits for a crossing; what they need is counted as if the largest sizes were visited.
FITS = 4
# Sizes that no model has.
HELD_OUT = ("validation", "test", "unlabelled")
NO_SIZES = ("tried", "shape")


@dataclass(frozen=True)
class Request:
    """What a job asks for: memory in MB, minutes of wall time, cores (the threads that it computes with), GPUs.

    operations: what its slowest core computes, as its components count it.
    """

    mem_mb: int
    runtime: int
    cores: int = 1
    gpus: int = 0
    operations: float = 0.0


@dataclass
class Load:
    """What the steps of a job hold at most and compute together; parallel: the smallest share of them."""

    memory: float = 0.0
    operations: float = 0.0
    longest: float = 0.0
    parallel: float = 1.0
    gpus: float = 0.0

    def add(self, needs: Needs, stage: str, times: int, memory: float = 0.0, work: float = 0.0) -> None:
        """One step more, so many times; memory and work: what it takes besides."""
        step = needs.work[stage] + work
        self.memory, self.longest = max(self.memory, needs.memory[stage] + memory), max(self.longest, step)
        self.operations += times * step
        self.parallel, self.gpus = min(self.parallel, needs.parallel), max(self.gpus, needs.gpus)


@remembered
def generate(study: Study, task: Task) -> Request:
    """Draws the data of a task."""
    return _request(DRAWN_COPIES * _data(study, task))


@remembered
def represent(study: Study, task: Task, representation: str) -> Request:
    """Fits a representation, and shows it the unlabelled and the validation points."""
    load = Load()
    for point in study.points_of(task, representation):
        description = study.representation(representation, point)
        sizes = _sizes(study, task, point, description)
        shown = sizes.unlabelled + sizes.validation
        # Features of all seeds in float32, twice while they are stacked; one seed's in float64 for the regression.
        held = sizes.features * (sizes.seeds * shown + 3 * shown) + sizes.seeds * _state_size(sizes)
        needs = _component_needs("representations", description, sizes)
        load.add(needs, "fit", sizes.seeds, held, 6 * shown * sizes.features**2)
    return _request(COPIES * _data(study, task) + load.memory, load)


@remembered
def train(study: Study, task: Task, learner: str) -> Request:
    """Walks along the sample sizes, at all points and variants of a task; a search may get to the last of them."""
    load = Load()
    for point in study.training_points(learner, task):
        variants = study.variants(learner, point, task.part)
        # Variants that differ in their choices alone find again what was computed for each seed.
        shared = len({repr(variant["learner"]) for variant in variants}) < len(variants)
        before: list[tuple] = []
        for variant in variants:
            known = registry.choices("learners", variant["learner"]["name"])
            # How it chooses among them takes no training.
            trained = {key: values for key, values in variant["choices"].items() if "rule" not in known[key]}
            training = variant["learner"], trained
            for sizes in _sizes_along(study, task, learner, point, variant):
                needs = _component_needs("learners", variant["learner"], sizes)
                held = sizes.seeds * needs.memory.get("kept", 0.0) if shared else 0.0
                load.add(needs, "fit", 0 if training in before else sizes.seeds, held)
            before.append(training)
    points = study.training_points(learner, task)
    shown = max((_features(study, task, learner, point, "validation") for point in points), default=0.0)
    return _request(COPIES * (_data(study, task) + _models(study, task, learner)) + shown + load.memory, load)


@remembered
def evaluate(study: Study, task: Task) -> Request:
    """Scores the learners of a task one after the other, on one core."""
    load = Load()
    for learner in study.learners_in(task):
        models = COPIES * _models(study, task, learner)
        for point in study.training_points(learner, task):
            held = models + _features(study, task, learner, point, "test")
            for variant in study.variants(learner, point, task.part):
                for sizes in _sizes_along(study, task, learner, point, variant):
                    load.add(_component_needs("learners", variant["learner"], sizes), "predict", sizes.seeds, held)
    return _request(COPIES * _data(study, task) + load.memory + _cube(study), replace(load, parallel=0.0))


@remembered
def probe(study: Study, name: str) -> Request:
    """Measures at one point of the probe's grid after the other."""
    entry = study.probes[name]
    description = registry.defaults("probes", entry.component["name"]) | entry.component
    axes = study.axes | entry.axes
    sizes = Sizes(seeds=study.seed_count, dimension=max(axes["dimension"]))
    asked, points = _component_needs("probes", description, sizes), math.prod(len(values) for values in axes.values())
    load, held = Load(), 0.0
    for key, schema in registry.parameters("probes", description["name"]).items():
        if schema.get("component") == "representations" and description[key]["name"] != RAW["name"]:
            fitted = registry.defaults("representations", description[key]["name"]) | description[key]
            features = fitted.get("directions") or fitted.get("count", sizes.dimension)
            shown = replace(sizes, features=features, unlabelled=fitted.get("unlabelled", 0))
            held += _component_needs("representations", fitted, shown).memory["fit"] + shown.seeds * _state_size(shown)
    load.add(asked, "measure", points, held)
    needs = _request(load.memory, load)
    return replace(needs, mem_mb=max(needs.mem_mb, PROBE_MB), runtime=max(needs.runtime, PROBE_MINUTES))


def aggregate(study: Study) -> Request:
    """Joins the scores of all tasks."""
    return _request(COPIES * _cube(study), base=DRAWING_MB)


def judge(study: Study) -> Request:
    """Judges the claims on the scores of all tasks."""
    return _request(COPIES * _cube(study), base=DRAWING_MB)


figure = page = judge


def ledger() -> Request:
    """Joins the claims of all studies."""
    return _request(0.0)


def largest_jobs(study: Study) -> Iterator[tuple[Path, str, Request]]:
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
    if len(study.jobs) <= JOBS:
        return 0
    return 2 ** math.ceil(math.log2(max(len(study.tasks) / PACKS, 1)))


def _request(numbers: float, load: Load | None = None, base: int = BASE_MB) -> Request:
    """What a job asks for that holds so many numbers. The number of cores follows the longest step of its load."""
    load = load or Load()
    parallel = min(load.parallel, 1.0)
    # Amdahl's law; the first number of cores that is enough, else the largest that is worth it.
    taken = {cores: 1 - parallel + parallel / cores for cores in CORES}
    worth = [cores for cores in CORES if cores == 1 or WORTH * cores * taken[cores] < 1]
    cores = next((cores for cores in worth if load.longest * taken[cores] <= LONG), max(worth))
    memory, minutes = math.ceil(numbers * 8 / 1e6), math.ceil(load.operations * taken[cores] / RATE / 60)
    return Request(base + memory, BASE_MINUTES + minutes, cores, math.ceil(load.gpus), load.operations * taken[cores])


def _sizes(study: Study, task: Task, point: GridPoint, representation: Mapping[str, Any]) -> Sizes:
    """What a component meets at a point, seen through a representation."""
    features = representation.get("directions") or representation.get("count", point.dimension)
    return Sizes(
        seeds=len(study.seeds_in(task)),
        dimension=point.dimension,
        features=features,
        outputs=point.outputs,
        unlabelled=representation.get("unlabelled", 0),
        validation=study.held_out.validation,
        test=study.held_out.test,
        shape=point.law.shape,
    )


def _sizes_along(
    study: Study, task: Task, learner: str, point: GridPoint, variant: Mapping[str, Any]
) -> Iterator[Sizes]:
    """The sizes at every sample size that a learner visits; of a search the largest, as many as it may take."""
    representation = study.representation(study.learners[learner].representation, point)
    known = registry.choices("learners", variant["learner"]["name"])
    sizes = replace(
        _sizes(study, task, point, representation),
        choices=math.prod(len(values) for values in variant["choices"].values()),
        tried={choice: len(variant["choices"].get(choice, [None])) for choice in known},
    )
    planned, search = study.sample_sizes(learner, point), study.search(learner, point)
    for samples in planned if search is None else planned[-FITS * len(search["thresholds"]) :]:
        yield replace(sizes, samples=samples, presented=points_presented(variant["learner"], samples))


def _data(study: Study, task: Task) -> float:
    """Numbers in data.nc: x, and for labelled points labels and targets.

    As if a learner ran at every point of the grid: a dimension that no machine holds is a fault, whoever skips it.
    """
    needed = [(point, sum(study.points_needed(task, point).values())) for point in task.points]
    # Points are float32, labels and targets float64.
    sizes = [count * (point.dimension / 2 + 2 * point.outputs) for point, count in needed]
    return len(study.seeds_in(task)) * sum(sizes)


def _features(study: Study, task: Task, learner: str, point: GridPoint, role: str) -> float:
    """Features of the training pool and of one role, float32, of all seeds and once more of one.

    Learners that train online see their points as they are drawn.
    """
    representation = study.representation(study.learners[learner].representation, point)
    sizes = _sizes(study, task, point, representation)
    online = study.learners[learner].component.get("online")
    pool = 0 if online else max(study.sample_sizes(learner, point), default=0)
    shown = pool + vars(sizes)[role] + sizes.unlabelled
    return (sizes.seeds + 1) * shown * sizes.features


@remembered
def _models(study: Study, task: Task, learner: str) -> float:
    """Numbers in a model file: one model per point, variant, sample size and seed."""
    return sum(
        sizes.seeds * _component_needs("learners", variant["learner"], sizes).memory["model"]
        for point in study.training_points(learner, task)
        for variant in study.variants(learner, point, task.part)
        for sizes in _sizes_along(study, task, learner, point, variant)
    )


def _cube(study: Study) -> float:
    """Numbers in scores.nc: about twenty variables over all coordinates."""
    return 20.0 * math.prod(len(values) for values in study.coordinates.values())


def _state_size(sizes: Sizes) -> float:
    """Numbers in a representation file, per seed."""
    return 2 * sizes.features**2 + 2 * sizes.features * sizes.dimension


def _component_needs(kind: str, description: Mapping[str, Any], sizes: Sizes) -> Needs:
    """What a component asks for, what it leaves unsaid filled in."""
    asked, all_stages = component_guards.needs(kind, description, sizes), component_guards.STAGES[kind]
    stages = [stage for stage in all_stages if stage not in asked.memory or stage not in {"model", *asked.work}]
    if not stages:
        return asked
    numbers = _numbers(description) | {
        name: size for name, size in vars(sizes).items() if size and name not in NO_SIZES
    }
    held = {stage: _usual_size(numbers, stage) for stage in stages}
    work = {stage: 1000.0 * numbers for stage, numbers in held.items()}
    return replace(asked, memory=held | dict(asked.memory), work=work | dict(asked.work))


def _numbers(description: Mapping[str, Any]) -> dict[str, float]:
    """The parameters of a component that are sizes: numbers, and of a list of numbers the largest."""
    found = {}
    for name, value in description.items():
        numbers = value if isinstance(value, list) else [value]
        if numbers and all(isinstance(n, int | float) and not isinstance(n, bool) for n in numbers):
            found[name] = max(numbers)
    return found


def _usual_size(sizes: Mapping[str, float], stage: str) -> float:
    """Arrays over the two largest sizes: four at once, one in a model."""
    if stage == "model":
        return math.prod(sorted(size for name, size in sizes.items() if name not in HELD_OUT)[-2:])
    return 4.0 * math.prod(sorted(sizes.values())[-2:])
