"""Writes rows of a run as a LaTeX table, and the papers that they are of as BibTeX."""

from argparse import Namespace
from pathlib import Path

from hierlearn.core.words import nearest
from hierlearn.pipeline.claims import latex
from hierlearn.pipeline.claims.ledger import COLUMNS, Row, from_json
from hierlearn.pipeline.command import runs
from hierlearn.pipeline.files import papers, results, texts
from hierlearn.pipeline.plan import quantity_labels


def write(asked: Namespace) -> None:
    """Write the rows that are asked for, or print them. Raises ValueError, one line, for what is not there."""
    plan = runs.plan_of(asked, asked.studies)
    rows = [row for study in plan.studies for row in rows_of(Path(plan.targets.file(study, "claims.json")))]
    if asked.rows:
        names = [row.claim for row in rows]
        if unknown := [name for name in asked.rows if name not in names]:
            raise ValueError(f"--rows: found {unknown[0]!r}; expected {nearest(unknown[0], names)}")
        rows = [row for row in rows if row.claim in asked.rows]
    if asked.format == "latex":
        found = [quantity_labels.of_claims(study) for study in plan.studies.values()]
        text = latex.table(rows, {claim: one["unit"] for labels in found for claim, one in labels.items()})
    else:
        text = papers.bibtex({row.paper for row in rows})
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
