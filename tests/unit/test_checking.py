"""Every fault of a study is found before anything runs, all at once, one line each."""

import copy
import json
from pathlib import Path

import pytest
import yaml

from hierlearn import components
from hierlearn.study import checking, jobs, points
from hierlearn.study.reading import load

STUDY = """
title: A study
paper: chen2020
place: Theorem 0
problem:
  input: {name: sphere}
  teacher: {name: ridge_polynomial, basis: gegenbauer}
axes: {dimension: [3, 4, 5], degree: [2, 1]}
seeds: 2
cut: [dimension]
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
    label: primary
    quantity: {name: exponent, learner: kernel, where: {degree: 1, width: 4}, sizes: [3, 4, 5]}
    rule: upper
    predicted: 1
  C1-theory:
    place: Theorem 0
    statement: It is said
    label: secondary
    quantity: {name: theory_exponent, probe: theory, line: ntk, where: {degree: 1}, sizes: [4, 8, 16]}
    rule: descriptive
presets:
  full: {axes: {dimension: [6, 8, 10]}, seeds: 3, claims: {C1-kernel: {quantity: {sizes: [6, 8, 10]}}}}
  smoke: {seeds: 1}
"""


@pytest.fixture
def content():
    return yaml.safe_load(STUDY)


@pytest.fixture
def check(tmp_path):
    def checked(content, preset="quick"):
        file = tmp_path / "a-study.yaml"
        file.write_text(yaml.safe_dump(content, sort_keys=False))
        return checking.study(file, "config/studies/a-study.yaml", preset)

    return checked


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


