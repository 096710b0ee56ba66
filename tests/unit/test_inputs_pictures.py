"""Digits against scikit-learn's own loader, their classes, and pictures that move."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from hierlearn.core.problem import Problem, pose, wrong_classes
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.inputs._digits import digits

STREAMS = Streams(("a test",), (4, 7), 1)


def problem(name, dimension, noise=0.0) -> Problem:
    teacher = build("teachers", {"name": "picture_class"})
    return pose(build("inputs", {"name": name}, dimension=dimension), teacher, "paper", noise, STREAMS)


def test_digits_are_those_of_scikit_learn():
    pictures, classes = digits()
    bunch = load_digits()
    np.testing.assert_allclose(pictures * 16, bunch.images)
    assert np.array_equal(classes, bunch.target)


def test_every_digit_has_its_class_and_roles_share_none():
    known = {
        picture.tobytes(): label for picture, label in zip(load_digits().images, load_digits().target, strict=True)
    }
    posed, seen = problem("digits", 64), []
    for role, count in posed.inputs.supply().items():
        batch = posed.draw(role, count)
        scale = 16 / batch.x.max()
        pictures = [np.round(x * scale).reshape(8, 8).astype(float).tobytes() for x in batch.x[1]]
        assert [known[picture] for picture in pictures] == batch.target[1].argmax(axis=-1).tolist()
        seen += pictures
    assert len(set(seen)) == len(known)


def test_a_shifted_digit_is_the_digit_somewhere_on_an_empty_canvas():
    posed = problem("shifted_digits", 196)
    batch = posed.draw("training", 400)
    library, classes = posed.inputs.library()
    canvas = batch.x[0].reshape(-1, 14, 14)
    mass = library.sum(axis=(1, 2, 3))
    for picture, label in zip(canvas[:60], batch.target[0].argmax(axis=-1), strict=False):
        candidates = np.flatnonzero(np.abs(mass - picture.sum()) < 1e-3 * mass)
        found = [
            classes[i]
            for i in candidates
            for row in range(7)
            for column in range(7)
            if np.array_equal(picture[row : row + 8, column : column + 8], library[i, 0])
        ]
        assert label in found
    # Every place is used: the corner of what is lit spreads over the canvas.
    tops = [np.flatnonzero(picture.any(axis=1))[0] for picture in canvas]
    assert {0, 1, 2, 3, 4, 5, 6} <= set(tops)


def test_points_have_mean_square_one():
    for name, dimension in (("digits", 64), ("shifted_digits", 196)):
        x = problem(name, dimension).draw("training", 1000).x.astype(float)
        assert abs(np.mean(x**2) - 1) < 0.02


def test_another_class_is_as_likely_as_the_noise_says_and_taken_off_the_risk():
    noisy = problem("digits", 64, noise=0.3)
    batch = noisy.draw("training", 1000)
    assert np.all((batch.labels > 0).sum(axis=-1) == 1)
    found = wrong_classes(batch.labels, batch.target)
    assert np.all(np.abs(found - 0.3) < 5 * np.sqrt(0.21 / 1000))
    # A predictor that is right in all but a share of 0.2, wrong classes at random, among 10 classes.
    generator, e = np.random.default_rng(0), 0.2
    truth, n = generator.integers(0, 10, 200_000), 200_000
    guess = np.where(generator.random(n) < e, (truth + generator.integers(1, 10, n)) % 10, truth)
    label = np.where(generator.random(n) < 0.3, (truth + generator.integers(1, 10, n)) % 10, truth)
    assert abs(noisy.denoise(np.array([np.mean(guess != label)]), batch.target)[0] - e) < 0.02


def test_the_class_of_several_outputs_is_the_largest():
    labels = np.array([[[1, -1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, -1]]])
    outputs = np.array([[[3.0, 2.0, 1.0], [5.0, 4.0, -1.0], [-3.0, -2.0, -1.0], [0.1, 0.2, 0.0]]])
    assert wrong_classes(outputs, labels).tolist() == [0.5]


def test_more_pictures_than_there_are_come_again_and_another_canvas_is_refused():
    inputs = build("inputs", {"name": "digits"}, dimension=64)
    x = inputs.sample(STREAMS, "test", 0, 2 * 497)
    assert np.array_equal(np.unique(x[0, :497], axis=0), np.unique(x[0, 497:], axis=0))
    other = build("inputs", {"name": "shifted_digits"}, dimension=100)
    assert [part for _, *part in other.validate(other)] == [["100", "14 x 14 = 196"]]
    with pytest.raises(ValueError, match="classes 5; expected the input's 10"):
        build("teachers", {"name": "picture_class", "classes": 5}).draw(STREAMS, inputs)
