"""The labels of a finite set."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from hierlearn.core.parameters import Count, Index
from hierlearn.core.protocols import Input, Objection, State, Teacher
from hierlearn.core.streams import Streams


@dataclass(frozen=True, kw_only=True)
class Labels(Teacher):
    """The label that each row of a finite set has: numbers, or an output of 1 or -1 for each class, one for two.

    Labels belong to rows: of equal rows each keeps its own. Where a target of points alone is asked for, it is the mean
    label of all rows with these values. Numbers have mean 0 over the rows; `scale: unit` divides them by their root
    mean square over the training rows of a seed, so that a risk of 1 is that of the best constant.
    """

    classes: Annotated[Index, "Number of classes, 0 where labels are numbers; that of the input if it is left out."] = (
        10
    )
    columns: Annotated[Count, "Columns of labels that are numbers; those of the input if it is left out."] = 1
    kind = "classes"
    stream_key = "labels"
    LAWS = ("cifar", "digits", "table")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "kind", "classes" if self.classes else "regression")

    def completed(self, inputs: Any = None) -> Mapping[str, Any]:
        """Return what the labels of the input are."""
        return {} if inputs.law not in Labels.LAWS else (_kinds(inputs) or {})

    def validate(self, inputs: Any) -> Iterator[Objection]:
        """Object to other labels than the input has."""
        if self.classes == 1:
            yield "classes", "1", "0 for numbers, or 2 or more"
        found = _kinds(inputs) if inputs.law in Labels.LAWS else None
        for key, value in (found or {}).items():
            if vars(self)[key] != value:
                yield key, f"{vars(self)[key]}", f"the input's {value}"

    @property
    def outputs(self) -> int:
        """One for two classes and for a column of numbers, else one each."""
        return (1 if self.classes == 2 else self.classes) if self.classes else self.columns

    def draw(self, streams: Streams, inputs: Any) -> State:
        """Collect hashes (S, M) uint64, growing, of different rows, their mean targets (S, M, k), and the norm (S,)."""
        self.raise_for(inputs)
        everything = np.arange(sum(inputs.supply().values()))[None]
        hashes = _hashes(inputs.of_rows(everything)[0])
        known, places, counts = np.unique(hashes, return_inverse=True, return_counts=True)
        targets = self.of_rows(inputs, everything)[0]
        sums = [np.bincount(places, column) for column in targets.T]
        means = np.stack(sums, axis=1) / counts[:, None]
        rows = inputs.rows(streams, "training", 0, inputs.supply()["training"])
        squares = np.sum(np.square(targets), axis=1)[rows]
        seeds = len(streams.seeds)
        shared = {
            name: np.repeat(values[None], seeds, axis=0) for name, values in (("hashes", known), ("means", means))
        }
        return shared | {"norm": np.sqrt(np.mean(squares, axis=1))}

    def of_rows(self, inputs: Any, rows: np.ndarray) -> np.ndarray:
        """Return targets of rows: (S, n) -> (S, n, k) float64."""
        labels = inputs.labels()[rows]
        if not self.classes:
            return np.asarray(labels, np.float64)
        if self.classes == 2:
            return np.where(labels[..., None] == 1, 1.0, -1.0)
        return np.where(labels[..., None] == np.arange(self.classes), 1.0, -1.0)

    def target(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return targets: (S, n, *shape) -> (S, n, k) float64; 0 for a point that is no row."""
        found = np.zeros((*x.shape[:2], self.outputs))
        for seed, points in enumerate(x):
            asked, known = _hashes(points.reshape(len(points), -1)), state["hashes"][seed]
            places = np.minimum(np.searchsorted(known, asked), len(known) - 1)
            there = known[places] == asked
            found[seed, there] = state["means"][seed][places[there]]
        return found

    def norm(self, state: State, inputs: Input) -> np.ndarray:
        """Return the root mean square (S,) of the labels over the training rows of a seed."""
        return state["norm"]

    def degrees(self) -> tuple[int, ...]:
        """Return none: they are not known."""
        return ()

    def bases(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return the labels, (S, n, k)."""
        return self.target(state, x)


def _kinds(inputs: Any) -> dict[str, int] | None:
    """Return what the labels of a finite input are; None where its file cannot be read, of which the input tells."""
    try:
        classes = inputs.number_of_classes()
        return {"classes": classes, "columns": 1 if classes else inputs.labels().shape[1]}
    except ValueError:
        return None


def _hashes(points: np.ndarray) -> np.ndarray:
    """(n, d) -> (n,) uint64."""
    digests = (hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in np.ascontiguousarray(points))
    return np.array([int.from_bytes(digest, "little") for digest in digests], np.uint64)
