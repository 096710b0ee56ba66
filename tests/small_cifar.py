"""Small archives in the format of CIFAR's python version, which Python 2 pickled: strings are bytes there."""

import hashlib
import io
import pickletools
import tarfile
from dataclasses import replace

import numpy as np

from hierlearn.inputs import _cifar as cifar
from hierlearn.inputs.cifar import _standards

OP = {one.name: one.code.encode("latin-1") for one in pickletools.opcodes}


def _integer(value):
    return OP["BININT"] + int(value).to_bytes(4, "little", signed=True)


def _string(value):
    return OP["BINSTRING"] + len(value).to_bytes(4, "little") + value


def _tuple(*parts):
    return OP["MARK"] + b"".join(parts) + OP["TUPLE"]


def _array(values):
    name = OP["GLOBAL"] + b"numpy.core.multiarray\n_reconstruct\n"
    empty = name + _tuple(OP["GLOBAL"] + b"numpy\nndarray\n", _tuple(_integer(0)), _string(b"b")) + OP["REDUCE"]
    kind = OP["GLOBAL"] + b"numpy\ndtype\n" + _tuple(_string(b"u1"), _integer(0), _integer(1)) + OP["REDUCE"]
    kind += (
        _tuple(_integer(3), _string(b"|"), OP["NONE"], OP["NONE"], OP["NONE"], _integer(-1), _integer(-1), _integer(0))
        + OP["BUILD"]
    )
    shape = _tuple(*map(_integer, values.shape))
    return empty + _tuple(_integer(1), shape, kind, OP["NEWFALSE"], _string(values.tobytes())) + OP["BUILD"]


def _list(values):
    return OP["EMPTY_LIST"] + OP["MARK"] + b"".join(map(_integer, values)) + OP["APPENDS"]


def batch(pictures, classes, key):
    """What Python 2's pickle made of a batch: pictures (n, c, h, w) uint8 and classes (n,)."""
    entries = _string(b"data") + _array(pictures.reshape(len(pictures), -1)) + _string(key.encode()) + _list(classes)
    return (
        OP["PROTO"]
        + b"\x02"
        + OP["EMPTY_DICT"]
        + OP["MARK"]
        + _string(b"batch_label")
        + _string(b"one of some")
        + entries
        + OP["SETITEMS"]
        + OP["STOP"]
    )


def write(folder, monkeypatch, number=10, side=4, rows=60, packed=True):
    """Puts an archive of random pictures there, whose checksums take the place of the published ones.

    Returns pictures and classes, the training ones first. Pictures are few colours in blocks, as those of things are.
    """
    published, generator = cifar.ARCHIVES[number], np.random.default_rng(number)
    contents, pictures, classes = {}, [], []
    for name in (*published.training, *published.test):
        blocks = generator.integers(0, 256, (rows, 3, 2, 2)).repeat(side // 2, axis=2).repeat(side // 2, axis=3)
        pictures.append(np.clip(blocks + generator.integers(-5, 6, (rows, 3, side, side)), 0, 255).astype(np.uint8))
        classes.append(generator.integers(0, number, rows))
        contents[name] = batch(pictures[-1], classes[-1], published.labels)
    file = folder / published.name
    with tarfile.open(file, "w:gz") as archive:
        for name, content in contents.items():
            entry = tarfile.TarInfo(f"{published.folder}/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    sums = {name: hashlib.md5(content).hexdigest() for name, content in contents.items()}
    small = replace(
        published,
        md5=hashlib.md5(file.read_bytes()).hexdigest(),
        size=file.stat().st_size,
        training={name: sums[name] for name in published.training},
        test={name: sums[name] for name in published.test},
        rows=(rows, rows),
        shape=(3, side, side),
    )
    if not packed:
        (folder / published.folder).mkdir()
        for name, content in contents.items():
            (folder / published.folder / name).write_bytes(content)
        file.unlink()
    monkeypatch.setitem(cifar.ARCHIVES, number, small)
    cifar.cifar.cache_clear()
    _standards.cache_clear()
    return np.concatenate(pictures), np.concatenate(classes)
