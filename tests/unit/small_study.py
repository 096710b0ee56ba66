"""A small study, and ways to change and to check it."""

import copy

from hierlearn.pipeline.plan.study import Study
from hierlearn.pipeline.plan.study_spec import parts

STUDY = """
title: A study
paper: chen2020
place: Theorem 0
problem:
  input: {name: sphere}
  teacher: {name: ridge_polynomial, basis: gegenbauer}
axes: {dimension: [3, 4, 5], degree: [2, 1]}
seeds: 2
split_jobs_by: [dimension]
representations:
  neural: {name: neural, count: {coefficient: 2, of: dimension}, unlabelled: {coefficient: 10, of: features}}
learners:
  kernel:
    label: Kernel
    learner: {name: kernel_ridge, kernel: {name: ntk, depth: 3}}
    select: {ridge: [0.1, 0.01]}
    samples: {start: 2, cap: 16}
    limits: {dimension: 4}
  linear:
    label: Linear
    learner: {name: taylor, order: 1}
    representation: neural
    select: {ridge: [0.1]}
    sweep: {width: [4, 8]}
    samples: {start: {coefficient: 0.5, of: features}, cap: {coefficient: 4, of: quadratic_dimension, most: 30}}
probes:
  theory:
    probe: {name: deterministic_equivalent, lines: {ntk: {name: ntk_raw}}, thresholds: [0.5]}
    axes: {dimension: [4, 8, 16]}
figure: {name: sample_complexity}
claims:
  C1-kernel:
    place: Theorem 0
    statement: It holds
    kind: rate
    rank: primary
    regime: limit
    quantity: {name: exponent, learner: kernel, where: {degree: 1, width: 4}, sizes: [3, 4, 5]}
    test: "<= 1"
    rival: {missing: nothing is compared}
    at:
      full: {quantity: {sizes: [6, 8, 10]}}
  C1-theory:
    place: Theorem 0
    statement: It is said
    quantity: {name: theory_exponent, probe: theory, line: ntk, where: {degree: 1}, sizes: [4, 8, 16]}
presets:
  full:
    axes: {dimension: [6, 8, 10]}
    seeds: 3
    learners: {kernel: {limits: {dimension: 8}}}
  smoke: {seeds: 1}
"""
SLOPE = {
    "name": "probe_slope",
    "probe": "theory",
    "variable": "sample_complexity",
    "where": {"degree": 1, "threshold": 0.5},
}


def panel(**changes):
    """A figure of one panel along the probe's dimension."""
    sound = {"kind": "probe", "title": "T", "probe": "theory", "x": "dimension", "lines": []}
    return {"name": "panels", "panels": [sound | changes]}


def beside(changes):
    """A figure of n* of a learner and of a theory line beside it."""
    learner = {"learner": "kernel", "where": {"degree": 2, "width": 4}}
    theory = {"probe": "theory", "variable": "sample_complexity", "where": {"degree": 2}}
    figure = panel(kind="growth", lines=[learner, theory | changes])
    del figure["panels"][0]["probe"]
    return figure


def put(content, path, value):
    """A copy of the content with another value at a.b.c; a value of None takes the key away."""
    changed = copy.deepcopy(content)
    *where, last = path.split(".")
    part = changed
    for key in where:
        part = part[key]
    if value is None:
        del part[last]
    else:
        part[last] = value
    return changed


def at_quick_alone(content):
    """Take all other presets away, and what changes in claims there."""
    content.pop("presets", None)
    for claim in content["claims"].values():
        claim.pop("at", None)


def study_of(content, name, file, preset="quick"):
    """The study that a sound file's content declares, of a paper without published numbers."""
    return Study(name, file, preset, {}, **parts(content))
