"""A study while it is checked: what it declares, the faults that were found so far, and what they leave open."""

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hierlearn.core import registry
from hierlearn.plan.faults import Broken, Fault, Path, nearest, similar, value_at
from hierlearn.plan.study import Study


def remembered(answer: Callable) -> Callable:
    """A function of a draft that every name of the figure and of the claims asks again."""

    @functools.wraps(answer)
    def asked(draft: "Draft", *given):
        if draft.known is None:
            return answer(draft, *given)
        if (answer, given) not in draft.known:
            draft.known[answer, given] = answer(draft, *given)
        return draft.known[answer, given]

    return asked


@dataclass
class Draft:
    """body: the file's content at a preset, as it is written; study: what of it is sound in itself."""

    study: Study
    body: Mapping[str, Any]
    broken: Broken
    faults: list[Fault] = field(default_factory=list)
    # The study without what is broken, once its sections are checked.
    sound: Study | None = None
    # What `remembered` functions have answered since all sections that others name are checked.
    known: dict[tuple, Any] | None = None

    def add(self, path: Path, found: str, allowed: str) -> None:
        """Notes a fault; what lies below its path or refers to it is not judged any more."""
        self.faults.append(Fault(self.study.file, path, found, allowed))
        self.broken.mark(path, value_at(self.body, path))

    def unknown(self, path: Path, what: str, known: Iterable[str], hint: str = "") -> None:
        """Notes a key that a mapping does not have; the key that may have been meant is not judged either."""
        known, beside = sorted(known), value_at(self.body, path[:-1]) or {}
        self.add(path, what, nearest(path[-1], known) + hint)
        for meant in similar(str(path[-1]), [key for key in known if key not in beside]):
            self.broken.mark((*path[:-1], meant))

    def grid(self) -> Study | None:
        """The study without the parts that are broken, of which the sizes are known; None without a sound problem.

        It is nowhere larger than what was meant.
        """
        study, broken = self.study, self.broken
        posed = study.problem.input, study.problem.teacher
        if None in posed or broken.hit("problem", "input") or broken.hit("problem", "teacher"):
            return None
        axes = {
            axis: [value for value in values if value not in [written for _, written in broken.inside("axes", axis)]]
            for axis, values in study.axes.items()
            if self._placed(axis)
        }
        lost = [axis for axis in axes if broken.over("axes", axis) or not axes[axis]]
        if broken.over("axes") or broken.over("axes", "dimension") or lost:
            return None
        representations = {
            name: one
            for name, one in study.representations.items()
            if one and name != "raw" and not broken.hit("representations", name)
        }
        return replace(
            study,
            axes=axes,
            split_jobs_by=[] if broken.hit("split_jobs_by") else study.split_jobs_by,
            representations=representations,
            learners={
                name: one
                for name, one in study.learners.items()
                if one.component
                and not broken.hit("learners", name)
                and one.representation in ("raw", *representations)
            },
            probes={
                name: one for name, one in study.probes.items() if one.component and not broken.hit("probes", name)
            },
        )

    def _placed(self, axis: str) -> bool:
        """Whether an axis sets something, or may have been meant to."""
        study = self.study
        parts = [("inputs", study.problem.input), ("teachers", study.problem.teacher)]
        parts += [("representations", one) for one in study.representations.values()]
        known = {name for kind, one in parts if one for name in registry.parameters(kind, one["name"])}
        return axis in ("dimension", "label_noise") or bool(similar(axis, known))