def test_a_sound_study_has_no_fault_at_any_preset(content, check):
    for preset, dimensions, seeds in (("quick", 3, 2), ("full", 3, 3), ("smoke", 3, 1)):
        study, faults = check(content, preset)
        assert faults == []
        assert len(study.axes["dimension"]) == dimensions
        assert len(study.seeds) == seeds
    assert check(content, "full")[0].axes["dimension"] == [6, 8, 10]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("title", None, "title: found nothing; expected this required key"),
        ("paper", "chen2021", "paper: found 'chen2021'; expected one of"),
        ("seeds", 0, "seeds: found 0; expected at least 1"),
        ("seeds", 2.0, "seeds: found 2.0; expected integer"),
        ("axes.dimension", [3, 4.0], "axes.dimension[1]: found 4.0; expected integer"),
        ("axes.dimension", [5, 4, 3], "axes.dimension: found [5, 4, 3]; expected increasing numbers"),
        ("axes.degree", [2, 13], "axes.degree[1]: found 13; expected at most 12"),
        ("axes.order", [1], "axes.order: found an axis that nothing has; expected one of"),
        ("problem.teacher.degree", 2, "problem.teacher.degree: found a value that the axis of this name overrides"),
        ("problem.teacher.name", "ridge", "problem.teacher.name: found 'ridge'; expected one of"),
        ("problem.teacher.rnk", 2, "problem.teacher.rnk: found an unknown parameter; expected one of"),
        ("problem.teacher.rank", {"coefficient": 1, "of": "features"}, "problem.teacher.rank.of: found 'features'"),
        ("problem.teacher.rank", 4, "problem.teacher.rank: found 4 at {'dimension': 3, 'degree': 2}; expected"),
        (
            "problem.input.name",
            "hypercube",
            "problem.input.name: found 'hypercube'; expected one of anisotropic_sphere, gaussian",
        ),
        ("cut", ["dimensions"], "cut[0]: found 'dimensions'; expected one of degree, dimension (nearest: dimension)"),
        ("representations.neural.directions", 7, ""),
        ("representations.neural.count", {"coefficient": 1, "of": "features"}, "representations.neural.count.of"),
        ("representations.neural.bias", {"coefficient": 1, "of": "dimension"}, "a boolean, not a size"),
        ("learners.linear.representation", "neurl", "found 'neurl'; expected one of neural, raw (nearest: neural)"),
        ("learners.kernel.learner.kernel.name", "ntk_roh", "learners.kernel.learner.kernel.name: found 'ntk_roh'"),
        (
            "learners.kernel.learner.kernel.depth",
            1,
            "learners.kernel.learner.kernel.depth: found 1; expected at least 2",
        ),
        ("learners.kernel.learner.kernel", "ntk", "learners.kernel.learner.kernel: found 'ntk'; expected a component"),
        ("learners.kernel.select", {}, "learners.kernel.select.ridge: found nothing; expected a list of values"),
        ("learners.kernel.select.width", [1], "learners.kernel.select.width: found an unknown choice"),
        ("learners.kernel.select.ridge", [0], "learners.kernel.select.ridge[0]: found 0; expected more than 0"),
        ("learners.kernel.select.ridge", ["1e-3"], "write 1.0e-3 for 1e-3"),
        ("learners.kernel.sweep", {"kernel": [{"name": "ntk"}]}, "learners.kernel.sweep.kernel: found a component"),
        ("learners.linear.sweep.width", [3], "learners.linear.sweep.width[0]: found 3; expected a multiple of 2"),
        ("learners.linear.sweep.wdth", [4], "learners.linear.sweep.wdth: found an unknown parameter"),
        ("learners.kernel.limits", {"dimensions": 3}, "learners.kernel.limits.dimensions: found an unknown axis"),
        ("learners.kernel.samples.start", 17, "learners.kernel.samples: found start 17 above cap 16"),
        ("learners.kernel.samples.cap.of", "width", ""),
        ("learners.Kernel", {}, "learners: found the name 'Kernel'"),
        ("probes.theory.axes.dimension", [[4]], "probes.theory.axes.dimension[0]: found [4]; expected integer"),
        ("probes.theory.axes.dimension", [8, 4], "probes.theory.axes.dimension: found [8, 4]; expected increasing"),
        ("probes.theory.axes.size", [1], "probes.theory.axes.size: found an unknown axis"),
        ("probes.theory.probe.lines", {"a": {"name": "ntk-raw"}}, "probes.theory.probe.lines.a.name: found 'ntk-raw'"),
        ("probes.theory.probe.lines", ["ntk"], "probes.theory.probe.lines: found ['ntk']; expected names with"),
        ("claims.C1-kernel.predicted", None, "claims.C1-kernel.predicted: found nothing; expected a number"),
        ("claims.C1-kernel.rule", "uper", "found 'uper'; expected one of"),
        ("claims.C1-kernel.quantity.learner", "kernl", "quantity.learner: found 'kernl'; expected one of"),
        ("claims.C1-kernel.quantity.where", {"width": 4}, "quantity.where.degree: found nothing; expected a value"),
        ("claims.C1-kernel.quantity.where.degree", 3, "quantity.where.degree: found 3; expected one of 1, 2"),
        ("claims.C1-kernel.quantity.where.rank", 1, "quantity.where.rank: found an unknown axis"),
        ("claims.C1-kernel.quantity.threshold", 0.3, "quantity.threshold: found 0.3; expected one of 0.1, 0.5"),
        ("claims.C1-kernel.quantity.sizes", [3, 4, 6], "quantity.sizes[2]: found 6; expected one of 3, 4, 5"),
        ("claims.C1-theory.quantity.probe", "theories", "quantity.probe: found 'theories'; expected one of theory"),
        ("claims.C1-theory.quantity.probe", [], "quantity.probe: found []; expected string"),
        ("claims.claim-1", {}, "claims: found the name 'claim-1'"),
        ("learners.kernel.samples", {"at": [{"coefficient": 1, "of": "feature"}]}, "learners.kernel.samples.at[0]"),
        ("learners.linear.learner.loss", "logistic", "learner.loss: found 'logistic' with order 1; expected squared"),
        ("learners.kernel.samples", {"at": [4], "cap": 8}, "learners.kernel.samples: found"),
        ("claims.C1-theory.quantity", SLOPE | {"variable": "samples"}, "quantity.variable: found 'samples'; expected"),
        ("claims.C1-theory.quantity", SLOPE | {"axis": "width"}, "quantity.axis: found 'width'; expected one of"),
        ("claims.C1-theory.quantity", SLOPE | {"values": [4, 9]}, "quantity.values[1]: found 9; expected one of"),
        ("claims.C1-theory.quantity", SLOPE | {"where": {"threshold": 0.5}}, "quantity.where.degree: found nothing"),
        ("claims.C1-theory.quantity.where", {"degree": 1, "threshold": 0.5}, "where.threshold: found an unknown axis"),
        ("figure", panel(probe="theories"), "figure.panels[0].probe: found 'theories'; expected one of theory"),
        ("figure", panel(x="width"), "figure.panels[0].x: found 'width'; expected one of"),
        ("figure", panel(lines=[{"variable": "risk"}]), "figure.panels[0].lines[0].variable: found 'risk'; expected"),
        (
            "figure",
            panel(lines=[{"variable": "sample_complexity", "where": {"degree": 9}}]),
            "panels[0].lines[0].where.degree: found 9; expected one of",
        ),
        ("figure", panel(colour="red"), "figure.panels[0]"),
        ("figure.name", "samples", "figure.name: found 'samples'; expected one of"),
        ("presets.medium", {}, "presets.medium: found an unknown key; expected one of full, smoke"),
        ("presets.smoke.seeds", 0, "presets.smoke.seeds: found 0; expected at least 1"),
        ("presets.smoke.learners", {"kernel": {"learner": {"kernel": {"depth": 99}}}}, "presets.smoke.learners.kernel"),
        ("presets.full.axes", {"degree": [77]}, "presets.full.axes.degree[0]: found 77"),
    ],
)
def test_a_fault_is_named_with_its_place_and_what_is_allowed(content, check, path, value, message):
    if path == "learners.kernel.samples.cap.of":
        path, value, message = "learners.kernel.samples.cap", {"coefficient": 1, "of": "width"}, "cap.of: found"
    if path == "representations.neural.directions":
        content["representations"]["neural"]["whiten"] = "truncated"
        message = (
            "representations.neural.directions: found 7 at {'dimension': 3, 'degree': 2}; expected at most count = 6"
        )
    study, faults = check(put(content, path, value))
    assert study is None
    lines = [str(fault) for fault in faults]
    assert any(message in line for line in lines), lines
    assert all(line.startswith("config/studies/a-study.yaml: ") and "\n" not in line for line in lines)


