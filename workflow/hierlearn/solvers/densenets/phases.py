"""Which layers of a deep network are there and move, and how long a rate has been falling, run by run."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hierlearn.solvers.optimisers import cosine_factor

# How often it is asked whether a layer may start, and over how many steps the running loss looks back: batches of
# heavy-tailed targets say little alone.
STEPS_BETWEEN_QUESTIONS, LOOK_BACK = 10, 100


@dataclass(frozen=True)
class Schedule:
    """When layers 2 .. L of a network start.

    staged: layer 2 alone, then layer 3 too, and so on; all layers that are there move  (allenzhu2020, Algorithm 1).
    joint: all from the first step. layerwise: as staged, but only the newest layer moves. restart: as staged, but layer
    L never comes: the lower ones see the same falling and rising rate, which is the control.
    starts: the steps at which phases 2, 3, ... begin at the latest; thresholds: running losses at or below which they
    begin earlier, or nothing; total: all steps; annealing: cosine (to 0 at the planned end of a phase) or constant.
    """

    kind: str
    depth: int
    starts: tuple[int, ...]
    thresholds: tuple[float, ...]
    total: int
    annealing: str = "cosine"

    @property
    def present(self) -> np.ndarray:
        """Which of the layers 2 .. L are there in each phase, (phases, L - 1) bool."""
        layers = self.depth - 1
        if self.kind == "joint":
            return np.ones((1, layers), dtype=bool)
        there = np.tri(layers, dtype=bool)
        there[1:, -1] &= self.kind != "restart"
        return there


class Clock:
    """Where R runs are in a schedule; plain numpy, asked once a step.

    thresholds (R, phases - 1): of every run; None: those of the schedule.
    """

    def __init__(self, schedule: Schedule, runs: int, thresholds: np.ndarray | None = None) -> None:
        self.schedule, self.table = schedule, schedule.present
        limits = np.tile(schedule.thresholds, (runs, 1)) if thresholds is None and schedule.thresholds else thresholds
        # A run in its last phase waits for nothing.
        self.thresholds = None if limits is None else np.pad(limits, ((0, 0), (0, 1)), constant_values=np.nan)
        self.phase = np.zeros(runs, dtype=np.int64)
        # Step at which each phase began, -1 if it has not.
        self.phase_starts = np.full((runs, len(self.table)), -1, dtype=np.int64)
        self.phase_starts[:, 0] = 0
        self._enter()

    def ask(self, step: int, losses: np.ndarray) -> np.ndarray | None:
        """Return which runs (R,) bool enter their next phase at this step, None if none. losses (R,): running ones."""
        asked = self.thresholds is not None and step > 0 and step % STEPS_BETWEEN_QUESTIONS == 0
        if step < self.next and not asked:
            return None
        last = self.phase == len(self.table) - 1
        entering = ~last & (step >= self.ends)
        if asked:
            entering |= ~last & (losses <= np.take_along_axis(self.thresholds, self.phase[:, None], axis=1)[:, 0])
        if not entering.any():
            return None
        self.phase += entering
        self.phase_starts[entering, self.phase[entering]] = step
        self._enter()
        return entering

    def factors(self, step: int) -> np.ndarray:
        """Return what the rate of each run is multiplied with, (R,)."""
        if self.schedule.annealing == "constant":
            return np.ones(len(self.phase))
        return cosine_factor(step - self.phase_start, self.ends - self.phase_start)

    def layer_starts(self) -> np.ndarray:
        """Return the step (R, L - 1) at which each of the layers 2 .. L came, NaN if it has not."""
        starts = self.phase_starts[:, self.table.argmax(0)]
        return np.where(self.table.any(0) & (starts >= 0), starts, np.nan)

    def state(self) -> dict[str, np.ndarray]:
        return {"phase": self.phase.copy(), "phase_starts": self.phase_starts.copy()}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        self.phase, self.phase_starts = np.array(arrays["phase"]), np.array(arrays["phase_starts"])
        self._enter()

    def _enter(self) -> None:
        schedule = self.schedule
        # Which layers are there and move, (R, L - 1); when the runs' phases began and will end.
        self.present = self.moving = self.table[self.phase]
        if schedule.kind == "layerwise":
            # Of the layers that are there, the last.
            self.moving = self.present & ~np.pad(self.present[:, 1:], ((0, 0), (0, 1)))
        self.phase_start = np.take_along_axis(self.phase_starts, self.phase[:, None], axis=1)[:, 0]
        self.ends = np.array([*schedule.starts[: len(self.table) - 1], schedule.total])[self.phase]
        self.next = int(self.ends.min())
