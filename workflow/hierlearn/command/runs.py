"""Commands that start Snakemake: the workflow of this checkout, in the present folder."""

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from hierlearn.core.provenance import PACKAGE
from hierlearn.files import load

ROOT = PACKAGE.parents[1]


def snakemake(targets: Sequence[str], settings: Iterable[str], cores: str, more: Sequence[str] = ()) -> list[str]:
    """Return the command line that runs this checkout's workflow in the present folder.

    targets: studies, papers, rules or files; settings: KEY=VALUE; more: options of Snakemake, as they are.
    """
    words = ["--snakefile", str(ROOT / "Snakefile"), "--workflow-profile", str(ROOT / "profiles" / "default")]
    # After --config Snakemake reads every word as a setting, up to the next option.
    given = ["--config", *settings] if settings else []
    # Without -P a file of the folder, such as random.py, would be taken for a library.
    return [sys.executable, "-P", "-m", "snakemake", *targets, *words, *given, "--cores", cores, *more]


def run(asked: Namespace) -> NoReturn:
    """Run studies, papers or everything."""
    _become(snakemake(asked.studies, settings(asked), asked.cores, asked.snakemake))


def contact_sheet(asked: Namespace) -> NoReturn:
    """Draw all figures of finished studies on one sheet, light and dark."""
    _become(snakemake(["contact_sheet"], settings(asked), asked.cores, asked.snakemake))


def ask(asked: Namespace) -> NoReturn:
    """Compare learners on a teacher, without a study file."""
    question: dict[str, Any] = {
        "teacher": _component(asked.teacher, asked.parameters),
        "learners": [value("--learners", learner, learner) for learner in asked.learners],
        "dimension": asked.dimension,
    }
    if asked.input:
        question["input"] = _component(*asked.input[:1], asked.input[1:])
    question |= {key: vars(asked)[key] for key in ("seeds", "threshold", "cap") if vars(asked)[key] is not None}
    _become(snakemake([], [*settings(asked), f"question={json.dumps(question)}"], asked.cores, asked.snakemake))


def settings(asked: Namespace) -> list[str]:
    """Return the options of a command that are settings, as KEY=VALUE. Raises ValueError, one line."""
    if wrong := next((word for word in asked.config if "=" not in word), None):
        raise ValueError(f"--config: found {wrong!r}; expected KEY=VALUE")
    given = {"preset": asked.preset, "results": asked.results}
    own = [f"own={json.dumps(asked.own)}"] if asked.own else []
    return [*(f"{key}={value}" for key, value in given.items() if value), *own, *asked.config]


def _component(name: str, parameters: Iterable[str]) -> dict[str, Any]:
    """Return the description of a component from its name and KEY=VALUE words. Raises ValueError, one line."""
    described: dict[str, Any] = {"name": name}
    for word in parameters:
        key, equals, text = word.partition("=")
        if not equals:
            raise ValueError(f"{name}: found {word!r}; expected parameters as KEY=VALUE")
        described[key] = value(name, word, text)
    return described


def value(field: str, word: str, text: str) -> Any:
    """Return what a text says as YAML. Raises ValueError, one line, that names the field and the word."""
    try:
        return load.value(text)
    except ValueError as error:
        raise ValueError(f"{field}: found {word!r}; {error}") from error


def _become(command: list[str]) -> NoReturn:
    """Replace this process: signals and the exit status are then Snakemake's own."""
    sys.stdout.flush()
    os.execv(command[0], command)
