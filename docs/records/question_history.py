"""List every change of a question between registered designs, and what the first primary rows were found to be then.

    python docs/records/question_history.py SCRATCH

SCRATCH is the folder that `rebuild_designs.py` filled. Writes `question_history.csv`, a line for every field that a
design at `standard` changed against the design registered before it, and `primary_then.csv`, a line for every primary
row of the first list and of later additions. Both lie beside this file.
"""

import csv
import io
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "workflow"))

import json  # noqa: E402

from first_questions import rebuilt  # noqa: E402
from judged_again import table, verdicts  # noqa: E402
from rebuild_designs import git  # noqa: E402

from hierlearn.pipeline.claims import question_forms  # noqa: E402
from hierlearn.pipeline.claims.verdicts import MARKS  # noqa: E402

PRIMARY = "config/primary_rows.csv"
HISTORY = ("row", "rank", "revision", "commit", "date", "field", "before", "after", "verdict_before")
THEN = ("row", "paper", "added", "then", "outcome", "preset")
# The outcomes of today by the marks of earlier verdicts.
OUTCOMES = {"✓": "holds", "✗": "fails", "○": "no test", "?": "undecided"}


def history(scratch: Path) -> Iterator[list]:
    """The changed fields of every question from one registered design at `standard` to the next."""
    found = {(row["claim"], row["digest"]): row["verdict"] for row in reversed(verdicts())}
    before: dict[str, tuple[str, dict]] = {}
    for commit, line, design in rebuilt(scratch):
        if line["preset"] != "standard" or design is None:
            continue
        claim, form = line["claim"], question_forms.question(design)
        if claim in before:
            digest, earlier = before[claim]
            for field, first, now in question_forms.changes(earlier, form):
                values = ("" if value is None else json.dumps(value, ensure_ascii=False) for value in (first, now))
                where = line["revision"], commit["commit"][:10], commit["date"]
                yield [claim, earlier["rank"], *where, field, *values, found.get((claim, digest), "")]
        before[claim] = line["digest"], form


def primary() -> Iterator[list]:
    """The primary rows of the first list and those added later, each with its first verdict."""
    told = verdicts()
    known: dict[str, list] = {}
    for number, commit in enumerate(git("log", "--reverse", "--format=%H %cs", "--", PRIMARY).decode().splitlines()):
        name, date = commit.split()
        for row in table(git("show", f"{name}:{PRIMARY}").decode()):
            if row.get("rank", "primary") == "primary" or not number:
                known.setdefault(row["claim"], [row["claim"], row["paper"], date if number else ""])
    for claim, row in known.items():
        own = [line for line in told if line["claim"] == claim]
        first = [line for preset in ("standard", "quick") for line in own if line["preset"] == preset]
        then = (
            (first[0]["verdict"], OUTCOMES[MARKS[first[0]["verdict"]]], first[0]["preset"]) if first else ("", "", "")
        )
        yield [*row, *then]


def write(name: str, columns: tuple[str, ...], rows: list[list]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    (HERE / name).write_text(text.getvalue(), encoding="utf-8")


def main() -> None:
    changes, rows = list(history(Path(sys.argv[1]))), list(primary())
    write("question_history.csv", HISTORY, changes)
    write("primary_then.csv", THEN, rows)
    after = {row[0] for row in changes if row[-1]}
    print(f"{len({row[0] for row in changes})} questions changed, {len(after)} of them after a verdict")
    counts = {word: sum(row[4] == word and not row[2] for row in rows) for word in (*OUTCOMES.values(), "")}
    print(f"first list: {counts}; added later: {sum(bool(row[2]) for row in rows)}")


if __name__ == "__main__":
    main()
