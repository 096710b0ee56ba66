"""Every fault of a study is found before anything runs, all at once, one line each."""

import random
import time
from pathlib import Path

import pytest
import yaml
from small_study import SLOPE, beside, panel, put

from hierlearn.pipeline.plan import formulas


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
        (
            "split_jobs_by",
            ["dimensions"],
            "split_jobs_by[0]: found 'dimensions'; expected one of degree, dimension, seed (nearest: dim",
        ),
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
        ("learners.kernel.sweep", {"kernel": ["ntk"]}, "learners.kernel.sweep.kernel: found a component"),
        (
            "learners.kernel.sweep",
            {"kernel": [{"name": "ntk"}]},
            "learners.kernel.sweep.kernel[0]: found {'name': 'ntk'}; expected a number, a word or a truth value; "
            "write one learner for each component",
        ),
        (
            "learners.kernel.sweep",
            {"depth": [2]},
            "learners.kernel.sweep.depth: found an unknown parameter; expected one of bandwidth, ridge",
        ),
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
        ("claims.C1-kernel.test", None, "claims.C1-kernel.test: found nothing; expected a test, as the kind is rate"),
        (
            "claims.C1-kernel.test",
            "=< 1",
            """claims.C1-kernel.test: found '=< 1'; expected "<= 1 + 0.1", ">= 1 - 0.1\"""",
        ),
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
        ("learners.kernel.samples", {"at": [4], "start": 2, "cap": 8}, "learners.kernel.samples: found"),
        ("figure", {"name": "panels"}, "figure.panels: found nothing; expected this required parameter"),
        ("problem.teacher", "parity", "problem.teacher: found 'parity'; expected a component with its parameters"),
        ("claims.claim-1", {}, "expected a name, a capital letter and a number"),
        ("claims.C1-theory.quantity", SLOPE | {"variable": "samples"}, "quantity.variable: found 'samples'; expected"),
        ("claims.C1-theory.quantity", SLOPE | {"axis": "width"}, "quantity.axis: found 'width'; expected one of"),
        ("claims.C1-theory.quantity", SLOPE | {"values": [4, 9]}, "quantity.values[1]: found 9; expected one of"),
        ("claims.C1-theory.quantity", SLOPE | {"where": {"threshold": 0.5}}, "quantity.where.degree: found nothing"),
        ("claims.C1-theory.quantity.where", {"degree": 1, "threshold": 0.5}, "where.threshold: found an unknown axis"),
        ("figure", panel(probe="theories"), "figure.panels[0].probe: found 'theories'; expected one of theory"),
        ("figure", panel(x="width"), "figure.panels[0].x: found 'width'; expected one of"),
        ("figure", panel(lines=[{"variable": "n"}]), "figure.panels[0].lines[0].variable: found 'n'; expected"),
        ("figure", beside({"variable": "n"}), "panels[0].lines[1].variable: found 'n'; expected one of"),
        ("figure", beside({"probe": "theories"}), "panels[0].lines[1].probe: found 'theories'; expected one of theory"),
        ("figure", beside({"where": {"line": "rbf"}}), "panels[0].lines[1].where.line: found 'rbf'; expected one of"),
        (
            "figure",
            panel(lines=[{"variable": "sample_complexity", "where": {"degree": 9}}]),
            "panels[0].lines[0].where.degree: found 9; expected one of",
        ),
        ("figure", panel(colour="red"), "figure.panels[0]"),
        (
            "figure",
            panel(counting={"dimension": 40, "order": 50, "alpha": 0.3}),
            "figure.panels[0].counting.order: found 50; expected at most 40",
        ),
        (
            "figure",
            panel(counting={"dimension": 40, "order": 1, "alpha": 0.3}),
            "figure.panels[0].counting.order: found 1; expected at least 2",
        ),
        ("figure.name", "samples", "figure.name: found 'samples'; expected one of"),
        ("representations.raw", {"name": "neural"}, "representations: found the name 'raw'"),
        (
            "claims.C1-kernel.statement",
            "It holds\nso",
            "statement: found 'It holds\\nso'; expected one line that is not",
        ),
        ("claims.C1-kernel.statement", "", "statement: found ''; expected one line that is not empty"),
        ("claims.C1-kernel.place", " ", "place: found ' '; expected one line that is not empty"),
        ("claims.C1-kernel.remark", "It holds\n", "remark: found 'It holds\\n'; expected one line"),
        (
            "representations.neural.unlabelled",
            {"coefficient": 1, "of": "features", "power": 10**12},
            " MB of memory",
        ),
        ("learners.kernel.samples.cap", {"coefficient": 1e98, "of": "dimension", "power": 5}, " MB of memory"),
        ("learners.kernel.samples.cap", 10**18, " MB of memory"),
        (
            "learners.kernel.label",
            "$\\frac{$",
            "learners.kernel.label: found '$\\\\frac{$'; expected a text with formulas",
        ),
        ("figure", panel(ylabel="$x^2^3$"), "figure.panels[0].ylabel: found '$x^2^3$'; expected a text with formulas"),
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


