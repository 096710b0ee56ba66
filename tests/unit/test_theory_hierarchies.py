"""Random grammars against counting, and against strings that are read by hand."""

from itertools import product

import numpy as np
import pytest

from hierlearn.core.problem import pose
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.theory import hierarchies

GRAMMARS = [(3, 2, 2, 2, 3), (4, 4, 2, 2, 4), (2, 2, 3, 1, 2), (3, 3, 3, 1, 5), (2, 1, 2, 3, 2)]
SEEDS = Streams(("a test",), (4, 7), 1)


def grammar(symbols, synonyms, branching, depth, classes, seed=0):
    generator = np.random.default_rng(seed)
    return [
        hierarchies.draw_rules(generator, n, symbols, synonyms, branching)
        for n in hierarchies.levels(symbols, classes, depth)
    ]


def all_strings(symbols, branching, depth):
    return np.array(list(product(range(symbols), repeat=branching**depth)))


def roots(rules, strings, symbols, branching):
    return list(hierarchies.parse(rules, strings, symbols, branching))[-1][:, 0]


@pytest.mark.parametrize("parameters", GRAMMARS)
def test_a_class_has_as_many_strings_as_synonyms_at_every_node_allow(parameters):
    symbols, synonyms, branching, depth, classes = parameters
    found = roots(grammar(*parameters), all_strings(symbols, branching, depth), symbols, branching)
    counts = np.bincount(found[found >= 0], minlength=classes)
    nodes = (branching**depth - 1) // (branching - 1)
    assert counts.tolist() == [synonyms**nodes] * classes


def test_no_two_symbols_share_a_string():
    for rule in grammar(4, 3, 2, 3, 5):
        assert len(np.unique(rule)) == rule.size


@pytest.mark.parametrize("parameters", GRAMMARS)
def test_what_is_expanded_is_read_back_at_every_level(parameters):
    symbols, _, branching, depth, classes = parameters
    rules, generator = grammar(*parameters), np.random.default_rng(1)
    wanted = generator.integers(0, classes, (200, 1))
    strings = hierarchies.expand(generator, rules, wanted, symbols, branching)
    levels = list(hierarchies.parse(rules, strings, symbols, branching))
    assert [level.shape[1] for level in levels] == [branching**i for i in range(depth)][::-1]
    assert np.array_equal(levels[-1], wanted)


def test_a_string_is_read_by_its_rules():
    # 0 -> 01 or 10, 1 -> 11 or 00; class 0 -> 00 or 01, class 1 -> 10 or 11.
    rules = [np.array([[1, 2], [3, 0]]), np.array([[0, 1], [2, 3]])]
    strings = np.array([[0, 1, 1, 0], [0, 1, 1, 1], [1, 1, 0, 1], [0, 0, 0, 0]])
    lower, upper = hierarchies.parse(rules, strings, 2, 2)
    assert lower.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert upper.ravel().tolist() == [0, 0, 1, 1]


def test_a_synonym_in_place_of_another_changes_no_class_and_another_symbol_does_so_often():
    rules = grammar(4, 4, 2, 2, 4)
    generator = np.random.default_rng(2)
    strings = hierarchies.expand(generator, rules, generator.integers(0, 4, (500, 1)), 4, 2)
    lower, classes = hierarchies.parse(rules, strings, 4, 2)
    synonym, other = strings.copy(), strings.copy()
    synonym[:, :2] = hierarchies.digits(rules[0][lower[:, 0], 2], 4, 2)
    other[:, :2] = hierarchies.digits(rules[0][(lower[:, 0] + 1) % 4, 2], 4, 2)
    assert np.array_equal(roots(rules, synonym, 4, 2), classes[:, 0])
    assert np.mean(roots(rules, other, 4, 2) != classes[:, 0]) > 0.5


def test_a_string_that_no_rule_makes_has_no_class():
    rules = grammar(3, 2, 2, 2, 3)
    found = roots(rules, all_strings(3, 2, 2), 3, 2)
    assert (found < 0).sum() == 3**4 - 3 * 2**3


def test_classes_and_synonyms_are_equally_likely():
    rules = grammar(3, 3, 2, 1, 3)
    generator = np.random.default_rng(3)
    strings = hierarchies.expand(generator, rules, generator.integers(0, 3, (9000, 1)), 3, 2)
    counts = np.bincount(strings @ [3, 1], minlength=9)
    assert np.all(np.abs(counts - 1000) < 5 * np.sqrt(1000))


def test_leaves_are_told_apart_and_found_again():
    strings = all_strings(3, 2, 1)
    x = hierarchies.one_hot(strings, 3)
    np.testing.assert_allclose(np.sum(x.astype(float) ** 2, axis=1), 6, rtol=1e-6)
    assert np.array_equal(hierarchies.strings_of(x, 3), strings)


