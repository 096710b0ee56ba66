"""How the words of a command line are read: one line for each fault, with what is nearest to an unknown word."""

import argparse
import math
import re
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, NoReturn

from hierlearn.core.words import nearest, show


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line. The status is 2, as for every wrong command line."""

    def __init__(self, *given: Any, parents: Sequence["Parser"] = (), **more: Any):
        """Begin with the arguments of other parsers."""
        # Arguments of parents come without add_argument.
        self.options = [name for parent in parents for name in parent.options]
        self.commands: Collection[str] = ()
        super().__init__(*given, parents=parents, allow_abbrev=False, **more)

    def add_argument(self, *names: str, **more: Any) -> argparse.Action:  # type: ignore[override]
        """Add an argument, and remember the names of an option."""
        self.options += [name for name in names if name.startswith("-")]
        return super().add_argument(*names, **more)

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> tuple[Any, list[str]]:  # type: ignore[override]
        """Read all words; end the program where one is unknown, of a command of this parser too."""
        words = list(sys.argv[1:] if args is None else args)
        command = words[0] if words else "nothing"
        if self.commands and command not in self.commands and not command.startswith("-"):
            self.refuse(show(command) if words else command, f"a command, {nearest(command, self.commands)}")
        asked, rest = super().parse_known_args(words, namespace)
        if rest:
            option = rest[0].partition("=")[0]
            if not option.startswith("-"):
                self.refuse(f"{show(rest[0])}, which nothing takes", "names together, before or after all options")
            self.refuse(f"the option {show(option)}", nearest(option, self.options))
        return asked, []

    def refuse(self, found: str, allowed: str) -> NoReturn:
        """End the program with a line that says what was found and what is allowed."""
        print(f"error: {self.prog}: found {found}; expected {allowed}", file=sys.stderr)
        sys.exit(2)

    def error(self, message: str) -> NoReturn:
        """End the program with argparse's words in one line."""
        print(f"error: {message}; `{self.prog} --help` lists what is allowed", file=sys.stderr)
        sys.exit(2)


class Once(argparse.Action):
    """An option that is given at most once: of two, argparse would take the last without a word."""

    def __init__(self, *given: Any, **more: Any):
        super().__init__(*given, **more)
        self.is_given = False

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        """Keep the value, or end the program."""
        if self.is_given:
            raise argparse.ArgumentError(self, "found twice; expected once")
        self.is_given = True
        setattr(namespace, self.dest, values)


def one_of(known: Collection[str]) -> Callable[[str], str]:
    """Return what reads one of some words."""

    def read(word: str) -> str:
        return word if word in known else _refuse(word, nearest(word, known))

    return read


def text(word: str) -> str:
    """Return a word that is a name: not empty, and no option of another program."""
    return word if word.strip() and not word.startswith("-") else _refuse(word, "a name")


def path(word: str) -> Path:
    """Return a path; an empty one would be the present folder."""
    return Path(text(word))


def whole(word: str) -> int:
    """Return a whole number."""
    return int(word) if re.fullmatch(r"[+-]?[0-9]{1,18}", word) else _refuse(word, "a whole number")


def number(word: str) -> float:
    """Return a finite number."""
    try:
        found = float(word)
    except ValueError:
        found = math.nan
    return found if math.isfinite(found) else _refuse(word, "a number")


def cores(word: str) -> str:
    """Return a number of processor cores, or all."""
    return (
        word if word == "all" or re.fullmatch("0*[1-9][0-9]{0,5}", word) else _refuse(word, "all, or a number above 0")
    )


def _refuse(word: str, allowed: str) -> NoReturn:
    raise argparse.ArgumentTypeError(f"found {show(word)}; expected {allowed}")
