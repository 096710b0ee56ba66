"""Two whitened random layers against the polynomials that they span, and against the layers by themselves."""

import numpy as np
import pytest

from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.representations.neural import Neural
from hierlearn.representations.two_layer import TwoLayer
from hierlearn.theory.dimensions import polynomials

STREAMS = Streams(("two layers",), (0, 1))
SPHERE = build("inputs", {"name": "sphere"}, dimension=3)
QUADRATIC = {"inner_count": 20, "inner_directions": 10, "count": 60, "directions": 40}


def legendre(t):
    """P_4, on the sphere in R^3 orthogonal to all of lower degree."""
    return (35 * t**4 - 30 * t**2 + 3) / 8


def points(count, role="unlabelled"):
    return SPHERE.sample(STREAMS, role, 0, count)


def test_two_quadratic_layers_span_the_polynomials_of_degree_4_and_one_does_not():
    """On the sphere in R^3 these are 25 = 1 + 3 + 5 + 7 + 9 dimensions."""
    two, one = TwoLayer(unlabelled=3000, **QUADRATIC), Neural(features="quadratic", count=60, unlabelled=3000)
    x, new = points(3000), points(1000, "test")
    state = two.fit(x, STREAMS)
    assert state["outer_rank"].tolist() == [polynomials(3, 4)] * 2 == [25, 25]
    known, deep = two.apply(state, x).astype(float), two.apply(state, new).astype(float)
    shallow_state = one.fit(x, STREAMS)
    flat, bent = one.apply(shallow_state, x).astype(float), one.apply(shallow_state, new).astype(float)
    for seed in range(2):
        targets = [legendre(p[seed, :, 0].astype(float)) for p in (x, new)]
        for seen, shown, reached in ((known, deep, True), (flat, bent, False)):
            weights = np.linalg.lstsq(seen[seed], targets[0], rcond=1e-5)[0]
            share = np.mean((shown[seed] @ weights - targets[1]) ** 2) / np.mean(targets[1] ** 2)
            assert share < 1e-4 if reached else share > 0.5


def test_the_second_moment_of_what_is_kept_is_the_identity():
    two = TwoLayer(features="relu2", inner_count=8, inner_directions=6, count=20, directions=9, unlabelled=2000)
    x = points(2000)
    h = two.apply(two.fit(x, STREAMS), x).astype(float)
    np.testing.assert_allclose(np.einsum("snd,sne->sde", h, h) / 2000 * 9, np.stack([np.eye(9)] * 2), atol=5e-3)


def test_the_layers_draw_numbers_of_their_own():
    state = TwoLayer(inner_count=8, count=8, unlabelled=300).fit(points(300), STREAMS)
    assert state["inner_V"].shape == (2, 8, 3)
    assert not np.isin(state["outer_b"], state["inner_b"]).any()


@pytest.mark.parametrize("layer", ["", "inner_"])
def test_more_directions_than_features_are_refused(layer):
    with pytest.raises(ValueError, match=f"{layer}directions 9; expected at most {layer}count = 8"):
        TwoLayer(**{f"{layer}count": 8, f"{layer}directions": 9})
