"""Where the files of a table lie, and what is in them: csv, npz and idx, packed by gzip or not."""

import gzip
import hashlib
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hierlearn.core.provenance import BrokenSource
from hierlearn.core.words import reason, show

# Sets that a Debian package puts in a folder, by the word that stands for them.
PACKAGED = {"fashion-mnist": ("dataset-fashion-mnist", Path("/usr/share/datasets/fashion-mnist"))}
# What of `read_table` a message may be about, beside the file itself.
PARAMETERS = ("target", "columns", "shape")
TEXTS = (".csv", ".tsv", ".txt")
FORMATS = "csv, tsv, txt, npz or idx, each packed as gz or not, or a folder with idx files"
# Of points and labels in idx: MNIST, Fashion-MNIST, KMNIST and EMNIST name them so.
TRAINING, TEST, POINTS, LABELS = "train", ("t10k", "test"), "images", "labels"


class UnreadableTable(BrokenSource):
    """A table that cannot be used; the message is one line, `file: found ...; expected ...`.

    As of a broken source file, a plan or a job ends with this line alone.
    """

    @property
    def objection(self) -> tuple[str, str, str]:
        """What the message says as components do: the parameter that is wrong, what was found, what is allowed."""
        place, _, rest = str(self).partition(": found ")
        found, _, allowed = rest.partition("; expected ")
        path, _, parameter = place.rpartition(": ")
        known = parameter in PARAMETERS
        return parameter if known else "file", f"{found} in {path if known else place}", allowed


@dataclass(frozen=True)
class Source:
    """A file with its unpacked content."""

    path: Path
    content: bytes

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the unpacked content, hexadecimal: of an npz file that of its parts, whatever their order."""
        if is_npz(self.path):
            # A damaged archive is told when its arrays are read.
            with suppress(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
                return _sha256_of_archive(self.content)
        return hashlib.sha256(self.content).hexdigest()


def _sha256_of_archive(content: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}
    return hashlib.sha256("".join(f"{parts[name]}  {name}\n" for name in sorted(parts)).encode()).hexdigest()


def sha256_of(sources: list[Source]) -> str:
    """Return one SHA-256 for several files: that of a single one, or of the list of theirs, a line each."""
    if len(sources) == 1:
        return sources[0].sha256
    return hashlib.sha256("".join(f"{source.sha256}\n" for source in sources).encode()).hexdigest()


def read(path: Path) -> Source:
    """Return a file's unpacked content. Raises UnreadableTable for one that is absent, cut or damaged."""
    try:
        content = path.read_bytes()
        return Source(path, gzip.decompress(content) if path.suffix == ".gz" else content)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UnreadableTable(f"{path}: found a damaged or cut gz file ({error}); expected a whole one") from error
    except OSError as error:
        raise UnreadableTable(f"{path}: found no file to read ({reason(error)}); expected {FORMATS}") from error


def paths(file: str | Path, test: bool) -> list[Path]:
    """Return the files of a table: points and, where they lie apart, labels; with `test` those of test points follow.

    Raises UnreadableTable where one of them is not there, or is of no known format.
    """
    path = _place(file)
    if path.is_dir():
        return _idx_files(path, _only(path, _idx_in(path, POINTS, TRAINING), "training pictures"), test)
    name = _unpacked(path)
    if not path.is_file():
        raise UnreadableTable(f"{path}: found no such file or folder; expected {FORMATS}")
    if name.endswith(".npz"):
        return [path]
    if name.endswith(TEXTS):
        return [path, _beside(path)] if test else [path]
    if "idx" in name or name.endswith("ubyte"):
        return _idx_files(path.parent, path, test)
    raise UnreadableTable(f"{path}: found the ending {show(Path(name).suffix)}; expected {FORMATS}")


def is_idx(path: Path) -> bool:
    """Say whether a file that `paths` has found is of idx's format."""
    return not _unpacked(path).endswith((*TEXTS, ".npz"))


def is_npz(path: Path) -> bool:
    """Say whether a file is an archive of arrays."""
    return _unpacked(path).endswith(".npz")


def _place(file: str | Path) -> Path:
    """Where a table lies: a path as it is, or a known word's folder below `data` or where a package puts it."""
    path = Path(file)
    if path.exists() or str(file) not in PACKAGED:
        return path
    package, system = PACKAGED[str(file)]
    found = next((one for one in (Path("data") / path, system) if one.is_dir()), None)
    if found is None:
        where = f"found neither {path}, {Path('data') / path} nor {system}"
        raise UnreadableTable(f"{file}: {where}; expected a folder with idx files, or Debian's package {package}")
    return found


def _unpacked(path: Path) -> str:
    """Return a file's name in small letters, without `.gz`."""
    return path.name.lower().removesuffix(".gz")


def _beside(path: Path) -> Path:
    """Return the file of test points beside one of training points: `mine.test.csv` for `mine.csv`."""
    stem = path.name[: len(_unpacked(path))]
    beside = path.with_name(f"{Path(stem).stem}.test{path.name[len(Path(stem).stem) :]}")
    if not beside.is_file():
        raise UnreadableTable(f"{path}: found no {beside.name} beside it; expected the file's test points there")
    return beside


def _idx_files(folder: Path, points: Path, test: bool) -> list[Path]:
    found = [points, _labels(points)]
    if test:
        of_test = _only(folder, [one for word in TEST for one in _idx_in(folder, POINTS, word)], "test pictures")
        found += [of_test, _labels(of_test)]
    return found


def _idx_in(folder: Path, part: str, word: str) -> list[Path]:
    return sorted(one for one in folder.iterdir() if one.is_file() and {part, "idx", word} <= set(_words(one)))


def _words(path: Path) -> Iterator[str]:
    """Return the words that tell the parts of idx files from each other, as far as a name has them."""
    return (word for word in (POINTS, LABELS, "idx", TRAINING, *TEST) if word in path.name.lower())


def _only(folder: Path, found: list[Path], what: str) -> Path:
    """Return the one file of a kind; a packed one and its unpacked self count once."""
    by_name = {one.name.removesuffix(".gz"): one for one in reversed(found)}
    if len(by_name) != 1:
        names = f"{len(by_name)} files ({', '.join(by_name)})" if by_name else "no idx file"
        raise UnreadableTable(f"{folder}: found {names} of {what}; expected one, such as train-images-idx3-ubyte.gz")
    return next(iter(by_name.values()))


def _labels(points: Path) -> Path:
    """Return the file of the labels of an idx file's points."""
    name = points.name.replace(POINTS, LABELS).replace("idx3", "idx1").replace("idx4", "idx1")
    candidates = [
        points.with_name(name),
        points.with_name(f"{name.removesuffix('.gz')}"),
        points.with_name(f"{name}.gz"),
    ]
    found = next((candidate for candidate in candidates if candidate != points and candidate.is_file()), None)
    if found is None:
        raise UnreadableTable(f"{points}: found no {name} beside it; expected the labels of its points there")
    return found
