"""Targets on Snakemake's command line that are none: `snakemake chen2020-fetures` names the nearest study."""

import sys
from collections.abc import Collection, Iterable
from pathlib import Path

from hierlearn.plan.faults import similar


def refuse_unknown_targets(names: Collection[str]) -> None:
    """Ends the program if the command line of Snakemake has a target that is none; names: of studies, papers, rules."""
    if Path(sys.argv[0]).name != "snakemake" and Path(sys.argv[0]).parent.name != "snakemake":
        return
    # Snakemake itself knows its targets only once all files are read; it has taken these words already.
    from snakemake.cli import get_argument_parser

    given, _ = get_argument_parser().parse_known_args(sys.argv[1:])
    if lines := unknown_targets(given.targets or (), names):
        sys.exit("\n".join(lines))


def unknown_targets(asked: Iterable[str], names: Collection[str]) -> list[str]:
    """One line for every word among the targets that is no name of a study, a paper or a rule; files have a slash."""
    lines = []
    for word in sorted(asked):
        if "/" not in word and word not in names:
            close = similar(word, names)
            hint = f" (nearest: {close[0]})" if close else ""
            allowed = f"a study of this run, a paper, a rule or a file of results{hint}"
            lines.append(f"error: target {word!r}: found no study of this name; expected {allowed}")
    return lines
