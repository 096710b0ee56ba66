"""CIFAR-10 and CIFAR-100 from a folder: the archives in their "python version", packed or unpacked, each checked."""

import functools
import hashlib
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hierlearn.core.folders import UnreadableFile
from hierlearn.core.words import reason
from hierlearn.inputs._pickles import loads

PAGE = "https://www.cs.toronto.edu/~kriz/cifar.html"
# All that a pickle of these archives may name.
ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
}


@dataclass(frozen=True)
class Archive:
    """name of the packed file, its MD5 and size in bytes; folder: what it unpacks to; training and test: MD5 by file.

    rows: (training, test) pictures of a file; shape of a picture: (channels, height, width); labels: their key.
    """

    name: str
    md5: str
    size: int
    folder: str
    training: Mapping[str, str]
    test: Mapping[str, str]
    rows: tuple[int, int]
    labels: str
    shape: tuple[int, int, int] = (3, 32, 32)

    @property
    def counts(self) -> tuple[int, int]:
        """Training and test pictures."""
        return len(self.training) * self.rows[0], len(self.test) * self.rows[1]


# By the number of classes.
ARCHIVES = {
    10: Archive(
        "cifar-10-python.tar.gz",
        "c58f30108f718f92721af3b95e74349a",
        170498071,
        "cifar-10-batches-py",
        {
            "data_batch_1": "c99cafc152244af753f735de768cd75f",
            "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
            "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
            "data_batch_4": "634d18415352ddfa80567beed471001a",
            "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
        },
        {"test_batch": "40351d587109b95175f43aff81a1287e"},
        (10000, 10000),
        "labels",
    ),
    100: Archive(
        "cifar-100-python.tar.gz",
        "eb9058c3a382ffc7106e4002c42a8d85",
        169001437,
        "cifar-100-python",
        {"train": "16019d7e3df5f24257cddd939b257f8d"},
        {"test": "f0ef6b0ae62326f3e7ffdfab6717acfc"},
        (50000, 10000),
        "fine_labels",
    ),
}


def fault(folder: str, classes: int) -> tuple[str, str] | None:
    """Return what was found in the place of whole files, and what is expected and where it is; None for nothing."""
    how = f"CIFAR-{classes}, python version, from {PAGE}"
    try:
        return _fault(folder, ARCHIVES[classes], how)
    except OSError as error:
        return f"{error.filename}, which cannot be read ({reason(error)})", f"that of {how}"


def _fault(folder: str, archive: Archive, how: str) -> tuple[str, str] | None:
    unpacked, packed = Path(folder) / archive.folder, Path(folder) / archive.name
    if unpacked.is_dir():
        for name, md5 in {**archive.training, **archive.test}.items():
            if not (unpacked / name).is_file():
                return f"no file {unpacked / name}", f"that of {how}"
            if (found := _md5(unpacked / name)) != md5:
                return f"{unpacked / name} with MD5 {found}", f"MD5 {md5}, that of {how}"
        return None
    if not packed.is_file():
        return f"neither {packed} nor {unpacked}", f"one of them: {how}"
    if (size := packed.stat().st_size) != archive.size:
        return f"{packed} of {size} bytes", f"{archive.size} bytes, those of {how}"
    if (found := _md5(packed)) != archive.md5:
        return f"{packed} with MD5 {found}", f"MD5 {archive.md5}, that of {how}"
    return None


@functools.lru_cache(maxsize=1)
def cifar(folder: str, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Pictures (N, channels, height, width) uint8, the training ones first, and their classes (N,).

    Raises UnreadableFile, one line, for archives that are absent or not those that were published.
    """
    wrong = fault(folder, classes)
    if wrong is not None:
        raise UnreadableFile(f"cifar: found {wrong[0]}; expected {wrong[1]}")
    archive, pictures, labels = ARCHIVES[classes], [], []
    for name, content in _contents(Path(folder), archive).items():
        table = {key.decode(): values for key, values in loads(content, _known, "bytes").items()}
        here, rows = table["data"], archive.rows[name in archive.test]
        if here.shape != (rows, int(np.prod(archive.shape))) or len(table[archive.labels]) != rows:
            found = f"{' x '.join(map(str, here.shape))} numbers and {len(table[archive.labels])} classes"
            raise UnreadableFile(f"cifar: {name}: found {found}; expected {rows} pictures and as many classes")
        pictures.append(here.reshape(rows, *archive.shape))
        labels.append(np.array(table[archive.labels], np.int64))
    return np.concatenate(pictures), np.concatenate(labels)


def _known(module: str, name: str) -> Any:
    if (module, name) not in ALLOWED:
        raise UnreadableFile(f"cifar: found {module}.{name} in a file; expected arrays and lists alone")
    return ALLOWED[module, name]


def _contents(folder: Path, archive: Archive) -> dict[str, bytes]:
    names = [*archive.training, *archive.test]
    if (folder / archive.folder).is_dir():
        return {name: (folder / archive.folder / name).read_bytes() for name in names}
    with tarfile.open(folder / archive.name) as packed:
        members = {name: packed.extractfile(f"{archive.folder}/{name}") for name in names}
        return {name: member.read() for name, member in members.items() if member is not None}


def _md5(file: Path) -> str:
    found = file.stat()
    return _md5_of(file, found.st_size, found.st_mtime_ns)


@functools.cache
def _md5_of(file: Path, size: int, changed: int) -> str:
    """Once for every state of a file."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
