"""The loop in which many small networks are trained in lockstep: what all of them share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hierlearn.solvers.optimisers import Gradient, Optimiser

Batches = Callable[[int], tuple[np.ndarray, np.ndarray]]
# A run that diverges is told by its weights, at the end.
without_warnings = np.errstate(over="ignore", invalid="ignore")


class Training(ABC):
    """Runs in lockstep, each with a rate and a decay of its own; a kind of network gives gradients and rates.

    leaves: what the optimiser moves, arrays whose first `axes` axes count runs; weights: the same by name, or views of
    them; decays (runs): weight decay; done: steps made. Every run is what it would be among others; one whose loss is
    not finite has weights that are not, and changes nothing for the rest.
    """

    def __init__(
        self,
        weights: Mapping[str, np.ndarray],
        leaves: Sequence[np.ndarray],
        axes: int,
        optimiser: Optimiser,
        decays: np.ndarray,
    ) -> None:
        self.weights, self.leaves, self.optimiser, self.done = dict(weights), list(leaves), optimiser, 0
        self.memory = optimiser.init(self.leaves, axes)
        self.decays = decays.astype(self.leaves[0].dtype) if (decays > 0).any() else None
        # By leaf, what a step is multiplied with, None for 1.
        self.masks: list[np.ndarray] | None = None

    @without_warnings
    def advance(self, batches: Batches, until: int) -> None:
        """Go on to step `until`. batches(step): points (S, 1, b, .) and labels (S, 1, b, k) of a step."""
        for step in range(self.done, until):
            self.done = step
            self.prepare(step)
            gradients = self.leaf_gradients(step, *batches(step))
            self.optimiser.update(
                self.leaves, gradients, self.memory, self.learning_rates(step), self.decays, self.masks
            )
        self.done = until

    def prepare(self, step: int) -> None:  # noqa: B027 - some networks have nothing to do here
        """Do what happens before a step: phases begin, and the memory is cleared with them."""

    @abstractmethod
    def leaf_gradients(self, step: int, points: np.ndarray, labels: np.ndarray) -> Sequence[Gradient]:
        """Return the gradient of the mean loss over a batch, leaf by leaf."""

    @abstractmethod
    def learning_rates(self, step: int) -> Sequence[np.ndarray]:
        """Return the rates of a step, leaf by leaf, of shapes that broadcast to (runs)."""

    def state(self) -> dict[str, np.ndarray]:
        """Return all that a later `restore` needs to go on to the same bits."""
        found = {name: values.copy() for name, values in self._arrays().items()}
        return found | {"steps": np.array(self.memory.steps), "done": np.array(self.done)}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        for name, values in self._arrays().items():
            values[...] = arrays[name]
        self.memory.steps, self.done = int(arrays["steps"]), int(arrays["done"])

    def _arrays(self) -> dict[str, np.ndarray]:
        return {f"leaf_{i}": values for i, values in enumerate(self.leaves)} | self.memory.arrays()
