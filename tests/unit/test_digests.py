"""Digests of a question and of its design: each of its own part, and of no name, no default and no word."""

import copy

import pytest
from small_study import put, study_of

from hierlearn.core import aliases, registry
from hierlearn.pipeline.claims import digests
from hierlearn.pipeline.plan import registration

CLAIM = "C1-kernel"


def both(content):
    """The digests of the question and of the design of the small study's first claim."""
    design = registration.designs(study_of(content, "small", "small.yaml", "quick"))[CLAIM]
    return digests.of_question(design), digests.of_design(design)


OF_THE_QUESTION = [
    ("claims.C1-kernel.test", "<= 7"),
    ("claims.C1-kernel.test", "= 1"),
    ("claims.C1-kernel.test", "<= 1 + 0.3"),
    ("claims.C1-kernel.place", "Theorem 99"),
    ("problem.label_noise", 0.25),
]
OF_THE_DESIGN = {"seeds": 5, "points.test": 77, "samples.thresholds": [0.5], "learners.kernel.samples.cap": 32}
WORDS = {
    "title": "Another title",
    "claims.C1-kernel.statement": "Another one",
    "claims.C1-kernel.remark": "Seen before.",
    "learners.kernel.label": "Another label",
}


def changed(content, path, value):
    return both(put({"points": {}, "samples": {}} | content, path, value))


@pytest.mark.parametrize(("path", "value"), OF_THE_QUESTION)
def test_a_question_moves_its_own_digest_alone(content, path, value):
    question, design = changed(content, path, value)
    assert question != both(content)[0]
    assert design == both(content)[1]


@pytest.mark.parametrize("path", OF_THE_DESIGN)
def test_a_design_moves_its_own_digest_alone(content, path):
    question, design = changed(content, path, OF_THE_DESIGN[path])
    assert question == both(content)[0]
    assert design != both(content)[1]


@pytest.mark.parametrize("path", WORDS)
def test_words_move_no_digest(content, path):
    assert changed(content, path, WORDS[path]) == both(content)


def test_a_further_size_of_an_axis_is_of_the_design(content):
    more = copy.deepcopy(content)
    more["axes"]["dimension"] = [2, *more["axes"]["dimension"]]
    assert both(more)[0] == both(content)[0]
    assert both(more)[1] != both(content)[1]


def test_another_name_of_a_learner_moves_no_digest(content):
    renamed = copy.deepcopy(content)
    renamed["learners"]["gram"] = renamed["learners"].pop("kernel")
    renamed["claims"][CLAIM]["quantity"]["learner"] = "gram"
    assert both(renamed) == both(content)


def test_a_new_parameter_with_its_default_moves_no_digest_and_another_value_does(content, monkeypatch):
    before, known = both(content), registry.parameters

    def more(kind, name):
        found = dict(known(kind, name))
        return found | {"regularity": {"type": "integer", "default": 3}} if kind in ("kernels", "quantities") else found

    monkeypatch.setattr(registry, "parameters", more)
    assert both(content) == before
    other = put(content, f"claims.{CLAIM}.quantity.regularity", 4)
    assert both(other)[0] != before[0]


def test_a_quantity_with_another_name_moves_no_digest(content, monkeypatch):
    design = registration.designs(study_of(content, "small", "small.yaml", "quick"))[CLAIM]
    first = design["claim"]["quantity"]
    now = {"threshold": "level", "name": "name"}
    renamed = {now.get(key, key): value for key, value in first.items()} | {"name": "line"}
    known = registry.parameters("quantities", first["name"])
    new = {now.get(key, key): schema for key, schema in known.items()}
    of_others, available = registry.parameters, registry.available
    monkeypatch.setattr(registry, "parameters", lambda *one: new if one == ("quantities", "line") else of_others(*one))
    monkeypatch.setattr(
        registry, "available", lambda kind: (*available(kind), "line") if kind == "quantities" else available(kind)
    )
    renamed_design = design | {"claim": design["claim"] | {"quantity": renamed}}
    before = digests.of_question(design), digests.of_design(design)
    assert digests.of_question(renamed_design) != before[0]
    alias = aliases.Alias("quantities", {"name": "line"}, {"name": first["name"]}, {"level": "threshold"})
    monkeypatch.setattr(aliases, "ALIASES", (*aliases.ALIASES, alias))
    assert (digests.of_question(renamed_design), digests.of_design(renamed_design)) == before


def test_the_rule_bound_has_its_first_name_in_a_registered_design(content):
    bounded = put(content, f"claims.{CLAIM}.test", "bound")
    design = registration.designs(study_of(bounded, "small", "small.yaml", "quick"))[CLAIM]
    assert design["claim"]["rule"] == "holds"
    assert aliases.present_rule("holds") == aliases.present_rule("bound") == "bound"