def test_a_slope_of_a_probe_and_its_panel_are_sound(content, check):
    content["claims"]["C1-theory"]["quantity"] = SLOPE
    content["figure"] = panel(lines=[{"variable": "sample_complexity", "where": SLOPE["where"], "slope": 1}])
    _, faults = check(content)
    assert faults == []


NUMBERS = """
paper: chen2020
source: Someone
tables:
  figure-7:
    title: Error
    place: Figure 7
    obtained: read
    units: "1"
    coordinates: {learner: who, dimension: d, samples: n}
    rows:
      - {learner: net, dimension: 3, samples: 4, value: 0.5}
      - {learner: net, dimension: 4, samples: 4, value: 0.7}
      - {learner: net, dimension: 4, samples: 16, low: 0.1, high: 0.2}
  figure-8:
    title: Error
    place: Figure 8
    obtained: printed
    units: "1"
    coordinates: {learner: who}
    rows: [{learner: net, value: 1}]
"""
RATIO = {
    "name": "published_ratio",
    "published": "figure-7",
    "published_where": {"learner": "net"},
    "learner": "kernel",
    "where": {"dimension": 3, "degree": 1},
    "samples": 4,
}


@pytest.fixture
def numbers(tmp_path, check):
    """A check of studies that lie beside published numbers."""
    (tmp_path / "published").mkdir()
    (tmp_path / "published" / "chen2020.yaml").write_text(NUMBERS)

    def checked(content):
        file = tmp_path / "studies" / "a-study.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(yaml.safe_dump(content, sort_keys=False))
        return checking.study(file, "config/studies/a-study.yaml", "quick")

    return checked


def cited(content, quantity=None, lines=None):
    """The content with a claim on published numbers and with published lines in its figure."""
    claim = {"place": "Figure 7", "statement": "As printed", "label": "secondary", "rule": "published", "predicted": 1}
    content["claims"]["C2"] = claim | {"quantity": RATIO | (quantity or {})}
    content["figure"] = panel(kind="risk", probe=None, x="samples", lines=lines or [{"published": "figure-8"}])
    del content["figure"]["panels"][0]["probe"]
    del content["presets"]
    return content


