"""`hierlearn`: run the workflow, ask what it found, add components and studies of your own."""

import argparse
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

from hierlearn.core import process
from hierlearn.pipeline.command import arguments
from hierlearn.pipeline.command.arguments import Once, Parser
from hierlearn.pipeline.run import places, systems

PRESETS = ("smoke", "quick", "standard", "full", "paper")
PURPOSE = "run the workflow, ask what it found, add components and studies of your own."
EXAMPLES = """\
examples:
  hierlearn run                              every study, small: about ten minutes on two cores
  hierlearn run chen2020                     the studies of one paper
  hierlearn run bai2020-xor --set order=3    one study with another value
  hierlearn plan --preset standard           what the larger sizes cost, before you start them
  hierlearn ask ridge_polynomial degree=2 --learners ntk linear --dimension 4 6 8
  hierlearn compare mine.csv --target price --learners ntk quad-neural ridge
  hierlearn new learner mine --folder ../mine

`hierlearn COMMAND --help` explains one command. Everything runs in the present folder; results go to ./results.
"""


def parser() -> Parser:
    """Return the parser of the whole command line."""
    whole = Parser(prog="hierlearn", description=PURPOSE, epilog=EXAMPLES, formatter_class=_Layout)
    whole.add_argument("--version", action="version", version=version("hierlearn"))
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", dest="command", parser_class=Parser)

    def command(name: str, help_: str, do: Callable[[argparse.Namespace], object], *parents: Parser) -> Parser:
        described = f"{help_[:1].upper()}{help_[1:]}."
        added = commands.add_parser(name, help=help_, description=described, parents=parents, formatter_class=_Layout)
        added.set_defaults(do=do)
        return added

    where, which, how = _settings(), _studies(), _cores()
    _changes(command("run", "run studies, or all of them, and write the page", _starts("run"), which, where, how))
    _question(command("ask", "compare learners on a target, without a study file", _starts("ask"), where, how))
    _comparison(command("compare", "compare learners on a table of your own: csv, npz or idx", _compare))
    command("plan", "list what a run would cost: core-hours, memory, the longest job", _answer, which, where)
    command("tally", "count the rows of a finished run by verdict", _answer, which, where)
    command("register", "write down the designs that are to be judged, before they are run", _answer, which, where)
    command("record", "keep the verdicts of registered designs", _answer, which, where)
    judge = command("judge", "judge rows again from what they were judged from, without a run", _judge)
    judge.add_argument(
        "files", nargs="+", type=arguments.path, metavar="FILE", help="judged.nc of a study, or the study's folder"
    )
    command("publish", "store rows and figures of a finished run in docs/ledger", _answer, which, where)
    command("contact-sheet", "draw all figures on one sheet, light and dark", _starts("contact_sheet"), where, how)
    new = command("new", "begin a component or a study of your own, from a template that works", _new)
    new.add_argument("kind", help="teacher, input, representation, kernel, learner, …, or study")
    new.add_argument("name")
    folder: dict[str, Any] = {"action": Once, "required": True, "type": arguments.text}
    new.add_argument("--folder", **folder, help="your own folder, outside the project")
    new.add_argument(
        "--from",
        action=Once,
        type=arguments.text,
        dest="source",
        metavar="STUDY",
        help="the study that a new study begins as; or table, or a file of data",
    )
    check = command("check", "say what a component or a study of your own lacks", _check)
    check.add_argument("name", type=arguments.text)
    check.add_argument("--folder", **folder, help="your own folder, outside the project")
    convert = command("convert", "rewrite study files of an older form, yours too, with their comments", _convert)
    convert.add_argument(
        "files", nargs="+", type=arguments.path, metavar="FILE", help="study files, or folders with studies"
    )
    export = command("export", "write rows of a finished run as LaTeX or BibTeX", _export, which, where)
    export.add_argument("--rows", nargs="+", action="extend", type=arguments.text, help="names of rows: C1-p4")
    forms = arguments.one_of(("latex", "bibtex"))
    export.add_argument("--format", action=Once, type=forms, default="latex", help="latex, a table, or bibtex")
    export.add_argument("--out", action=Once, type=arguments.text, metavar="FILE", help="file to write: the terminal")
    figure = command("figure", "draw one panel of a figure in a journal's column width", _figure, where)
    figure.add_argument("study", type=arguments.text)
    figure.add_argument("--panel", action=Once, required=True, type=arguments.text, help="its letter: b")
    widths = "single (89 mm), double (183 mm) or millimetres"
    figure.add_argument("--width", action=Once, type=arguments.text, default="single", help=widths)
    figure.add_argument("--out", action=Once, type=arguments.text, metavar="FILE", help="pdf, svg or png: STUDY-b.pdf")
    whole.commands = commands.choices
    return whole


