"""List every question that differs from its first registered form, field by field.

    python docs/records/changed_questions.py

Compares `first_questions.json` with the studies of this tree and writes `changed_questions.csv` beside this file. The
table holds the exceptions that the tests allow, so that a run of this script allows what it finds. Identities that are
checks now stand in `contract-3.csv` and not here.
"""

import csv
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "workflow"))

from hierlearn.pipeline.command import first_questions  # noqa: E402

COLUMNS = ("study", "row", "rank", "field", "first", "now", "preset", "commit", "date")


def main() -> None:
    records, identities = first_questions.read(HERE / "first_questions.json"), first_questions.identities(HERE)
    rows = []
    for claim, field, first, now in first_questions.changed(records, ROOT / "config" / "studies"):
        if (claim, field) in identities:
            continue
        record = records[claim]
        told = (json.dumps(value, ensure_ascii=False) if value is not None else "" for value in (first, now))
        where = record["preset"], record["commit"], record["date"]
        rows.append([record["study"], claim, record["question"]["rank"], field, *told, *where])
    with open(HERE / "changed_questions.csv", "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n").writerows([COLUMNS, *sorted(rows)])
    changed = {row[1]: row[2] for row in rows}
    primary = sum(rank == "primary" for rank in changed.values())
    print(f"{len(changed)} of {len(records)} questions differ from their first form, {primary} of them primary")


if __name__ == "__main__":
    main()