def test_input_and_teacher_have_the_same_rules_and_other_seeds_and_draws_others():
    inputs, teacher = (
        build("inputs", {"name": "random_hierarchy"}, dimension=32),
        build("teachers", {"name": "hierarchy_class"}),
    )
    problem = pose(inputs, teacher, "paper", 0.0, SEEDS)
    batch = problem.draw("test", 300)
    # A string of other rules would have no class somewhere.
    assert np.all((batch.target > 0).sum(axis=-1) == 1)
    other = pose(inputs, teacher, "paper", 0.0, Streams(("a test", "a draw"), (4, 7), 2))
    for state in (problem.state["rules_1"][1], other.state["rules_1"][0]):
        assert not np.array_equal(problem.state["rules_1"][0], state)


def test_hidden_symbols_of_the_teacher_end_in_the_class():
    inputs, teacher = (
        build("inputs", {"name": "random_hierarchy"}, dimension=32),
        build("teachers", {"name": "hierarchy_class"}),
    )
    problem = pose(inputs, teacher, "paper", 0.0, SEEDS)
    batch = problem.draw("test", 50)
    hidden = teacher.hidden(problem.state, batch.x)
    assert [hidden[f"level_{level}"].shape[-1] for level in (1, 2, 3)] == [4, 2, 1]
    assert np.array_equal(hidden["level_3"][..., 0], batch.target.argmax(axis=-1))


def test_the_hidden_bit_is_not_in_the_mean_of_the_label_given_one_pair():
    inputs, teacher = (
        build("inputs", {"name": "hidden_bits"}, dimension=32),
        build("teachers", {"name": "bit_interaction"}),
    )
    problem = pose(inputs, teacher, "paper", 0.0, SEEDS)
    batch = problem.draw("test", 20_000)
    bits = teacher.hidden(problem.state, batch.x)
    c, f, y = bits["c"], bits["f"], batch.target[..., 0]
    np.testing.assert_allclose(y, c[..., 0] + c[..., 1] + 0.5 * c[..., 0] * f[..., 1])
    for seed in range(2):
        for place in (0, 1):
            means = [
                [y[seed][(c[seed, :, place] == i) & (f[seed, :, place] == j)].mean() for j in (-1, 1)] for i in (-1, 1)
            ]
            np.testing.assert_allclose(means, [[-1, -1], [1, 1]], atol=0.1)


def test_sizes_that_no_grammar_has_are_refused_in_one_line():
    for parameters, dimension, message in (
        ({"synonyms": 5}, 16, "synonyms 5 for each of 4 .*; expected at most the 16 strings"),
        ({}, 24, r"dimension 24; expected v s\^L = 4 x 2\^L"),
        ({"symbols": 1001, "branching": 2}, 2002, r"symbols 1001\^2 strings of a level; expected at most 1,000,000"),
    ):
        inputs = build("inputs", {"name": "random_hierarchy"} | parameters, dimension=dimension)
        with pytest.raises(ValueError, match=message):
            inputs.rules(SEEDS)


def test_a_full_grammar_has_as_many_synonyms_as_there_can_be_and_grows_by_its_symbols():
    teacher = build("teachers", {"name": "hierarchy_class", "classes": 3})
    for dimension, levels, symbols in ((12, 2, 3), (20, 2, 5), (24, 3, 3)):
        inputs = build("inputs", {"name": "full_hierarchy", "levels": levels, "classes": 3}, dimension=dimension)
        assert (inputs.symbols, inputs.shape) == (symbols, (symbols, 1, 2**levels))
        problem = pose(inputs, teacher, "paper", 0.0, SEEDS)
        lower = problem.state["rules_1"]
        # Every pair stands for a symbol, each for one.
        assert np.array_equal(np.sort(lower.reshape(2, -1), axis=1), np.tile(np.arange(symbols**2), (2, 1)))
        assert problem.state[f"rules_{levels}"].shape == (2, 3, symbols)
        assert np.all((problem.draw("test", 200).target > 0).sum(axis=-1) == 1)


def test_a_full_grammar_that_there_is_not_is_refused_in_one_line():
    for parameters, dimension, message in (
        ({}, 18, r"dimension 18; expected v s\^L = v x 2\^2, v at least 2"),
        ({"levels": 3}, 8, r"dimension 8; expected v s\^L = v x 2\^3"),
        ({"classes": 4}, 12, "classes 4; expected at most the 3 symbols"),
        ({}, 4004, r"dimension 1001\^2 strings of a level; expected at most 1,000,000"),
    ):
        inputs = build("inputs", {"name": "full_hierarchy"} | parameters, dimension=dimension)
        with pytest.raises(ValueError, match=message):
            inputs.rules(SEEDS)
