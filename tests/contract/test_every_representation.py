"""What every representation must do."""

import numpy as np
import pytest

from hierlearn.core.registry import available, build
from hierlearn.core.streams import Streams
from hierlearn.pipeline.files import netcdf, problems, results

STREAMS = Streams(("a test",), (4, 7, 9))
SPHERE = build("inputs", {"name": "sphere"}, dimension=5)


@pytest.fixture(params=available("representations"))
def representation(request):
    return build("representations", {"name": request.param})


@pytest.fixture
def unlabelled(representation):
    return SPHERE.sample(STREAMS, "unlabelled", 0, max(representation.unlabelled, 1))


@pytest.fixture
def state(representation, unlabelled):
    return representation.fit(unlabelled, STREAMS)


def test_features_have_seed_point_and_feature_in_single_precision(representation, state):
    h = representation.apply(state, SPHERE.sample(STREAMS, "test", 0, 11))
    assert h.shape[:2] == (3, 11)
    assert h.ndim == 3
    assert h.dtype == np.float32
    assert all(len(values) == 3 for values in state.values())


def test_the_mean_square_is_one_on_the_points_it_was_fitted_to(representation, state, unlabelled):
    h = representation.apply(state, unlabelled)
    np.testing.assert_allclose(np.mean(np.sum(h.astype(np.float64) ** 2, axis=-1), axis=1), 1.0, rtol=1e-4)


def test_the_mean_square_is_near_one_on_new_points(representation, state):
    h = representation.apply(state, SPHERE.sample(STREAMS, "test", 0, 4000))
    np.testing.assert_allclose(np.mean(np.sum(h.astype(np.float64) ** 2, axis=-1), axis=1), 1.0, rtol=0.25)


def test_features_do_not_depend_on_batching(representation, state):
    x = SPHERE.sample(STREAMS, "test", 0, 40)
    pieces = np.concatenate([representation.apply(state, x[:, :9]), representation.apply(state, x[:, 9:])], axis=1)
    np.testing.assert_allclose(pieces, representation.apply(state, x), rtol=1e-4, atol=1e-5)


def test_a_seed_has_its_features_whoever_else_is_fitted(representation, state, unlabelled):
    x = SPHERE.sample(STREAMS, "test", 0, 20)
    together = representation.apply(state, x)
    for position in (2, 0):
        alone = representation.fit(unlabelled[[position]], STREAMS.take([position]))
        assert np.array_equal(representation.apply(alone, x[[position]])[0], together[position])


def test_a_stored_representation_shows_the_same_features(representation, state, tmp_path):
    results.write(tmp_path / "state.nc", {"point": problems.pack("state", state)}, {})
    stored = problems.unpack("state", netcdf.read(tmp_path / "state.nc")["point"])
    x = SPHERE.sample(STREAMS, "test", 0, 20)
    assert np.array_equal(representation.apply(stored, x), representation.apply(state, x))
    assert {name: values.dtype for name, values in stored.items()} == {n: v.dtype for n, v in state.items()}
