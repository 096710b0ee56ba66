"""Commands that start Snakemake: the workflow of this checkout, in the present folder."""

import json
import os
import re
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from hierlearn.core.provenance import PACKAGE
from hierlearn.core.words import show
from hierlearn.pipeline.files import load

ROOT = PACKAGE.parents[1]
# What Snakemake takes for one.
SETTING = re.compile(r"[A-Za-z_]\w*=")


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
    """Run studies, papers or everything; a study with other values as one of your own."""
    studies = asked.studies
    if asked.set:
        # Imported where it is used: most runs only start Snakemake.
        from hierlearn.pipeline.command import changed_study

        if len(studies) != 1:
            raise ValueError(f"--set: found {len(studies) or 'no'} studies; expected one")
        preset, results = asked.preset or "quick", asked.results or "results"
        file, aside = changed_study.write(studies[0], asked.set, preset, results, asked.own or ())
        print("\n".join(filter(None, [f"{file.as_posix()} is {studies[0]} with {', '.join(asked.set)}", aside])))
        studies, asked.own = [file.stem], [*(asked.own or ()), file.parents[1].as_posix()]
    _become(snakemake(studies, settings(asked), asked.cores, asked.snakemake))


def contact_sheet(asked: Namespace) -> NoReturn:
    """Draw all figures of finished studies on one sheet, light and dark."""
    _become(snakemake(["contact_sheet"], settings(asked), asked.cores, asked.snakemake))


def ask(asked: Namespace) -> NoReturn:
    """Compare learners on a teacher, without a study file."""
    question: dict[str, Any] = {"learners": [value("--learners", learner, learner) for learner in asked.learners]}
    if asked.teacher:
        question["teacher"] = _component(asked.teacher, asked.parameters)
    if asked.dimension:
        question["dimension"] = asked.dimension
    if asked.input:
        question["input"] = _component(*asked.input[:1], asked.input[1:])
    question |= {key: vars(asked)[key] for key in ("seeds", "threshold", "cap") if vars(asked)[key] is not None}
    given = settings(asked, f"question={json.dumps(question)}")
    _become(snakemake([], given, asked.cores, asked.snakemake))


def plan_of(asked: Namespace, studies: Sequence[str]) -> Any:
    """Return the plan of some studies, or papers, with a command's settings; of all studies without any."""
    # Imported where it is used: most commands only start Snakemake.
    from hierlearn.pipeline.plan.configuration import configure

    words = settings(asked)
    given = {key: value(key, word, text) for word in words for key, _, text in [word.partition("=")]}
    return configure(given, Path("config/config.yaml"), ROOT / "config" / "studies", studies or ())


def settings(asked: Namespace, *more: str) -> list[str]:
    """Return the options of a command that are settings, as KEY=VALUE. Raises ValueError, one line.

    more: settings of the command itself.
    """
    if wrong := [word for word in asked.config if not SETTING.match(word)]:
        raise ValueError(f"--config: found {wrong[0]!r}; expected KEY=VALUE")
    options = {"preset": asked.preset, "results": asked.results}
    own = [f"own={json.dumps(asked.own)}"] if asked.own else []
    given = [*(f"{key}={text}" for key, text in options.items() if text is not None), *own, *asked.config, *more]
    names = [word.partition("=")[0] for word in given]
    # Of two, Snakemake takes the last.
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"{asked.command}: found the setting {twice[0]} twice; expected it once")
    return given


def _component(name: str, parameters: Iterable[str]) -> dict[str, Any]:
    """Return the description of a component from its name and KEY=VALUE words. Raises ValueError, one line."""
    described: dict[str, Any] = {"name": name}
    for word in parameters:
        if not SETTING.match(word):
            raise ValueError(f"{name}: found {word!r}; expected parameters as KEY=VALUE")
        key, _, text = word.partition("=")
        if key in described:
            raise ValueError(f"{name}: found {key} again in {word!r}; expected it once")
        described[key] = value(name, word, text)
    return described


def value(field: str, word: str, text: str) -> Any:
    """Return what a text says as YAML. Raises ValueError, one line, that names the field and the word."""
    try:
        return load.value(text)
    except ValueError as error:
        raise ValueError(f"{field}: found {show(word)}; {error}") from error


def _become(command: list[str]) -> NoReturn:
    """Replace this process: signals and the exit status are then Snakemake's own."""
    sys.stdout.flush()
    os.execv(command[0], command)
