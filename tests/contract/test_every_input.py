"""What every law of x must do."""

import numpy as np
import pytest
from dimensions import DIMENSIONS

from hierlearn.core.registry import available, build
from hierlearn.core.streams import BLOCK_ROWS, Streams

STREAMS = Streams(("a test",), (4, 7, 9))


@pytest.fixture(params=available("inputs"))
def law(request):
    return build("inputs", {"name": request.param}, dimension=DIMENSIONS.get(request.param, 6))


def test_points_have_the_seed_first_and_are_single_precision(law):
    x = law.sample(STREAMS, "training", 0, 11)
    assert x.shape[:2] == (3, 11)
    assert x.dtype == np.float32
    assert np.isfinite(x).all()


@pytest.mark.parametrize(("start", "count"), [(0, 1), (3, 7), (BLOCK_ROWS - 2, 5), (2 * BLOCK_ROWS, 3)])
def test_a_slice_is_the_same_whatever_it_is_cut_from(law, start, count):
    whole = law.sample(STREAMS, "training", 0, 2 * BLOCK_ROWS + 10)
    assert np.array_equal(law.sample(STREAMS, "training", start, count), whole[:, start : start + count])


def test_a_seed_has_its_points_whoever_else_is_drawn(law):
    together = law.sample(STREAMS, "training", 5, 20)
    for position in range(3):
        alone = law.sample(STREAMS.take([position]), "training", 5, 20)
        assert np.array_equal(alone[0], together[position])
    reordered = law.sample(STREAMS.take([2, 0, 1]), "training", 5, 20)
    assert np.array_equal(reordered, together[[2, 0, 1]])


def test_seeds_rows_and_keys_draw_different_points(law):
    x = law.sample(STREAMS, "training", 0, 2 * BLOCK_ROWS)
    assert not np.array_equal(x[0], x[1])
    assert not np.array_equal(x[0, :BLOCK_ROWS], x[0, BLOCK_ROWS:])
    assert not np.array_equal(x, law.sample(STREAMS.at("another role"), "training", 0, 2 * BLOCK_ROWS))


def test_rows_are_not_correlated(law):
    x = law.sample(STREAMS, "training", 0, 4000).astype(np.float64)
    x -= x.mean(axis=1, keepdims=True)
    scale = np.mean(np.sum(x**2, axis=-1))
    products = np.sum(x[:, 1:] * x[:, :-1], axis=-1) / scale
    assert np.all(np.abs(products.mean(axis=1)) < 5 * products.std(axis=1) / np.sqrt(products.shape[1]))


def test_an_empty_or_negative_slice_is_refused(law):
    for start, count in ((-1, 3), (0, 0)):
        with pytest.raises(ValueError, match="expected start >= 0 and count >= 1"):
            law.sample(STREAMS, "training", start, count)


def test_it_has_no_objection_to_its_own_dimension(law):
    assert not list(law.validate(law))
    assert law.sample(STREAMS, "test", 0, 2).shape[2] == law.dimension


def test_a_shape_is_that_of_the_points(law):
    if law.shape is not None:
        assert len(law.shape) == 3
        assert np.prod(law.shape) == law.dimension


def test_points_of_a_role_do_not_end_before_its_supply(law):
    for role, count in law.supply().items():
        x = law.sample(STREAMS.take([0]), role, 0, count)[0]
        assert len(np.unique(x, axis=0)) > 0.98 * count
