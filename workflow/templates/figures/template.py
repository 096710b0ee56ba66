"""Test risk of all learners at the largest sample, by seed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from hierlearn.core.parameters import Positive
from hierlearn.core.protocols import Figure
from hierlearn.pipeline.figures._style import blank


@dataclass(frozen=True, kw_only=True)
class Template(Figure):
    """A row of points for each learner: the risk of every seed and place at the largest n that it was trained at."""

    height: Annotated[Positive, "Height of the figure in inches."] = 4.0

    def draw(self, cube: Any, probes: Mapping[str, Any], study: Mapping[str, Any], traces: Any = None) -> Any:
        """Return a figure. cube: scores.nc of the study; probes by name; study: labels of the learners, title."""
        figure = blank(6, self.height)
        panel = figure.subplots()
        for place, name in enumerate(cube.learner.values):
            risk = cube.test_risk.sel(learner=name).transpose("samples", ...).values
            # The last sample size at which anything was measured.
            sizes = np.flatnonzero(np.isfinite(risk.reshape(len(risk), -1)).any(axis=1))
            values = risk[sizes[-1]].ravel() if len(sizes) else np.array([])
            panel.plot(values, np.full(len(values), place), marker="o", ls="none", label=study["labels"][str(name)])
        # No point lies on an axis of logarithms without a positive number.
        if (cube.test_risk > 0).any():
            panel.set_xscale("log")
        else:
            panel.text(0.5, 0.5, "no risk was measured", ha="center", transform=panel.transAxes)
        panel.set(xlabel="test risk", title=study["title"])
        panel.set_yticks(range(len(cube.learner)), [study["labels"][str(name)] for name in cube.learner.values])
        return figure
