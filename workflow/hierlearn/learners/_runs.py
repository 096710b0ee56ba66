"""Runs of a stochastic training: to the end or from a checkpoint, with looks on the way."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from hierlearn.core.problem import Problem
from hierlearn.core.protocols import STATUS, Features, Monitor, State
from hierlearn.learners._selection import error
from hierlearn.learners.networks.batches import FRESH_POINTS, Batches
from hierlearn.solvers.training import Training

BLOCK_ROWS = 512
STEPS_BETWEEN_SIGNS = 50


class Runs(ABC):
    """Some settings of some seeds, which one training moves in lockstep.

    training: of solvers; batches: its points; looks: the steps at which it is looked at, the last of all among them;
    trace: what was seen there by name, an array over runs for every look.
    """

    learner: Any
    problem: Problem
    features: Features
    samples: int
    batches: Batches
    training: Training
    looks: list[int]

    def train(self, monitor: Monitor, key: str) -> None:
        """To the end, from where an earlier run of this job was stopped."""
        training, total = self.training, self.looks[-1]
        self.trace: dict[str, list[np.ndarray]] = {}
        kept = monitor.restore(key)
        if kept is not None:
            self.restore(kept)
        while training.done < total:
            look = next(step for step in self.looks if step > training.done)
            training.advance(self.points_at, min(look, training.done + STEPS_BETWEEN_SIGNS))
            if training.done == look:
                for name, values in self.looked().items():
                    self.trace.setdefault(name, []).append(values)
            monitor.advance(training.done, total)
            monitor.save(key, self.state, final=training.done == total)

    @abstractmethod
    def looked(self) -> dict[str, np.ndarray]:
        """What a trace tells of the present step, an array over runs by name."""

    def points_at(self, step: int) -> tuple[np.ndarray, np.ndarray]:
        """Points and labels of a step."""
        return self.batches.at(step)

    def state(self) -> State:
        """All that a later `restore` needs to go on to the same bits."""
        return self.training.state() | {f"trace_{name}": np.stack(values) for name, values in self.trace.items()}

    def restore(self, arrays: State) -> None:
        """Go back to a `state`."""
        self.training.restore(arrays)
        names = [name.removeprefix("trace_") for name in arrays if name.startswith("trace_")]
        self.trace = {name: list(arrays[f"trace_{name}"]) for name in names}

    def traced(self, run: Any) -> dict[str, np.ndarray]:
        """The trace of one run by its position, with the steps."""
        seen = {name: np.stack(values)[(slice(None), *np.atleast_1d(run))] for name, values in self.trace.items()}
        return {"step": np.array(self.looks)} | seen

    def train_risk(self, seed: int, state: State) -> float:
        """Error of one run on all training points; on the first of them where they were fresh."""
        count = min(self.samples, FRESH_POINTS) if self.learner.online else self.samples
        batched = {name: values[None] for name, values in state.items()}
        with np.errstate(over="ignore", invalid="ignore"):
            outputs = self.learner.predict(batched, self.features.take([seed]), "training", count, {})
        labels = self.problem.take([seed]).draw("training", count).labels
        return float(error(outputs, labels, self.problem.teacher.kind)[0])

    def kept(self, seed: int, run: Any, state: State, risk: float, sound: bool, settings: int) -> dict[str, Any]:
        """What a seed keeps of the run that is chosen: its `state`, `trace` and `scalars`.

        risk: its error on validation points; sound: whether weights and errors are finite; settings: how many were
        trained for it.
        """
        train_risk = self.train_risk(seed, state)
        scalars = {
            "status": STATUS["ok" if sound and np.isfinite(train_risk) else "diverged"],
            "validation_risk": risk,
            "train_risk": train_risk,
            # Matrix products: one forward and two back for every matrix and step.
            "flops": 6.0 * self.batches.size * self.entries() * self.looks[-1] * settings,
        }
        return {"state": state, "trace": self.traced(run), "scalars": scalars}

    @abstractmethod
    def entries(self) -> int:
        """Entries of all matrices of a run."""
