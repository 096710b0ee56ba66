"""`hierlearn export`: rows of a finished run as a LaTeX table, and the papers that they are of as BibTeX."""

import re
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hierlearn.core.words import nearest
from hierlearn.pipeline.claims.ledger import COLUMNS, Row, as_text, from_json
from hierlearn.pipeline.claims.verdicts import result
from hierlearn.pipeline.command import runs
from hierlearn.pipeline.files import papers, results, texts

SPECIAL = re.compile(r"[&%#_{}~^\\]")
WRITTEN = {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
MATHEMATICS = re.compile(r"(\$[^$]*\$)")
HEAD = r"""% Needs \usepackage{booktabs}. Brackets are 95 % intervals.
\begin{tabular}{lp{0.5\linewidth}lll}
\toprule
Row & Statement & Measured & Limit & Result \\
\midrule
"""
FOOT = "\\bottomrule\n\\end{tabular}\n"
# Of a rule, or of the side of an ordering: how it compares, and the sign of its slack.
RELATIONS = {
    "upper": (r"\le", "+"),
    "lower": (r"\ge", "-"),
    "two-sided": ("=", r"\pm"),
    "above": (">", "-"),
    "below": ("<", "+"),
    "bound": (r"\le", "+"),
    "published": (r"\approx", r"\times\!/"),
    "descriptive": ("=", r"\pm"),
}


def write(asked: Namespace) -> None:
    """Write the rows that are asked for, or print them. Raises ValueError, one line, for what is not there."""
    plan = runs.plan_of(asked, asked.studies)
    rows = [row for study in plan.studies for row in rows_of(Path(plan.targets.file(study, "claims.json")))]
    if asked.rows:
        names = [row.claim for row in rows]
        if unknown := [name for name in asked.rows if name not in names]:
            raise ValueError(f"--rows: found {unknown[0]!r}; expected {nearest(unknown[0], names)}")
        rows = [row for row in rows if row.claim in asked.rows]
    text = latex(rows) if asked.format == "latex" else bibtex({row.paper for row in rows})
    if asked.out:
        texts.put(Path(asked.out), text)
        print(f"{asked.out}: {len(rows)} rows")
    else:
        print(text, end="")


def rows_of(file: Path) -> list[Row]:
    """Return the rows that a study's job has judged. Raises ValueError, one line, where there are none."""
    if not file.is_file():
        raise ValueError(f"{file.as_posix()}: found no file; expected a finished run: hierlearn run {file.parent.name}")
    return [from_json({name: row[name] for name in COLUMNS}) for row in results.read_claims(file)]


def latex(rows: list[Row]) -> str:
    """Return a table in LaTeX, a line for each row."""
    return HEAD + "".join(f"{' & '.join(_cells(row))} \\\\\n" for row in rows) + FOOT


def _cells(row: Row) -> tuple[str, ...]:
    said = as_text(row)
    interval = f" [{said['low']}, {said['high']}]" if said["low"] and said["high"] else ""
    measured = f"${said['value']}${interval}" if said["value"] else ""
    return _written(row.claim), _written(row.statement), measured, _limit(row, said), result(row.verdict)


def _limit(row: Row, said: Mapping[str, str]) -> str:
    """The predicted value with what the rule allows beyond it."""
    if not said["predicted"]:
        return ""
    relation, sign = RELATIONS[row.side or row.rule]
    slack = f" {sign} {said['slack']}" if row.slack > 0 else ""
    return f"${relation} {said['predicted']}{slack}$"


def _written(text: str) -> str:
    """A text of the page as LaTeX, its mathematics as it is."""
    parts = MATHEMATICS.split(text)
    return "".join(part if i % 2 else SPECIAL.sub(_escaped, part) for i, part in enumerate(parts))


def _escaped(found: re.Match[str]) -> str:
    return WRITTEN.get(found[0], f"\\{found[0]}")


def bibtex(names: set[str]) -> str:
    """Return the entries of papers, in the order of the page."""
    return "".join(_entry(name, paper) for name, paper in papers.known().items() if name in names)


def _entry(name: str, paper: Mapping[str, Any]) -> str:
    fields = {
        "title": f"{{{paper['title']}}}",
        "author": " and ".join(paper["authors"].split(", ")),
        "year": str(paper["year"]),
        "booktitle": paper.get("venue", ""),
        "url": paper.get("link", ""),
    }
    lines = "".join(f"  {key} = {{{value}}},\n" for key, value in fields.items() if value)
    return f"@inproceedings{{{name},\n{lines}}}\n"