def _changes(run: Parser) -> None:
    """Give `run` the option that changes a study."""
    changed = "other values of one study: degree=3, dimension=6,8,10; claims about other values are set aside"
    run.add_argument("--set", action="extend", nargs="+", metavar="KEY=VALUE", help=changed)


def _question(ask: Parser) -> None:
    """Give `ask` its arguments."""
    ask.add_argument(
        "teacher",
        nargs="?",
        help="the target, by the name of its component: ridge_polynomial, parity, …; not of a table",
    )
    ask.add_argument("parameters", nargs="*", metavar="KEY=VALUE", help="parameters of the teacher, such as degree=2")
    several: dict[str, Any] = {"nargs": "+", "required": True, "action": "extend"}
    ask.add_argument(
        "--learners", **several, type=arguments.text, help="names of learners or kernels, or '{name: taylor, order: 2}'"
    )
    ask.add_argument(
        "--dimension",
        **several | {"required": False},
        type=arguments.whole,
        metavar="D",
        help="dimensions of the input; a table has its own",
    )
    ask.add_argument(
        "--input",
        action=Once,
        nargs="+",
        type=arguments.text,
        metavar="NAME",
        help="the law of x and its parameters: sphere; or table file=prices.csv target=price",
    )
    ask.add_argument("--seeds", action=Once, type=arguments.whole, help="independent repetitions (5)")
    ask.add_argument("--threshold", action=Once, type=arguments.number, help="the risk at which samples are counted")
    ask.add_argument("--cap", action=Once, type=arguments.whole, help="the largest number of samples (2000)")


def _comparison(compare: Parser) -> None:
    """Give `compare` its arguments."""
    compare.add_argument("file", type=arguments.text, help="csv, npz or idx file, packed by gzip or not")
    compare.add_argument("--target", action=Once, type=arguments.text, help="column of the labels: the last one")
    several: dict[str, Any] = {"nargs": "+", "action": "extend", "type": arguments.text}
    compare.add_argument("--columns", **several, metavar="NAME", help="columns to learn from: all others")
    compare.add_argument(
        "--learners",
        **several,
        metavar="WORD",
        help="ntk, quad-neural, quad, ridge, logistic, rbf, forest, boosting, mlp: ntk quad-neural ridge",
    )
    kinds = arguments.one_of(("auto", "classes", "regression"))
    compare.add_argument("--kind", action=Once, type=kinds, help="what the labels are: classes or regression")
    tested = "share of the rows to test on, or file: those of mine.test.csv beside mine.csv (0.25)"
    compare.add_argument("--test", action=Once, type=arguments.text, metavar="SHARE", help=tested)
    sizes: dict[str, Any] = {"nargs": "+", "action": "extend", "type": arguments.whole}
    compare.add_argument("--sizes", **sizes, metavar="N", help="training rows: halves of the largest, at most 4096")
    compare.add_argument("--splits", action=Once, type=arguments.whole, help="random splits (5)")
    compare.add_argument("--error", action=Once, type=arguments.number, help="the error for which rows are counted")
    compare.add_argument("--seed", action=Once, type=arguments.whole, help="seed of splits and learners (0)")
    study = "write the study that does the same on a cluster into a folder of your own, and run nothing"
    compare.add_argument("--workflow", action=Once, type=arguments.text, metavar="FOLDER", help=study)
    out = "csv and figure are written to NAME.csv and NAME.png (FILE-comparison)"
    compare.add_argument("--out", action=Once, type=arguments.text, metavar="NAME", help=out)


class _Layout(argparse.RawDescriptionHelpFormatter):
    """Help with room for the longest command."""

    def __init__(self, prog: str):
        super().__init__(prog, max_help_position=18)


def _studies() -> Parser:
    group = Parser(add_help=False)
    group.add_argument(
        "studies",
        nargs="*",
        type=arguments.text,
        metavar="STUDY",
        help="studies or papers by name; all of them without",
    )
    return group


