"""A study while it is checked, stage by stage: what it declares, and the faults that were found so far."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hierlearn.core.words import nearest, show, similar
from hierlearn.pipeline.files.errors import Fault, Path, among, value_at
from hierlearn.pipeline.plan.study import Study

# The keys beside a value and around it, for what refers to a `probe` or an `axis`.
Scope = Mapping[str, Any]


@dataclass
class Draft:
    """file: what messages call it; body: its content at a preset; study: what it declares, once its shape is sound."""

    file: str
    body: Mapping[str, Any]
    study: Study | None = None
    faults: list[Fault] = field(default_factory=list)
    _paths: set[Path] = field(default_factory=set)
    _known: dict[Callable, Any] = field(default_factory=dict)

    def add(self, path: Path, found: str, allowed: str) -> None:
        """Note a fault where none is yet, at the path or above it."""
        if not self.is_faulty(*path):
            self.take([Fault(self.file, path, found, allowed)])

    def take(self, faults: Iterable[Fault]) -> None:
        """Note faults that were found elsewhere."""
        for fault in faults:
            self.faults.append(fault)
            self.mark(fault.path)

    def mark(self, path: Path) -> None:
        """Judge nothing more at a path, or below it."""
        self._paths.add(path)

    def is_faulty(self, *path: str | int) -> bool:
        """Whether something is wrong at a path or above it."""
        return bool(self._paths) and any(path[:i] in self._paths for i in range(1, len(path) + 1))

    def is_touched(self, *path: str | int) -> bool:
        """Whether something is wrong at a path, above it or below it."""
        return self.is_faulty(*path) or any(other[: len(path)] == path for other in self._paths)

    def below(self, *path: str | int) -> list[Path]:
        """The rest of every path at or below a path at which something is wrong."""
        return [other[len(path) :] for other in self._paths if other[: len(path)] == path]

    def one_of(self, path: Path, value: Any, known: Iterable[Any]) -> None:
        """Note a value that is none of those known."""
        if not among(value, known):
            self.add(path, show(value), nearest(value, known))

    def unknown(self, path: Path, what: str, known: Iterable[str]) -> None:
        """Note a key that a mapping does not have; the key that was meant, perhaps, is not missing then."""
        known, beside = sorted(known), value_at(self.body, path[:-1]) or {}
        self.add(path, what, nearest(path[-1], known))
        for meant in similar(str(path[-1]), [key for key in known if key not in beside]):
            self.mark((*path[:-1], meant))

    def once(self, answer: Callable[["Draft"], Any]) -> Any:
        """The answer of a function of this draft, which every name of the figure and of the claims asks again."""
        if answer not in self._known:
            self._known[answer] = answer(self)
        return self._known[answer]


class Reference:
    """What a parameter may name."""

    def allowed(self, draft: Draft, scope: Scope) -> list | None:
        """The names or values; None where another name in the scope is at fault."""
        raise NotImplementedError

    def check(self, draft: Draft, at: Path, value: Any, scope: Scope) -> None:
        """Note names that are not allowed, and those that stand twice in a list."""
        known = self.allowed(draft, scope)
        if known is None:
            return
        for i, name in enumerate(value if isinstance(value, list) else [value]):
            place = (*at, i) if isinstance(value, list) else at
            draft.one_of(place, name, known)
            if isinstance(value, list) and name in value[:i]:
                draft.add(place, f"{show(name)} again", "no entry twice")