def test_published_numbers_enter_the_jobs_that_compare_with_them_or_draw_them(content, numbers):
    study, faults = numbers(cited(content, lines=[{"published": "figure-7", "where": {"learner": "net"}}]))
    assert faults == []
    table = jobs.judge(study)["claims"]["C2"]["quantity"]["published"]
    assert (table["place"], table["coordinates"]) == ("Figure 7", ["learner", "dimension", "samples"])
    assert table["rows"] == yaml.safe_load(NUMBERS)["tables"]["figure-7"]["rows"]
    (line,) = jobs.figure(study)["figure"]["panels"][0]["lines"]
    assert line == {"published": table, "where": {"learner": "net"}}
    assert "net" not in json.dumps(
        [jobs.aggregate(study), *(jobs.train(study, t, "kernel") for t in study.tasks.values())]
    )


@pytest.mark.parametrize(
    ("quantity", "message"),
    [
        (
            {"published": "figure-9"},
            "quantity.published: found 'figure-9'; expected one of figure-7, figure-8 (nearest",
        ),
        ({"published_where": {"learner": "nte"}}, "published_where.learner: found 'nte'; expected one of net (nearest"),
        ({"published_where": {"lerner": "net"}}, "published_where.lerner: found an unknown coordinate; expected one"),
        ({"published_where": {}, "where": {"degree": 1}}, "published_where: found 2 rows at {'samples': 4}; expected"),
        ({"where": {"dimension": 5, "degree": 1}}, "published_where: found 0 rows at {'dimension': 5,"),
        ({"where": {"dimension": 4, "degree": 1}, "samples": 16}, "published_where: found a range at {"),
        ({"learner": "kernal"}, "quantity.learner: found 'kernal'; expected one of"),
    ],
)
def test_a_published_number_that_is_not_there_is_a_fault(content, numbers, quantity, message):
    lines = [str(fault) for fault in numbers(cited(content, quantity))[1]]
    assert any(message in line for line in lines), lines


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"published": "figure-77"}, "lines[0].published: found 'figure-77'; expected one of figure-7, figure-8"),
        (
            {"published": "figure-7", "where": {"degree": 1}},
            "where.degree: found an unknown coordinate; expected one of",
        ),
        ({"published": "figure-7", "where": {"dimension": 5}}, "where.dimension: found 5; expected one of 3, 4"),
        (
            {"published": "figure-7", "where": {"dimension": 3, "samples": 16}},
            "where: found no row at {'dimension': 3, 'samples': 16}; expected a place in Figure 7",
        ),
    ],
)
def test_a_published_line_that_is_not_there_is_a_fault(content, numbers, line, message):
    lines = [str(fault) for fault in numbers(cited(content, lines=[line]))[1]]
    assert any(message in line for line in lines), lines


def test_a_paper_without_published_numbers_has_none_to_name(content, check):
    lines = [str(fault) for fault in check(cited(content))[1]]
    assert any("quantity.published: found 'figure-7'; expected nothing here" in line for line in lines)


@pytest.fixture
def recording(monkeypatch):
    """The Taylor learner of the study says that it records its training."""
    said = {"TRACES": {"train_loss": "loss"}, "MEASURES": {"layer_start": "step"}}
    known = components.literal

    def literal(kind, name, variable):
        return said[variable] if name == "taylor" and variable in said else known(kind, name, variable)

    monkeypatch.setattr(components, "literal", literal)


TRACE = {
    "learner": "linear",
    "variable": "train_loss",
    "where": {"dimension": 3, "degree": 1, "width": 4, "samples": 4},
    "marks": ["layer_start"],
}


def traced(content, *lines, **changes):
    content["figure"] = panel(kind="trace", x="step", lines=list(lines), **changes)
    del content["figure"]["panels"][0]["probe"]
    del content["presets"]
    return content