def _settings() -> Parser:
    group = Parser(add_help=False)
    names = f"{{{','.join(PRESETS)}}}"
    group.add_argument(
        "--preset",
        action=Once,
        type=arguments.one_of(PRESETS),
        metavar=names,
        help="sizes: quick unless config/config.yaml says otherwise",
    )
    group.add_argument(
        "--results", action=Once, type=arguments.text, metavar="FOLDER", help="where results go: results"
    )
    group.add_argument(
        "--own",
        action="extend",
        nargs="+",
        type=arguments.text,
        metavar="FOLDER",
        help="folders with components and studies of your own",
    )
    settings: dict[str, Any] = {"action": "extend", "nargs": "+", "default": [], "metavar": "KEY=VALUE"}
    group.add_argument("--config", **settings, help="other settings; config/README.md explains them")
    return group


def _cores() -> Parser:
    group = Parser(add_help=False)
    group.add_argument("--cores", action=Once, type=arguments.cores, default="all", help="processor cores to use: all")
    group.set_defaults(snakemake=[])
    return group


def _starts(name: str) -> Callable[[argparse.Namespace], object]:
    """Return what starts Snakemake for a command."""

    def start(asked: argparse.Namespace) -> object:
        # Imported where it is used: `compare` does without YAML.
        from hierlearn.pipeline.command import runs

        return vars(runs)[name](asked)

    return start


def _answer(asked: argparse.Namespace) -> int:
    """Answer at once, without a run: the status is 1 where the ledger breaks a promise."""
    # Imported where it is used: help should come at once.
    from hierlearn.core.words import nearest
    from hierlearn.pipeline.command import records, runs

    plan = runs.plan_of(asked, asked.studies)
    if asked.studies:
        by_name = plan.targets.by_name()
        if unknown := [word for word in asked.studies if word not in by_name]:
            raise ValueError(f"{asked.command}: found {unknown[0]!r}; expected {nearest(unknown[0], by_name)}")
        chosen = {study for word in asked.studies for study in by_name[word]}
        plan = replace(plan, studies={name: study for name, study in plan.studies.items() if name in chosen})
    lines, is_broken = records.ANSWERS[asked.command](plan)
    print("\n".join(lines))
    return int(is_broken)


def _new(asked: argparse.Namespace) -> None:
    from hierlearn.pipeline.command import template

    file = template.write(asked.kind, asked.name, Path(asked.folder), asked.source or "")
    print(f"{file.as_posix()}: change it, then hierlearn check {asked.name} --folder {shlex.quote(asked.folder)}")


def _compare(asked: argparse.Namespace) -> None:
    from hierlearn.pipeline.command import comparison

    comparison.compare(asked)


def _judge(asked: argparse.Namespace) -> int:
    """Print what rows come to from the stored files alone; fails where it is not what is stored."""
    from hierlearn.pipeline.command import rejudging

    told, differs = rejudging.lines(asked.files)
    print("\n".join(told))
    return int(differs)


def _figure(asked: argparse.Namespace) -> None:
    from hierlearn.pipeline.command import panel

    panel.draw(asked)


def _export(asked: argparse.Namespace) -> None:
    from hierlearn.pipeline.command import export

    export.write(asked)


def _check(asked: argparse.Namespace) -> int:
    """Ask the contract tests, which need pytest."""
    from hierlearn.pipeline.command import runs

    command = [sys.executable, str(runs.ROOT / "tests" / "check.py"), f"name={asked.name}", f"folder={asked.folder}"]
    return subprocess.run(command, check=False).returncode


def _convert(asked: argparse.Namespace) -> None:
    from hierlearn.pipeline.command import convert, runs

    for line in convert.convert_all(asked.files, runs.ROOT):
        print(line)


def main(words: Sequence[str] | None = None) -> NoReturn:
    """Do what a command line asks for and end the program. words: without the program's name; None: those given."""
    process.replace_letters()
    systems.refuse_windows()
    words = list(sys.argv[1:] if words is None else words)
    # What follows -- is for Snakemake.
    own, more = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    asked = parser().parse_args(own)
    if more and "snakemake" not in vars(asked):
        sys.exit(f"error: {asked.command}: found {' '.join(more)!r} behind --; expected nothing, as it starts no run")
    # Of two such options Snakemake takes the last alone.
    if any(word.partition("=")[0] == "--config" or word.startswith("-C") for word in more):
        sys.exit(
            f"error: {asked.command}: found --config behind --; expected the settings before it: --config KEY=VALUE"
        )
    asked.snakemake = more
    try:
        with places.in_one_line():
            sys.exit(asked.do(asked))
    except ValueError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
