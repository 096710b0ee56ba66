"""The page of one study: its figure, what its learners need, and its claims."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hierlearn.pipeline.claims.ledger import COLUMNS, Row, from_json
from hierlearn.pipeline.claims.page import answer
from hierlearn.pipeline.claims.page.index import groups, render, told_of
from hierlearn.pipeline.claims.tally import NO_EVIDENCE, comparison
from hierlearn.pipeline.files import figures


def html(
    found: Sequence[Mapping[str, Any]], cube: Any, figure: str, said: Mapping[str, Any], made: Mapping[str, str]
) -> str:
    """Return the page.

    found: the rows of claims.json; cube: scores.nc as an xarray Dataset, None for a study that trains nothing; figure:
    the study's, of which the page names the size; said: the parameters of the job; made: which code and versions.
    """
    rows = [from_json({name: row[name] for name in COLUMNS}) for row in found]
    judged = [row for row in rows if row.kind != "description"]
    study = told_of(said["study"]["name"], said["study"] | {"figure_size": figures.size(figure)}, rows)
    needed, reached = answer.tables(cube, said["study"])
    return render(
        "study.html",
        ("style.css", "study.css", "script.js"),
        [study],
        {row["claim"]: row["detail"] for row in found},
        said["earlier"],
        stored=said["stored"],
        **{name: said[name] for name in ("preset", "note", "folder", "reading", "citation")},
        made=made,
        bibtex={row.paper: entry for row in rows} if (entry := said["citation"].get("bibtex")) else {},
        apart=(),
        study=study,
        groups=groups(judged),
        # Those of a question are the exponents of its table.
        descriptions=[row for row in rows if row not in judged] if said["citation"] else [],
        needed=needed,
        reached=reached,
        seeds=0 if cube is None else cube.sizes["seed"],
        files=_files(rows, cube),
        compared=comparison(rows, said["compare"]) if said["compare"] else None,
        few=said["preset"] in ("smoke", "quick") and any(row.kind not in NO_EVIDENCE for row in rows),
    )


def _files(rows: Sequence[Row], cube: Any) -> list[str]:
    """The data that lie beside the page."""
    read = {Path(row.data).name for row in rows if row.data}
    return sorted(read | (set() if cube is None else {"scores.nc", "traces.nc"}))