def test_a_panel_of_a_recorded_training_is_sound(content, check, recording):
    assert check(traced(content, TRACE))[1] == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learner": "kernel"}, "lines[0].learner: found 'kernel'; expected one of linear"),
        ({"variable": "trian_loss"}, "lines[0].variable: found 'trian_loss'; expected one of train_loss (nearest"),
        ({"marks": ["layer_end"]}, "lines[0].marks[0]: found 'layer_end'; expected one of layer_start (nearest"),
        (
            {"where": TRACE["where"] | {"samples": "largest"}},
            "lines[0].where.samples: found 'largest'; expected one of",
        ),
        (
            {"where": {"dimension": 3, "degree": 1, "samples": 4}},
            "lines[0].where.width: found nothing; expected a value",
        ),
        ({"where": TRACE["where"] | {"step": 1}}, "lines[0].where.step: found an unknown axis"),
    ],
)
def test_a_panel_of_a_training_that_is_not_recorded_is_a_fault(content, check, recording, changes, message):
    lines = [str(fault) for fault in check(traced(content, TRACE | changes))[1]]
    assert any(message in line for line in lines), lines


def test_a_trajectory_needs_a_learner_a_variable_and_the_steps_as_its_x(content, check, recording):
    lines = [str(fault) for fault in check(traced(content, {"variable": "train_loss"}))[1]]
    assert any("lines[0].learner: found nothing; expected this required key" in line for line in lines), lines
    content["presets"] = {}
    content = traced(content, {key: TRACE[key] for key in ("learner", "variable")})
    content["figure"]["panels"][0]["x"] = "samples"
    lines = [str(fault) for fault in check(content)[1]]
    assert any("panels[0].x: found 'samples'; expected one of step" in line for line in lines), lines
    assert any("lines[0].where.dimension: found nothing; expected a value" in line for line in lines), lines


def test_a_size_of_a_degree_needs_a_teacher_with_one(content, check):
    content["learners"]["kernel"]["samples"] = {"at": [{"coefficient": 1, "of": "harmonic_dimension"}]}
    assert check(content)[1] == []
    content["problem"] = {"input": {"name": "hypercube"}, "teacher": {"name": "parity"}}
    content["axes"] = {"dimension": [3, 4, 5]}
    lines = [str(fault) for fault in check(content)[1]]
    assert any("samples.at[0].of: found 'harmonic_dimension'; expected one of dimension" in line for line in lines)


def test_a_basis_that_a_law_does_not_have_is_refused(content, check):
    content["problem"]["input"] = {"name": "anisotropic_sphere"}
    lines = [str(fault) for fault in check(content)[1]]
    assert any("problem.teacher.basis: found 'gegenbauer' with law 'anisotropic_sphere'" in line for line in lines)
    content["problem"]["teacher"]["basis"] = "monomial"
    assert not [fault for fault in check(content)[1] if fault.field.startswith("problem")]


def test_faults_of_all_kinds_are_listed_together(content, check):
    content["sedes"] = content.pop("seeds")
    content["learners"]["kernel"]["learner"]["kernel"]["name"] = "ntk_roh"
    content["claims"]["C1-theory"]["quantity"]["lin"] = "ntk"
    _, faults = check(content)
    assert {fault.field for fault in faults} >= {
        "sedes",
        "seeds",
        "learners.kernel.learner.kernel.name",
        "claims.C1-theory.quantity.lin",
    }


def test_wrong_parameters_and_wrong_references_are_listed_together(content, check):
    content["problem"]["teacher"]["rank"] = 0
    content["cut"] = ["size"]
    content["learners"]["linear"]["representation"] = "other"
    _, faults = check(content)
    assert {fault.field for fault in faults} == {"problem.teacher.rank", "cut[0]", "learners.linear.representation"}


def test_a_fault_of_the_body_is_not_repeated_for_every_preset(content, check):
    _, faults = check(put(content, "learners.kernel.select.ridge", [0]))
    assert len(faults) == 1


