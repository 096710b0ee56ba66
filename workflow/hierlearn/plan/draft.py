"""A study while it is checked: what it declares, the faults that were found so far, and what they leave open.

Where a part is broken, what it would have is not known: a name that it may have had is no fault of who refers to it.
"""

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hierlearn.core import registry
from hierlearn.plan.faults import Broken, Fault, Path, among, may_mean, nearest, show, similar, value_at
from hierlearn.plan.sizes import lattice
from hierlearn.plan.study import Study

# At every place the largest number of samples that was trained.
LARGEST = "largest"


@dataclass(frozen=True)
class Values:
    """The values of a coordinate, or names of parts. sure: whether there are no others; written: broken ones; words:
    the only texts that any of them may be, None where any text may."""

    values: list
    sure: bool = True
    written: tuple = ()
    words: tuple[str, ...] | None = None

    def excuses(self, value: Any) -> bool:
        """Whether a value that is not listed may be one of those that are broken."""
        if isinstance(value, str) and self.words is not None and value not in self.words:
            return False
        return not self.sure or any(may_mean(value, one) for one in self.written)

    def several(self) -> bool:
        """Whether a place has to say which of the values it means."""
        return self.sure and len([value for value in self.values if value != LARGEST]) + len(self.written) > 1


@dataclass(frozen=True)
class Axes:
    """Coordinates with their values. sure: whether there are no others; broken: names of those that are broken;
    possible: names that broken parts may have."""

    axes: dict[str, Values]
    sure: bool = True
    broken: tuple[str, ...] = ()
    possible: frozenset[str] = frozenset()

    def excuses(self, name: str) -> bool:
        return not self.sure or name in self.possible or bool(similar(name, self.broken))

    def __or__(self, other: "Axes") -> "Axes":
        possible = self.possible | other.possible
        return Axes(self.axes | other.axes, self.sure and other.sure, self.broken + other.broken, possible)

    def with_samples(self, draft: "Draft", *more: str) -> "Axes":
        sizes = sample_sizes(draft)
        return self | Axes({"samples": replace(sizes, values=[*sizes.values, *more], words=more)})


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
        """Notes a fault where none is yet; what lies below its path or refers to it is not judged any more."""
        if self.broken.over(*path):
            return
        self.faults.append(Fault(self.study.file, path, found, allowed))
        self.broken.mark(path, value_at(self.body, path))

    def one_of(self, path: Path, value: Any, known: Values) -> None:
        """Notes a value that is none of those known, and may be none that is broken."""
        if not among(value, known.values) and not known.excuses(value):
            self.add(path, show(value), nearest(value, known.values))

    def unknown(self, path: Path, what: str, known: Iterable[str]) -> None:
        """Notes a key that a mapping does not have; the key that may have been meant is not judged either."""
        known, beside = sorted(known), value_at(self.body, path[:-1]) or {}
        self.add(path, what, nearest(path[-1], known))
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


def values_at(draft: Draft, at: Path, values: Iterable[Any]) -> Values:
    """The sound values of a list at a path, with those that are broken beside them."""
    written = tuple(value for _, value in draft.broken.inside(*at))
    return Values([value for value in values if value not in written], not draft.broken.over(*at), written)


def names_of(draft: Draft, section: str) -> Values:
    """The names in a section of parts with names."""
    sure = not draft.broken.over(section) and (section,) not in draft.broken.uncertain
    return Values(list(getattr(draft.study, section)), sure)


@remembered
def axes_of(draft: Draft, probe: str | None = None) -> Axes:
    """The axes of the study, or those of a probe's grid."""
    study, broken = draft.study, draft.broken
    found = {axis: values_at(draft, ("axes", axis), values) for axis, values in study.axes.items()}
    wrong = [str(axis) for axis, _ in broken.inside("axes")]
    sure = not broken.over("axes")
    if probe is not None:
        at = ("probes", probe, "axes")
        found |= {axis: values_at(draft, (*at, axis), values) for axis, values in study.probes[probe].axes.items()}
        wrong += [str(axis) for axis, _ in broken.inside(*at)]
        sure = sure and not broken.over(*at)
    return Axes(found, sure, tuple(wrong))


