"""Convolutional networks that are trained together: to the end or from a checkpoint, with looks on the way."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hierlearn.core.protocols import Monitor, TrainingData
from hierlearn.learners._convolutional_networks import pictures
from hierlearn.learners._runs import Lockstep, Setting
from hierlearn.learners._selection import error
from hierlearn.statistics.features import share_explained, share_within

# Points that a trace looks at, and how often it does in a phase.
TRACED_POINTS, LOOKS = 500, 4


class Block(Lockstep):
    """Networks that are trained together: (seed's place, setting) of each; what is seen of them on the way."""

    steps_between_signs = 25

    def __init__(self, training: Any, sample: TrainingData, runs: Sequence[tuple[int, Setting]]) -> None:
        self.training, self.sample, self.runs = training, sample, list(runs)
        starts = [0, *training.ends[:-1]]
        self.looks = sorted(
            {a + (b - a) * (i + 1) // LOOKS for a, b in zip(starts, training.ends, strict=True) for i in range(LOOKS)}
            - {0}
        )

    def train(self, monitor: Monitor, key: str) -> None:
        """To the end, where errors and features are measured."""
        self.monitor = monitor
        super().train(monitor, key)
        held_out = self.sample.data.held_out
        self.errors = {"validation": self._errors("validation", held_out)}
        self.errors["training"] = self._errors("training", self.sample.n)
        self.features = {
            "synonym_variance": self._of_first_layer("level_1", share_within),
            "hidden_bit_decoded": self._of_first_layer("f", lambda found, bits: share_explained(bits, found)),
        }
        # What layers at rest make of the points is asked for no more, and may be larger than all that is.
        self.training.kept = None

    def advance(self, until: int) -> None:
        self.training.advance(until)

    def look(self) -> dict[str, np.ndarray]:
        here = {
            "step": np.full(len(self.runs), self.training.done),
            "layers": np.full(len(self.runs), len(self.training.network.layers)),
            "train_loss": self._errors("training", min(self.sample.n, TRACED_POINTS)),
            "validation_risk": self._errors("validation", min(self.sample.data.held_out, TRACED_POINTS)),
        }
        shown = ", ".join(f"{value:.3f}" for value in here["validation_risk"])
        self.monitor.report(self.training.done, self.training.total, f"step {self.training.done}: error {shown}")
        return here

    def _of_first_layer(self, hidden: str, share: Callable[[np.ndarray, np.ndarray], float]) -> np.ndarray | None:
        """(R,) shares of features (n, c) with what the teacher hides at their places (n,); None where it does not."""
        data, training = self.sample.data, self.training
        if data.oracle is None:
            return None
        count = min(data.held_out, TRACED_POINTS)
        points = data.draw("validation", count).x
        symbols = data.oracle.teacher.hidden(data.oracle.state, points).get(hidden)
        size = training.recipe.network.layers[0].size
        if symbols is None or size != (1, symbols.shape[-1]):
            return None
        x = pictures(self.sample.features.draw("validation", count), training.recipe.network.shape)
        return np.array(
            [
                share(found.reshape(-1, found.shape[-1]), symbols[s].ravel())
                for found, (s, _) in zip(training.first_outputs(x), self.runs, strict=True)
            ]
        )

    def _errors(self, role: str, count: int) -> np.ndarray:
        """(R,) against the labels."""
        data, shape = self.sample.data, self.training.recipe.network.shape
        labels = data.draw(role, count).labels
        outputs = self.training.outputs(pictures(self.sample.features.draw(role, count), shape)).astype(np.float64)
        rows = zip(outputs, self.runs, strict=True)
        return np.array([float(error(found, labels[s], data.kind)) for found, (s, _) in rows])
