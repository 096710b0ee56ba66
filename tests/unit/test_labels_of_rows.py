"""Finite sets: labels belong to rows, and a job keeps numbers of rows in the place of points."""

import numpy as np
import pytest
import small_cifar

from hierlearn.core import registry
from hierlearn.core.problem import pose
from hierlearn.core.streams import Streams
from hierlearn.inputs._table_files import UnreadableTable
from hierlearn.pipeline.files import problems

STREAMS = Streams(("a test",), (4, 7), 1)


def table(folder, rows, name="mine.csv", **parameters):
    (folder / name).write_text("a,b,y\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return registry.build("inputs", {"name": "table", "file": str(folder / name), **parameters}, dimension=2)


def posed(inputs, classes=0, columns=1, scale="paper"):
    teacher = registry.build("teachers", {"name": "labels", "classes": classes, "columns": columns})
    return pose(inputs, teacher, scale, 0.0, STREAMS)


def numbers(count, seed=0):
    generator = np.random.default_rng(seed)
    return np.round(np.column_stack([generator.standard_normal((count, 2)), generator.uniform(100, 300, count)]), 3)


def test_equal_rows_with_different_labels_keep_their_own(tmp_path):
    problem = posed(table(tmp_path, [(1, 2, 5.5), (1, 2, -5.5), (1, 2, 0.5), (3, 4, 1.5), (3, 4, 2.5), (5, 6, 1)] * 4))
    for role, count in problem.inputs.supply().items():
        rows, batch = problem.rows(role, count), problem.draw(role, count)
        mean = np.mean([5.5, -5.5, 0.5, 1.5, 2.5, 1])
        assert np.allclose(batch.labels[..., 0], np.array([5.5, -5.5, 0.5, 1.5, 2.5, 1])[rows % 6] - mean)


def test_of_points_alone_the_target_is_the_mean_label_of_equal_rows(tmp_path):
    problem = posed(table(tmp_path, [(1, 2, 5.5), (1, 2, -5.5), (3, 4, 1.5), (5, 6, 2.5)] * 3, standardise=False))
    x = np.array([[[1, 2], [3, 4], [9, 9]]] * 2, np.float32)
    assert np.allclose(problem.teacher.target(problem.state, x)[..., 0], [[0 - 1, 1.5 - 1, 0]] * 2)


def test_parts_of_a_seed_share_no_row_and_hold_all_of_them(tmp_path):
    inputs = table(tmp_path, numbers(40))
    assert dict(inputs.supply()) == {"training": 24, "validation": 6, "test": 10}
    problem = posed(inputs)
    rows = np.concatenate([problem.rows(role, count) for role, count in inputs.supply().items()], axis=1)
    assert np.array_equal(np.sort(rows, axis=1), [np.arange(40)] * 2)
    assert not np.array_equal(rows[0], rows[1])


def test_points_are_standardised_rows_and_labels_centred_ones(tmp_path):
    values = numbers(40)
    problem = posed(table(tmp_path, values))
    rows, batch = problem.rows("training", 24), problem.draw("training", 24)
    x = values[:, :2]
    np.testing.assert_allclose(batch.x, ((x - x.mean(axis=0)) / x.std(axis=0))[rows], atol=1e-5)
    np.testing.assert_allclose(batch.labels[..., 0], values[rows, 2] - values[:, 2].mean(), atol=1e-9)


def test_at_unit_scale_the_best_constant_has_risk_one(tmp_path):
    problem = posed(table(tmp_path, numbers(400)), scale="unit")
    batch = problem.draw("test", 100)
    np.testing.assert_allclose(problem.risk(np.zeros_like(batch.target), batch.target), 1.0)
    squares = np.mean(np.square(problem.draw("training", 240).target), axis=(1, 2))
    np.testing.assert_allclose(squares, 1.0)


def test_the_files_own_test_points_are_those_of_every_seed(tmp_path):
    table(tmp_path, [(9, 9, 1), (8, 8, 0)], "mine.test.csv")
    inputs = table(tmp_path, [(i, -i, i % 2) for i in range(20)], test="file", standardise=False)
    problem = posed(inputs, classes=2)
    assert dict(inputs.supply()) == {"training": 16, "validation": 4, "test": 2}
    for points in problem.draw("test", 2).x:
        assert sorted(points.tolist()) == [[8, 8], [9, 9]]
    assert problem.draw("test", 2).target.shape == (2, 2, 1)


def test_pictures_are_standardised_by_channel(tmp_path):
    x = np.random.default_rng(0).integers(0, 256, (50, 2, 3, 3)).astype(np.uint8)
    np.savez(tmp_path / "mine.npz", x=x, y=np.arange(50) % 3)
    description = {"name": "table", "file": str(tmp_path / "mine.npz")}
    inputs = registry.build("inputs", description | {"shape": [2, 3, 3]}, dimension=18)
    points = inputs.of_rows(np.arange(50)[None])[0].reshape(50, 2, 9).astype(float)
    np.testing.assert_allclose(points.mean(axis=(0, 2)), 0, atol=1e-5)
    np.testing.assert_allclose(points.std(axis=(0, 2)), 1, atol=1e-5)
    assert inputs.shape == (2, 3, 3)


def test_another_content_than_the_study_states_is_one_line(tmp_path):
    first = table(tmp_path, numbers(20))
    stated = registry.implementation("inputs", "table").completed(first)["sha256"]
    changed = table(tmp_path, numbers(20, seed=1), sha256=stated)
    (found,) = changed.missing_inputs()
    assert found[0] == "file" and stated in found[2] and "SHA-256" in found[1]
    with pytest.raises(UnreadableTable, match="found other content") as error:
        changed.sample(STREAMS, "training", 0, 3)
    assert "\n" not in str(error.value)


def test_fewer_rows_than_a_split_needs_are_said(tmp_path):
    (found,) = table(tmp_path, numbers(3)).missing_inputs()
    assert "3 rows" in found[1]


def test_columns_of_one_value_are_noted_and_are_zero(tmp_path):
    inputs = table(tmp_path, [(i, 7.1, i % 3) for i in range(20)])
    (note,) = inputs.warnings(inputs)
    assert note[0] == "columns" and "rows of b" in note[1]
    assert not inputs.of_rows(np.arange(20)[None])[0, :, 1].any()


@pytest.mark.parametrize("name", ["digits", "cifar", "table"])
def test_a_job_keeps_numbers_of_rows_and_gives_back_the_same_points(tmp_path, monkeypatch, name):
    described, dimension, teacher = {"name": name}, 64, {"name": "picture_class"}
    if name == "cifar":
        small_cifar.write(tmp_path, monkeypatch)
        described, dimension = described | {"folder": str(tmp_path)}, 48
    if name == "table":
        described |= {"file": table(tmp_path, numbers(60)).file}
        dimension, teacher = 2, {"name": "labels", "classes": 0}
    content = {"scale": "paper", "label_noise": 0, "dimension": dimension, "input": described, "teacher": teacher}
    counts = {"training": 9, "validation": 5, "test": 6, "unlabelled": 7}
    point = {"problem": content, "seeds": [3, 5], "counts": counts}
    group = problems.draw(point)
    assert not any(key.endswith("_x") for key in group)
    problem, loaded = problems.problem_of(point), problems.load(point, group)
    for role in counts:
        assert group[f"{role}_rows"].values.dtype.kind == "i"
        drawn = problem.unlabelled(7) if role == "unlabelled" else problem.draw(role, counts[role]).x
        assert np.array_equal(loaded.pools[role].x, drawn)
