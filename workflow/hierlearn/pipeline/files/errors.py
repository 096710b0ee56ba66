"""What is wrong with a configuration: one line each, with the place, what was found and what is allowed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

# Keys and indices from the root of a file.
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a configuration. path: where in the file; the line of text where it is no YAML."""

    file: str
    path: Path
    found: str
    allowed: str

    @property
    def field(self) -> str:
        """a.b[2].c"""
        steps = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path)
        return "".join(steps).removeprefix(".")

    def __lt__(self, other: "Fault") -> bool:
        mine, others = ((one.file, one.field, one.found, one.allowed) for one in (self, other))
        return mine < others

    def __str__(self) -> str:
        where = f"{self.file}: {self.field}" if self.path else self.file
        line = f"{where}: found {self.found}; expected {self.allowed}"
        return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in line)


class Note(Fault):
    """What a study may do, but may not mean. found: what is so; allowed: why it may not be meant."""

    def __str__(self) -> str:
        # A question has no key to say it with.
        hint = f"; add `intended: [{self.path[-1]}]` if you mean it" if self.path[0] == "problem" else ""
        return f"{self.file}: {self.field}: {self.found}; {self.allowed}{hint}"


def value_at(content: Any, path: Path) -> Any:
    """What stands at a path, None if nothing does."""
    for part in path:
        known = range(len(content)) if isinstance(content, list) else content if isinstance(content, dict) else ()
        if part not in known:
            return None
        content = content[part]
    return content


def among(value: Any, known: Iterable[Any]) -> bool:
    """Whether a value is one of some others; Python counts True as 1."""
    return any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in known)


def entries(content: Any) -> Iterator[tuple[str, Any]]:
    """(key, part) of all parts of a description, however deep; the key is "" in a list."""
    waiting = [content]
    while waiting:
        below = waiting.pop()
        for key, part in below.items() if isinstance(below, dict) else (("", one) for one in below):
            yield key, part
            if isinstance(part, dict | list):
                waiting.append(part)