@remembered
def swept_axes(draft: Draft) -> Axes:
    """The swept parameters of all learners, with every value that one of them takes."""
    found: dict[str, Values] = {}
    wrong, possible = [], set()
    for name, entry in draft.study.learners.items():
        at = ("learners", name, "sweep")
        if draft.broken.over(*at):
            possible |= _sweepable(draft, name)
        wrong += [str(axis) for axis, _ in draft.broken.inside(*at)]
        for axis, values in entry.sweep.items():
            one, before = values_at(draft, (*at, axis), values), found.get(axis, Values([]))
            new = [value for value in one.values if value not in before.values]
            written, words = before.written + one.written, _words(entry.component, axis)
            if axis in found:
                words = None if None in (words, before.words) else before.words + words
            found[axis] = Values([*before.values, *new], before.sure and one.sure, written, words)
    for axis in possible & set(found):
        found[axis] = replace(found[axis], sure=False, words=None)
    return Axes(found, names_of(draft, "learners").sure, tuple(wrong), frozenset(possible))


@remembered
def recorded_axes(draft: Draft) -> Axes:
    """The coordinates of the scores beside learners, samples and seeds."""
    return axes_of(draft) | swept_axes(draft)


def _words(learner: Mapping[str, Any] | None, key: str) -> tuple[str, ...] | None:
    """The texts that a parameter or a choice of a learner may be; None where they are not listed."""
    if not learner:
        return None
    known = registry.parameters("learners", learner["name"]) | registry.choices("learners", learner["name"])
    listed = known.get(key, {}).get("enum")
    return None if listed is None else tuple(word for word in listed if isinstance(word, str))


def _sweepable(draft: Draft, name: str) -> set[str]:
    """What a learner could sweep; what any learner could if it is not known which one it is."""
    component = draft.study.learners[name].component
    kinds = [component["name"]] if component else registry.available("learners")
    declared = (registry.parameters, registry.choices)
    return {key for kind in kinds for of in declared for key in of("learners", kind)}


@remembered
def sample_sizes(draft: Draft) -> Values:
    """All sample sizes of all learners, as far as they are known."""
    study, broken = draft.study, draft.broken
    grid, sure = draft.sound, not broken.over("learners")
    found, written = set(), []
    for name, entry in study.learners.items():
        if grid is not None and name in grid.learners:
            found.update(n for point in grid.points for n in grid.sample_sizes(name, point))
            # Sizes at the values of an axis that are broken.
            asked = [size for one in entry.samples.values() for size in (one if isinstance(one, list) else [one])]
            depends = any(isinstance(size, dict) for size in asked)
            sure = sure and not (depends and any(broken.hit("axes", axis) for axis in study.axes))
            continue
        at = ("learners", name, "samples")
        if broken.over(*at):
            # Of a mapping with an unknown key the sizes are still known.
            stands = broken.values.get(at)
            listed = stands.get("at") if isinstance(stands, dict) else None
            known = isinstance(listed, list) and all(map(_is_count, listed))
            found.update(listed if known else ())
            sure = sure and known
        elif isinstance(sizes := entry.samples.get("at"), list):
            written += [value for _, value in broken.inside(*at, "at")]
            found.update(n for i, n in enumerate(sizes) if _is_count(n) and not broken.over(*at, "at", i))
            sure = sure and not broken.over(*at, "at") and not any(isinstance(n, dict) for n in sizes)
        else:
            ends = [entry.samples.get("start", 1 if "near" in entry.samples else None), entry.samples.get("cap")]
            known = all(map(_is_count, ends)) and not broken.hit(*at) and not broken.hit("samples", "per_doubling")
            if known and ends[1] <= 10**12:
                found.update(lattice(*ends, study.samples.per_doubling))
            sure = sure and known
    return Values(sorted(found), sure, tuple(written), words=())


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
