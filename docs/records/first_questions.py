"""Condense the rebuilt designs to the first registered form of every question.

    python docs/records/first_questions.py SCRATCH

Reads what `rebuild_designs.py SCRATCH` left and writes `first_questions.json` and `not_rebuilt.csv` beside this file.
The first form of a question is the first one registered at `standard`, else at `quick`, that the commit's own code
reproduced.
"""

import csv
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "workflow"))

from rebuild_designs import registering_commits  # noqa: E402

from hierlearn.pipeline.claims import question_forms  # noqa: E402
from hierlearn.pipeline.command import first_questions  # noqa: E402

PRESETS = ("standard", "quick")
COLUMNS = ("claim", "study", "preset", "revision", "digest", "draw")


def rebuilt(scratch: Path) -> Iterator[tuple[dict, dict[str, str], dict | None]]:
    """Every commit with each line that it added and the design of that line, None where its code has another digest."""
    for commit in registering_commits():
        content = json.loads(gzip.decompress((scratch / f"{commit}.json.gz").read_bytes()))
        for line in content["lines"]:
            designs = content["designs"][f"{line['study']}/{line['preset']}"].get("designs", {})
            design = designs.get(line["claim"])
            yield content, line, design if design and design["digest"] == line["digest"] else None


def main() -> None:
    found: dict[tuple[str, str], dict] = {}
    missing, count = [], 0
    for commit, line, design in rebuilt(Path(sys.argv[1])):
        count += 1
        if design is None:
            missing.append([line[column] for column in COLUMNS] + [commit["commit"]])
        elif (line["claim"], line["preset"]) not in found:
            found[line["claim"], line["preset"]] = entry(commit, line, design)
    claims = sorted({claim for claim, _ in found})
    first = {claim: next(found[claim, preset] for preset in PRESETS if (claim, preset) in found) for claim in claims}
    first_questions.write(HERE / "first_questions.json", first)
    with open(HERE / "not_rebuilt.csv", "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n").writerows([[*COLUMNS, "commit"], *missing])
    print(f"{count - len(missing)} of {count} lines rebuilt; first forms of {len(first)} questions")


def entry(commit: dict, line: dict[str, str], design: dict) -> dict:
    """What the record says of a question: where and when it was first registered, its words and its fields."""
    return {
        **{key: line[key] for key in ("study", "preset", "revision", "digest", "draw")},
        "commit": commit["commit"][:10],
        "date": commit["date"],
        "seeds": len(design["seeds"]),
        "words": question_forms.words(design),
        "question": question_forms.question(design),
    }


if __name__ == "__main__":
    main()