def test_the_configuration_names_its_faults():
    settings, faults = checking.configuration({"preset": "quik", "sutdies": [], "studies": ["b"]}, "config", ["a"])
    assert settings == {}
    assert [str(fault) for fault in faults] == [
        "config: preset: found 'quik'; expected one of full, quick, smoke (nearest: quick)",
        "config: studies[0]: found 'b'; expected one of a",
        "config: sutdies: found an unknown key; expected one of keep_models, memory_limit_mb, partial, preset, "
        "results, studies (nearest: studies)",
    ]


def test_the_configuration_has_a_default_for_every_key():
    settings, faults = checking.configuration({}, "config", [])
    assert faults == []
    assert settings == {
        "preset": "quick",
        "studies": [],
        "results": "results",
        "keep_models": True,
        "partial": False,
        "memory_limit_mb": 1_000_000,
    }


@pytest.mark.parametrize("folder", ["/tmp", "../x", "a/../../x", ".hidden", "", "a b", 3])
def test_results_stay_below_the_working_folder(folder):
    _, faults = checking.configuration({"results": folder}, "config", [])
    assert [fault.field for fault in faults] == ["results"]


def paths(content, at=()):
    for key, value in content.items() if isinstance(content, dict) else enumerate(content):
        yield (*at, key)
        if isinstance(value, dict | list):
            yield from paths(value, (*at, key))


WRONG = (None, -1, 6.0, "text", [], {"a": 1}, {"name": "x"}, {"coefficient": 1, "of": "features"}, [[1]], True, 10**30)
PLACES = [place for place in paths(yaml.safe_load(STUDY)) if place[0] != "presets"]


@pytest.mark.parametrize("first", range(4))
def test_whatever_is_written_anywhere_is_refused_in_lines_or_can_be_planned(content, check, first):
    """Every place of a study with a few wrong values each; what is accepted expands to parameters of every job."""
    del content["presets"]
    for number, place in enumerate(PLACES):
        if number % 4 != first:
            continue
        for step in range(3):
            value = WRONG[(number * 3 + step) % len(WRONG)]
            changed = copy.deepcopy(content)
            part = changed
            for key in place[:-1]:
                part = part[key]
            part[place[-1]] = value
            study, faults = check(changed)
            assert (study is None) == bool(faults), (place, value)
            assert all("\n" not in str(fault) for fault in faults), (place, value)
            if study is not None:
                planned(study)


def planned(study):
    """The parameters of every job, as strict JSON."""
    found = [jobs.aggregate(study), jobs.figure(study), jobs.judge(study)]
    for task in study.tasks.values():
        found += [jobs.generate(study, task), jobs.evaluate(study, task)]
        found += [jobs.represent(study, task, name) for name in study.representations_in(task)]
        found += [jobs.train(study, task, name) for name in study.learners_in(task)]
    found += [jobs.probe(study, name) for name in study.content["probes"]]
    for parameters in found:
        json.dumps(parameters, allow_nan=False)
        jobs.components_of(parameters)


def test_the_studies_of_this_project_are_sound():
    from hierlearn.study.reading import SCHEMAS

    for file in (SCHEMAS.parents[1] / "config" / "studies").glob("*.yaml"):
        assert load(file, file.name)[1] == []
        study, faults = checking.study(file, file.name, "quick")
        assert faults == []
        planned(study)


MARGINAL = Path(__file__).parents[2] / "config" / "studies" / "allenzhu2020-marginal-accuracy.yaml"


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("widths", [2, 4]), ("widths", [90, 2]), ("graph", [[0, 1], [1, 2]]), ("kappa", 0.5)],
)
def test_teachers_that_break_the_rules_of_their_theory_are_refused_in_one_line(check, parameter, value):
    content = yaml.safe_load(MARGINAL.read_text())
    content["axes"]["depth"] = [3]
    content["problem"]["teacher"][parameter] = value
    _, faults = check(content)
    told = [fault for fault in faults if fault.field == f"problem.teacher.{parameter}"]
    assert told
    assert all(fault.allowed for fault in told)


def test_what_is_unwise_but_possible_is_warned_of_once():
    study, faults = checking.study(MARGINAL, MARGINAL.name, "quick")
    assert not faults
    (line,) = map(str, points.warned(study))
    assert "gaussian" in line
    assert "problem.teacher.depth: found 4" in line