MANY = list(range(1, 1001))


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("axes", {"dimension": MANY, "label_noise": MANY}, "axes"),
        ("learners.linear.sweep", {"width": MANY, "scale": MANY}, "learners"),
        ("probes.theory.axes", {"dimension": MANY, "degree": MANY}, "probes.theory"),
        ("presets.smoke.learners", {"linear": {"sweep": {"width": MANY, "scale": MANY}}}, "presets.smoke.learners"),
    ],
)
def test_absurd_grids_are_refused_by_their_lengths_alone(content, check, path, value, field):
    start = time.process_time()
    (fault,) = check(put(content, path, value))[1][:1]
    assert time.process_time() - start < 5
    assert fault.field == field
    assert "000,000" in fault.found or "combinations" in fault.found


def test_ten_thousand_points_are_no_absurd_grid(content, check):
    content["axes"] = {"dimension": list(range(3, 103)), "label_noise": [i / 100 for i in range(100)]}
    del content["learners"]["linear"]
    lines = [str(fault) for fault in check(content)[1]]
    assert not any("combinations" in line for line in lines)


def test_formulas_that_matplotlib_is_not_asked_about_can_be_drawn():
    from matplotlib.mathtext import MathTextParser

    chance, parser = random.Random(1), MathTextParser("path")
    parts = [*"aB1,.=+-*/|()<>: _^{}", "_2", "^3", "_{a+1}", r"\alpha", r"\sqrt{d}", r"\,", r"\gg", r"\Vert"]
    written = ("".join(chance.choices(parts, k=chance.randint(1, 8))) for _ in range(3_000))
    plain = [formula for formula in written if formulas.PLAIN.fullmatch(formula)]
    assert len(plain) > 100
    for formula in plain:
        parser.parse(f"${formula}$")


@pytest.mark.parametrize("text", ["5 $ and more", r"\$5", r"$\beta_1 \in A$", "$n$ of $N$", "a $b\nc$"])
def test_texts_that_can_be_drawn_are_taken(text):
    assert formulas.undrawable(text) is None


@pytest.mark.parametrize("path", ["title", "place", "learners.kernel.label", "claims.C1-kernel.statement"])
@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("a\nb", "one line that is not empty"),
        ("a\n", "one line that is not empty"),
        (" ", "one line that is not empty"),
        ("a\0b", "a text without U+0000"),
        ("a\tb", "a text without U+0009"),
        ("\x1b[31mred", "a text without U+001B"),
        ("a\u202egnp.b", "a text without U+202E"),
        ("a\u200bb", "a text without U+200B"),
        ("a" * 5000, "characters"),
    ],
)
def test_a_text_that_cannot_be_shown_in_one_line_is_refused(content, check, path, text, allowed):
    study, (fault,) = check(put(content, path, text))
    assert study is None
    assert fault.field == path and allowed in fault.allowed
    assert str(fault).isprintable()


@pytest.mark.parametrize(
    "text", ["שלום עולם", "\u06cc\u200c\u0627", "核方法", "a\u00a0b", "a" * 200, "<b>&amp;</b>", "2026"]
)
def test_a_label_in_any_letters_is_taken(content, check, text):
    assert check(put(content, "learners.kernel.label", text))[1] == []


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


def test_a_misspelt_required_key_is_one_fault_and_a_missing_one_names_no_other(content, check):
    content["papr"] = content.pop("paper")
    assert [fault.field for fault in check(content)[1]] == ["papr"]
    del content["papr"]
    (line,) = map(str, check(content)[1])
    allowed = "Key of the paper; one of chen2020, bai2020, allenzhu2019, allenzhu2020, yours"
    assert line.endswith(f"paper: found nothing; expected this required key: {allowed}")


def test_a_study_without_claims_is_sound(content, check):
    del content["claims"], content["presets"]
    assert check(content)[1] == []


# One stage after the other: shape, parameters, their values, names of the sections, names of the claims, meaning.
STAGES = [
    {"seeds": "five", "figure.name": 3},
    {"problem.teacher.rank": 0, "claims.C1-theory.quantity.lin": "ntk"},
    {"learners.kernel.select.ridge": [0], "axes.degree": ["two", 1]},
    {"split_jobs_by": ["size"], "learners.linear.representation": "neurl"},
    {"claims.C1-kernel.quantity.learner": "kernl", "claims.C1-theory.quantity.sizes": [4, 8, 99]},
    {"learners.kernel.label": "$", "claims.C1-kernel.regime": None},
]


@pytest.mark.parametrize("first", range(len(STAGES) - 1))
def test_faults_of_the_first_stage_that_has_some_are_told_together_and_alone(content, check, first):
    for stage in STAGES[first:]:
        for path, value in stage.items():
            content = put(content, path, value)
    fields = {fault.field.partition("[")[0] for fault in check(content)[1]}
    assert fields == set(STAGES[first])


def test_what_refers_to_a_part_with_a_fault_is_not_at_fault(content, check):
    content["learners"]["kernel"] = "ridge"
    _, faults = check(content)
    assert {fault.field for fault in faults} == {"learners.kernel"}


def test_a_fault_of_the_body_is_not_repeated_for_every_preset(content, check):
    _, faults = check(put(content, "learners.kernel.select.ridge", [0]))
    assert len(faults) == 1


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
