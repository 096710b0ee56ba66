"""Which quadratic DenseNets are refused, and of which a user is warned."""

import pytest

from hierlearn.core.registry import defaults
from hierlearn.teachers.quadratic_densenet import QuadraticDensenet
from hierlearn.theory.quadratic_densenets import faults, layer_weights, layer_widths, links, warnings

GAUSSIAN, UNIFORM = {"name": "gaussian", "norm": "sqrt_dimension"}, {"name": "uniform"}


def said(function, inputs=GAUSSIAN, dimension=20, **given):
    return list(function(defaults("teachers", "quadratic_densenet") | given, inputs, dimension))


def test_the_defaults_of_every_depth_are_possible():
    for depth in range(2, 7):
        assert said(faults, depth=depth, dimension=4) == []
        assert len(layer_widths(depth, None)) == len(links(depth, None)) == depth - 1
        assert len(layer_weights(depth, None, 0.5)) == depth - 1


def test_defaults_are_those_of_the_settings_known_to_work():
    assert layer_widths(3, None) == (4, 2)
    assert layer_widths(4, [2]) == (2, 2, 2)
    assert not list(faults(QuadraticDensenet(depth=4, widths=[2]).__dict__, {"name": "gaussian"}, 20))
    assert links(3, None) == ((0, 1), (0, 2))
    assert layer_weights(4, None, 0.2) == pytest.approx((1, 0.2, 0.04))


def test_the_first_width_and_the_last_gap_can_be_said_alone():
    assert layer_widths(4, None, 6) == (6, 2, 1)
    assert layer_widths(3, [5, 3], 6) == (6, 3)
    assert layer_weights(4, None, 0.2, 0.5) == pytest.approx((1, 0.2, 0.1))
    assert layer_weights(3, [1, 0.3], 0.2, 0.5) == (1, 0.5)
    ((name, found, _),) = said(faults, first_width=1)
    assert (name, found) == ("widths", "1 then 2 at layer 3")


@pytest.mark.parametrize(
    ("given", "parameter", "words"),
    [
        ({"depth": 4, "widths": [4, 2]}, "widths", "one width for each of the layers 2 to 4"),
        ({"widths": [2, 3]}, "widths", "do not grow"),
        ({"widths": [21, 2]}, "widths", "at most 20, the dimension"),
        ({"widths": [20, 2], "kind": "classes"}, "widths", "at most 19, the dimension less the threshold's"),
        ({"graph": [[0, 1], [0]]}, "graph", "with the layer 2 before it"),
        ({"graph": [[0, 1], [0, 1, 2]]}, "graph", "without the layer 1 two before it"),
        ({"graph": [[0, 1], [2]]}, "graph", "skip link from a layer up to 0"),
        ({"graph": [[0, 2], [0, 2]]}, "graph", "earlier layers, 0 to 1"),
        ({"graph": [[0, 0], [0, 2]]}, "graph", "different numbers"),
        ({"depth": 4, "graph": [[0], [0, 2], [2, 3]]}, "graph", "without the layer 2 two before it"),
        ({"alphas": [1]}, "alphas", "one weight for each"),
        ({"alphas": [0, 0]}, "alphas", "one weight above 0"),
        ({"inputs": {"name": "gaussian", "norm": "unit"}}, "kind", "norm sqrt_dimension"),
    ],
    ids=str,
)
def test_what_is_impossible_is_said_with_its_parameter_and_what_is_allowed(given, parameter, words):
    found = said(faults, **given)
    assert any(name == parameter and words in allowed for name, _, allowed in found), found


def test_every_graph_that_keeps_the_rule_is_allowed():
    for graph in ([[1], [0, 2], [1, 3]], [[0], [2, 0], [3, 1, 0]], [[0, 1], [0, 2], [0, 3]]):
        assert said(faults, depth=4, graph=graph) == []


def test_weights_that_do_not_fall_are_warned_of():
    assert said(warnings) == []
    assert [name for name, _, _ in said(warnings, gap=1)] == ["gap"]
    assert [name for name, _, _ in said(warnings, alphas=[1, 1.5])] == ["alphas"]
    assert said(warnings, alphas=[1, 0.9]) == []


def test_unbounded_points_of_deep_networks_are_warned_of():
    assert [name for name, _, _ in said(warnings, depth=4)] == ["depth"]
    assert "degree 16" in said(warnings, depth=4)[0][1]
    assert said(warnings, inputs=UNIFORM, depth=6) == []
    assert said(warnings, depth=3) == []
