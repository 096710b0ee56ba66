"""CIFAR from small archives in the real format: what is read, and what is said of files that are not right."""

import re
from pathlib import Path

import numpy as np
import pytest
import small_cifar

from hierlearn.core.problem import pose
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.inputs import _cifar as cifar
from hierlearn.inputs import _pickles as pickles
from hierlearn.pipeline.files.checksums import UnreadableFile
from hierlearn.pipeline.files.problems import essential
from hierlearn.pipeline.plan.component_guards import missing_inputs

STREAMS = Streams(("a test",), (4, 7), 1)


def inputs(folder, number=10, side=32):
    return build("inputs", {"name": "cifar", "classes": number, "folder": str(folder)}, dimension=3 * side**2)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("number", [10, 100])
def test_pictures_and_classes_are_those_of_the_archive(tmp_path, monkeypatch, number, packed):
    pictures, classes = small_cifar.write(tmp_path, monkeypatch, number, side=32, rows=20, packed=packed)
    found = cifar.cifar(str(tmp_path), number)
    assert np.array_equal(found[0], pictures)
    assert np.array_equal(found[1], classes)
    law = inputs(tmp_path, number)
    assert not list(law.validate(law))
    training = pictures[:-20].astype(float)
    mean, deviation = training.mean(axis=(0, 2, 3)), training.std(axis=(0, 2, 3))
    standard = (pictures - mean[:, None, None]) / deviation[:, None, None]
    np.testing.assert_allclose(law.library()[0], standard, atol=1e-5)


def test_the_levels_of_the_pictures_are_counted_once(tmp_path, monkeypatch):
    small_cifar.write(tmp_path, monkeypatch)
    law, counted, bincount = inputs(tmp_path, side=4), [], np.bincount
    monkeypatch.setattr(np, "bincount", lambda *given, **more: counted.append(given) or bincount(*given, **more))
    law.library()
    for start in (0, 5):
        law.sample(STREAMS, "training", start, 5)
    # Once for each of the three colours.
    assert len(counted) == 3


def test_test_points_are_the_published_ones_with_their_classes_and_roles_share_none(tmp_path, monkeypatch):
    _, classes = small_cifar.write(tmp_path, monkeypatch)
    law = inputs(tmp_path, side=4)
    problem = pose(law, build("teachers", {"name": "picture_class"}), "paper", 0.0, STREAMS)
    library = {picture.tobytes(): i for i, picture in enumerate(law.library()[0])}
    seen = {}
    for role, count in law.supply().items():
        batch = problem.draw(role, count)
        seen[role] = np.array([[library[x.tobytes()] for x in points] for points in batch.x])
        assert np.array_equal(batch.target.argmax(axis=-1), classes[seen[role]])
    assert law.supply() == {"training": 270, "validation": 30, "test": 60}
    assert all(set(own) == set(range(300, 360)) for own in seen["test"])
    for seed in range(2):
        assert sorted([*seen["training"][seed], *seen["validation"][seed]]) == list(range(300))
    assert set(seen["validation"][0]) != set(seen["validation"][1])


def broken(folder, name):
    """Ways in which a file can be wrong, and what is said of it."""
    file = folder / name
    match file.suffix:
        case ".gz":
            content = file.read_bytes()
            yield lambda: file.write_bytes(content[:-7]), rf"{len(content) - 7} bytes; expected {len(content)} bytes"
            yield lambda: file.write_bytes(content[:-1] + b"?"), r"with MD5 \w{32}; expected MD5 \w{32}"
            yield file.unlink, rf"neither .*{name} nor .*cifar-10-batches-py; expected one of them"
        case _:
            yield lambda: file.write_bytes(file.read_bytes()[:-7]), r"with MD5 \w{32}; expected MD5 \w{32}"
            yield file.unlink, rf"no file .*{name}; expected"


@pytest.mark.parametrize("name", ["cifar-10-python.tar.gz", "cifar-10-batches-py/data_batch_3"])
def test_a_file_that_is_missing_or_wrong_is_named_with_how_to_get_it_before_anything_runs(tmp_path, monkeypatch, name):
    small_cifar.write(tmp_path, monkeypatch, packed=name.endswith("gz"))
    law = inputs(tmp_path, side=4)
    for harm, said in broken(tmp_path, name):
        harm()
        cifar.cifar.cache_clear()
        (((parameter,), found, allowed),) = missing_inputs("inputs", {"name": "cifar"} | vars(law))
        assert parameter == "folder"
        with pytest.raises(UnreadableFile, match=said) as caught:
            cifar.cifar(str(tmp_path), 10)
        assert str(caught.value) == f"cifar: found {found}; expected {allowed}"
        assert "\n" not in str(caught.value)
        assert cifar.PAGE in str(caught.value)


@pytest.mark.parametrize("make", [Path.touch, lambda path: path.symlink_to(path.name), lambda path: None])
def test_a_folder_that_is_none_is_named(tmp_path, make):
    make(tmp_path / "data")
    found, allowed = cifar.fault(str(tmp_path / "data"), 10)
    assert found.startswith(f"neither {tmp_path / 'data' / 'cifar-10-python.tar.gz'} nor ") and cifar.PAGE in allowed


def test_a_folder_that_cannot_be_read_is_named_with_the_reason(tmp_path, monkeypatch):
    found, allowed = cifar.fault("x" * 300, 10)
    assert found.endswith(", which cannot be read (file name too long)") and cifar.PAGE in allowed

    def refuse(file):
        raise PermissionError(13, "Permission denied", str(file))

    small_cifar.write(tmp_path, monkeypatch)
    monkeypatch.setattr(cifar, "_md5", refuse)
    assert "which cannot be read (permission denied)" in cifar.fault(str(tmp_path), 10)[0]


def test_a_pickle_that_names_anything_but_arrays_runs_nothing(tmp_path, monkeypatch):
    small_cifar.write(tmp_path, monkeypatch)
    call = b"\x80\x02cos\nsystem\n(U\x04trueitR."
    with pytest.raises(UnreadableFile, match=re.escape("found os.system in a file; expected arrays and lists alone")):
        pickles.loads(call, cifar._known, "bytes")


def test_the_folder_changes_no_number(tmp_path):
    content = {"input": {"name": "cifar"}, "teacher": {"name": "picture_class"}}
    there = content | {"input": {"name": "cifar", "folder": str(tmp_path)}}
    assert essential(there) == essential(content)
