"""List the registered lines whose question has another name now, as it came in the place of the row's first question.

    python docs/records/asked_later.py SCRATCH

SCRATCH is the folder that `rebuild_designs.py` filled. Writes `asked_later.csv` beside this file: the row that asks the
question today, the row that had it, and the fields in which it differs from the first question. These lines, and what
verdicts.csv found of their digests, are the history of the row that asks it today.
"""

import csv
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "workflow"))

from first_questions import rebuilt  # noqa: E402

from hierlearn.pipeline.claims import question_forms  # noqa: E402
from hierlearn.pipeline.claims.question_forms import Question  # noqa: E402
from hierlearn.pipeline.command import first_questions  # noqa: E402
from hierlearn.pipeline.plan import checking, registration  # noqa: E402

COLUMNS = ("row", "was", "study", "preset", "revision", "digest", "fields")
# Labels that a question has under another name.
LABELS = ("rank",)


def today(study: str, preset: str) -> list[tuple[str, str, Question]]:
    """The claims of a study that are asked after another: name, the other's name, form."""
    loaded = checking.load_study(ROOT / "config" / "studies" / f"{study}.yaml", preset)
    designs = registration.designs(loaded)
    return [
        (name, claim.asked_after, question_forms.question(designs[name]))
        for name, claim in loaded.claims.items()
        if claim.asked_after
    ]


def main() -> None:
    records = first_questions.read(HERE / "first_questions.json")
    asked: dict[tuple[str, str], list[tuple[str, str, Question]]] = {}
    rows = []
    for _, line, design in rebuilt(Path(sys.argv[1])):
        if design is None or line["claim"] not in records:
            continue
        form = question_forms.question(design)
        fields = [field for field, *_ in question_forms.changes(records[line["claim"]]["question"], form)]
        if not fields:
            continue
        place = line["study"], line["preset"]
        if place not in asked:
            asked[place] = today(*place)
        names = [name for name, was, now in asked[place] if was == line["claim"] and is_same(form, now)]
        if names:
            told = [line[column] for column in ("claim", "study", "preset", "revision", "digest")]
            rows.append([names[0], *told, " ".join(fields)])
    with open(HERE / "asked_later.csv", "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n").writerows([COLUMNS, *rows])
    print(f"{len(rows)} lines of {len({row[0] for row in rows})} questions that were asked later")


def is_same(form: Question, now: Question) -> bool:
    """Whether two forms differ in labels alone."""
    return all(field in LABELS for field, *_ in question_forms.changes(form, now))


if __name__ == "__main__":
    main()
