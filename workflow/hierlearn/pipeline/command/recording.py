"""The full lines of verdicts.csv, of what a run judged: the verdict, what it rests on, and its rivals."""

import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hierlearn.core import registry
from hierlearn.pipeline.claims import digests, history, rules
from hierlearn.pipeline.claims.history import Rival
from hierlearn.pipeline.claims.ledger import COLUMNS, as_text, from_json
from hierlearn.pipeline.claims.verdicts import result, scope
from hierlearn.pipeline.files import results
from hierlearn.pipeline.plan import registration
from hierlearn.pipeline.plan.study import Study
from hierlearn.statistics.intervals import LEVEL

# The project's folder.
ROOT = registry.PACKAGE.parents[1]
OVER_SEEDS = ("t over seeds", "t over slopes of seeds")
ENDS = ("value", "low", "high")


@dataclass(frozen=True)
class Judged:
    """A row that was judged. verdict: columns of verdicts.csv as texts; rivals: what was found of its rivals."""

    verdict: Mapping[str, str]
    rivals: tuple[Rival, ...]


def key(verdict: Mapping[str, str]) -> tuple[str, ...]:
    """Return what tells a line of verdicts.csv from others."""
    return tuple(verdict[name] for name in history.COLUMNS[: history.FIRST])


def lines(judged: Iterable[tuple[Study, Path]]) -> list[Judged]:
    """Return every row of some studies. judged: each with its claims.json. Raises ValueError, one line, where a file is
    damaged or of other columns."""
    made_by = commit(ROOT)
    found = []
    for study, file in judged:
        designs = registration.designs(study)
        for row in results.read_claims(file):
            try:
                told = as_text(from_json({name: row[name] for name in COLUMNS}))
            except KeyError as error:
                message = f"{file}: found no column {error.args[0]}; expected a run with this code"
                raise ValueError(message) from error
            # A row of an earlier design is not the study's any more, and says nothing of its question.
            claim = told["claim"]
            design = designs.get(claim) if study.registered.get(claim) == told["digest"] else None
            known = _of_design(design) if design else {}
            found.append(_line(told, row["detail"], known, made_by))
    return found


def _of_design(design: Mapping[str, Any]) -> dict[str, str]:
    """What a design says of its question and of how its interval is made."""
    name = design["claim"]["quantity"]["name"]
    return {
        "quantity": name,
        "method": registry.implementation("quantities", name).METHOD,
        "question": digests.of_question(design),
        "design": digests.of_design(design),
    }


def _line(told: dict[str, str], detail: Mapping[str, Any], known: Mapping[str, str], made_by: str) -> Judged:
    """The line of a row, with its own rival if that was measured, and with every rival that was added beside it."""
    method = known.get("method", "")
    predicted, slack = (float(told[name] or "nan") for name in ("predicted", "slack"))
    verdict = told | known
    verdict |= {
        "level": f"{LEVEL:g}" if _has_interval(told) else "",
        "freedom": freedom(method, int(told["seeds"]), detail.get("dof")),
        "limit": rules.limit(told["rule"], predicted, slack, told["side"] or "above"),
        "result": result(told["verdict"]),
        "scope": scope(told["kind"], told["regime"]),
        "commit": made_by,
    }
    where, rivals = [told[name] for name in history.RIVAL_COLUMNS[:6]], []
    # Other words are of a rival of its own that was not measured.
    if told["control_verdict"] in rules.OUTCOMES:
        own = detail.get("control", {})
        numbers = (told[f"control_{name}"] for name in ENDS)
        of_rival = freedom(method, int(own.get("seeds", 0)), own.get("dof"))
        rivals.append(Rival(*where, told["rival"], "", *numbers, of_rival, told["control_verdict"]))
    for one in detail.get("rivals", ()):
        numbers = ("" if one[name] is None else f"{one[name]:.6g}" for name in ENDS)
        known = freedom(method, one["seeds"], one["dof"]) if one["value"] is not None else ""
        found = one["result"] if one["value"] is not None else history.NOT_MEASURED
        rivals.append(Rival(*where, one["rival"], one["measured_by"] or history.NOTHING, *numbers, known, found))
    return Judged(verdict, tuple(rivals))


def _has_interval(told: Mapping[str, str]) -> bool:
    """Whether a row has an interval; what a bound on cases has is the range over seeds."""
    if not told["low"]:
        return False
    return told["rule"] != "bound" or rules.bounds_a_mean(float(told["value"]), float(told["high"]))


def freedom(method: str, seeds: int, known: float | None = None) -> str:
    """Return the degrees of freedom of an interval in six digits, "" where they are not known. known: of an interval
    about sizes."""
    if known is not None:
        return f"{known:.6g}"
    return f"{seeds - 1}" if method.startswith(OVER_SEEDS) and seeds > 1 else ""


def commit(root: Path) -> str:
    """Return the commit of the project's folder, and whether files differ from it that no command writes; unknown
    without git."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, check=False)
        return done.stdout.decode(errors="replace").strip()

    # What `record` and `publish` wrote a moment ago changes no result.
    written = ("docs/ledger", "README.md", "docs/pictures", history.FILE, f"config/{history.RIVALS}")
    others = git("status", "--porcelain", "--untracked-files=no", "--", ".", *(f":!{name}" for name in written))
    found = git("describe", "--always", "--abbrev=12", "--exclude=*")
    return (found + (" with uncommitted changes" if others else "")) or "unknown"
