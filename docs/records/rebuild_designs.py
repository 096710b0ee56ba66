"""Rebuild every registered design from the history with the code of the commit that registered it.

    python docs/records/rebuild_designs.py SCRATCH

SCRATCH, a folder outside the repository, gets one file per commit that changed `config/registered.csv`. A second start
goes on where the first one stopped. `first_questions.py SCRATCH` condenses these files to the records.
"""

import csv
import gzip
import io
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
REGISTERED = "config/registered.csv"


def git(*words: str) -> bytes:
    return subprocess.run(["git", "-C", str(ROOT), *words], check=True, capture_output=True).stdout


def registering_commits() -> list[str]:
    """The commits that changed the registered lines, the oldest first."""
    return git("log", "--reverse", "--topo-order", "--format=%H", "--", REGISTERED).decode().split()


def lines_at(commit: str) -> list[dict[str, str]]:
    """The registered lines of a commit."""
    return list(csv.DictReader(io.StringIO(git("show", f"{commit}:{REGISTERED}").decode())))


def designs_at(commit: str, wanted: list[tuple[str, str]]) -> dict[str, dict]:
    """What the code of a commit says of studies at presets, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(git("archive", commit, "workflow", "config"))) as archive:
            archive.extractall(folder, filter="data")
        words = [sys.executable, str(HERE / "designs_then.py"), folder]
        done = subprocess.run(words, input=json.dumps(wanted), capture_output=True, text=True)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1]
        return {f"{study}/{preset}": {"faults": [last]} for study, preset in wanted}
    return json.loads(done.stdout)


def main() -> None:
    scratch = Path(sys.argv[1])
    scratch.mkdir(parents=True, exist_ok=True)
    known: set[tuple[str, ...]] = set()
    for commit in registering_commits():
        lines = lines_at(commit)
        # Later files have further columns, which earlier lines lack.
        new = [line for line in lines if tuple(line.values())[:6] not in known]
        known |= {tuple(line.values())[:6] for line in new}
        file = scratch / f"{commit}.json.gz"
        if file.exists():
            continue
        wanted = sorted({(line["study"], line["preset"]) for line in new})
        designs = designs_at(commit, wanted)
        rebuilt = sum(
            designs[f"{line['study']}/{line['preset']}"].get("designs", {}).get(line["claim"], {}).get("digest")
            == line["digest"]
            for line in new
        )
        date = git("show", "-s", "--format=%cs", commit).decode().strip()
        content = {"commit": commit, "date": date, "lines": new, "designs": designs}
        part = file.with_suffix(".part")
        part.write_bytes(gzip.compress(json.dumps(content).encode()))
        part.rename(file)
        print(f"{commit[:8]} {date}: {rebuilt} of {len(new)} lines", flush=True)


if __name__ == "__main__":
    main()
