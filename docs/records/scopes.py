"""Compare the scopes that claims declared with those that are computed, and write `scopes.csv`.

    python docs/records/scopes.py COMMIT

COMMIT is the last one whose study files declare scopes (`regime`, and `beyond` with every broken hypothesis). Listed is
every claim, at `standard` or else at `quick`, whose scope or whose broken hypotheses are said otherwise now.
"""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PRESETS = ("quick", "standard")
COLUMNS = ("row", "study", "place", "kind", "preset", "declared", "declared_says", "computed", "computed_says")
# Run by the code of the commit.
THEN = """
import json, sys
from pathlib import Path
from hierlearn.pipeline.plan import checking
found = {}
for preset in ("quick", "standard"):
    for file in sorted(Path("config/studies").glob("*.yaml")):
        for name, one in checking.load_study(file, preset).claims.items():
            found[name] = [one.regime or "", one.beyond or ""]
json.dump(found, sys.stdout)
"""


def declared(commit: str) -> dict[str, list[str]]:
    """Regime and broken hypotheses of every claim at a commit, in the words of its study."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        code = f"import sys; sys.path.insert(0, {str(Path(folder, 'workflow'))!r})\n{THEN}"
        done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    before = declared(sys.argv[1])
    sys.path.insert(0, str(ROOT / "workflow"))
    from hierlearn.pipeline.claims.verdicts import scope
    from hierlearn.pipeline.plan import checking, registration

    rows = {}
    for preset in PRESETS:
        for file in sorted((ROOT / "config" / "studies").glob("*.yaml")):
            study = checking.load_study(file, preset)
            for name, found in registration.scopes_of(study).items():
                kind = study.claims[name].kind
                regime, said = before.get(name, ["", ""])
                if name not in before or (regime == "" and kind != "open"):
                    continue
                then, now = scope("open" if kind == "open" else "", regime), scope(kind, found.of_kind(kind))
                told = "; ".join(found.sentences)
                place = study.claims[name].place
                rows[name] = [name, study.name, place, kind, preset, then, said, now, told]
    differing = [row for row in sorted(rows.values()) if row[5:7] != row[7:9]]
    with open(HERE / "scopes.csv", "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n").writerows([COLUMNS, *differing])
    moved = sum(row[5] != row[7] for row in differing)
    print(f"{len(differing)} claims say otherwise what they break, {moved} of them in another scope")


if __name__ == "__main__":
    main()
