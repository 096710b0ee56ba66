"""What the number of a claim is called, and between which sizes its local slopes lie."""

import json

import yaml
from small_study import SLOPE, STUDY, put, study_of

from hierlearn.core import registry
from hierlearn.pipeline.plan import quantity_labels


def test_every_quantity_has_a_word():
    named = {name: registry.implementation("quantities", name).UNIT for name in registry.available("quantities")}
    assert [name for name, word in named.items() if not word] == []


def test_the_number_of_a_mean_is_called_what_is_averaged():
    risk = {"name": "score_mean", "learner": "kernel", "samples": 8}
    assert quantity_labels.unit(risk) == "risk" and quantity_labels.unit(risk | {"log": True}) == "log of risk"
    assert quantity_labels.unit(risk | {"variable": "test_accuracy"}) == "accuracy"
    gap = {"name": "probe_mean", "probe": "gap", "variable": "gap"}
    assert quantity_labels.unit(gap | {"over": "bound"}) == "ratio"
    assert quantity_labels.unit(gap | {"over": "bound", "log": True}) == "log ratio"
    difference = {"name": "score_difference", "above": "kernel", "below": "linear", "samples": 8}
    assert quantity_labels.unit(difference) == "difference of accuracy"


def test_a_slope_has_all_sizes_of_its_axis_and_another_number_has_none():
    claim = {"quantity": {"name": "log_risk_ratio", "above": "kernel", "below": "linear", "samples": 8}}
    content = yaml.safe_load(STUDY)
    content["claims"]["C1-ratio"] = content["claims"]["C1-kernel"] | claim
    content["claims"]["C1-slope"] = content["claims"]["C1-kernel"] | {"quantity": SLOPE}
    content = put(content, "claims.C1-kernel.quantity.sizes", [4, 5])
    found = quantity_labels.of_claims(study_of(content, "small", "small.yaml"))
    assert found["C1-kernel"] == {"unit": "slope", "sizes": [3, 4, 5]}
    assert found["C1-slope"] == found["C1-theory"] == {"unit": "slope", "sizes": [4, 8, 16]}
    assert found["C1-ratio"] == {"unit": "log ratio"}
    assert json.loads(json.dumps(found)) == found
