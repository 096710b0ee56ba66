"""Random numbers are keyed by what they are for, and by nothing else."""

import numpy as np
import pytest

from hierlearn.core.streams import BLOCK_ROWS, Streams


def normal(generator):
    return generator.standard_normal(5)


def test_equal_words_give_equal_numbers():
    first = Streams(("problem",), (0, 1)).at("teacher").stack(normal)
    assert np.array_equal(first, Streams(("problem",), (0, 1)).at("teacher").stack(normal))
    assert first.shape == (2, 5)


def test_adding_or_reordering_seeds_changes_no_number_of_another():
    few, more = Streams(("problem",), (3, 8)), Streams(("problem",), (8, 1, 3))
    assert np.array_equal(few.stack(normal), more.stack(normal)[[2, 0]])
    assert np.array_equal(more.take([2, 0]).stack(normal), few.stack(normal))


@pytest.mark.parametrize("other", [("problem", "b"), ("problems", "a"), ("problema",), ("problem", "a", "")])
def test_other_words_give_other_numbers(other):
    assert not np.allclose(Streams(("problem", "a"), (0,)).stack(normal), Streams(other, (0,)).stack(normal))


def test_words_may_be_given_at_once_or_one_by_one():
    streams = Streams(("problem",), (0,))
    assert np.array_equal(streams.at("a", 1).stack(normal), streams.at("a").at(1).stack(normal))


def test_a_seed_is_not_mistaken_for_a_word():
    assert Streams(("a", "1"), (2,)).generator(2).random() != Streams(("a",), (2,)).generator(12).random()


def test_asking_twice_starts_again():
    generator = Streams(("a",), (0,)).generators()[0]
    generator.random(100)
    assert Streams(("a",), (0,)).generators()[0].random() == Streams(("a",), (0,)).generators()[0].random()


def test_numbers_stay_what_they_were():
    """Stored results rest on these; if they must change, all results must be computed again."""
    drawn = Streams(("problem",), (0,)).at("points").generator(0).integers(0, 1000, 4)
    assert drawn.tolist() == [182, 725, 364, 548]


def test_rows_are_the_same_in_every_slice():
    streams = Streams(("rows",), (0, 5))

    def draw(generator, rows):
        return generator.random((rows, 2))

    whole = streams.rows(0, 3 * BLOCK_ROWS, draw)
    for start, count in ((0, 1), (BLOCK_ROWS - 1, 2), (BLOCK_ROWS, BLOCK_ROWS), (100, 2 * BLOCK_ROWS)):
        assert np.array_equal(streams.rows(start, count, draw), whole[:, start : start + count])


def test_streams_of_seeds_look_independent():
    draws = Streams(("independence",), tuple(range(40))).stack(lambda g: g.standard_normal(2000))
    correlations = np.corrcoef(draws)[np.triu_indices(40, 1)]
    assert np.max(np.abs(correlations)) < 5 / np.sqrt(2000)
    assert abs(draws.mean()) < 5 / np.sqrt(draws.size)
