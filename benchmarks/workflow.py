"""Wall time, overhead, memory and disk of a preset run from nothing on two cores.

    PYTHONPATH=workflow python benchmarks/workflow.py [--preset quick] [--study NAME] [--json]

Overhead is wall time times cores less the time in jobs, as parts of the former; it includes what one core waits for the
other at the end. The second run has nothing to do.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORES = 2


def run(folder: Path, preset: str, studies: list[str]) -> float:
    """Seconds of wall time of one run of the workflow in a folder."""
    command = [
        *(str(Path(sys.executable).parent / "snakemake"), "--snakefile", str(ROOT / "Snakefile")),
        *("--directory", str(folder), "--workflow-profile", str(ROOT / "profiles" / "default")),
        *("--cores", str(CORES), *studies, "--config", f"preset={preset}"),
    ]
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def jobs(folder: Path, preset: str) -> list[dict]:
    """What Snakemake measured of every job."""
    rows = []
    for file in sorted((folder / "results" / preset / "benchmarks").rglob("*.tsv")):
        with open(file) as lines:
            rows += [row | {"job": str(file.name)} for row in csv.DictReader(lines, delimiter="\t")]
    return rows


def measure(preset: str, studies: list[str]) -> dict:
    """The figures of one run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wall, again = run(folder, preset, studies), run(folder, preset, studies)
        rows = jobs(folder, preset)
        seconds = [float(row["s"]) for row in rows]
        disk = sum(file.stat().st_size for file in (folder / "results").rglob("*") if file.is_file())
        return {
            "wall_s": round(wall, 1),
            "second_run_s": round(again, 1),
            "jobs": len(rows),
            "busy_share": round(sum(seconds) / (CORES * wall), 3),
            "longest_job": max(rows, key=lambda row: float(row["s"]))["job"],
            "longest_job_s": round(max(seconds), 1),
            "peak_memory_mb": round(max(float(row["max_rss"]) for row in rows)),
            "disk_mb": round(disk / 1e6),
        }


def main() -> None:
    """Print the figures, one a line, or as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", default="quick")
    parser.add_argument("--study", action="append", default=[])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measure(given.preset, given.study)
    print(json.dumps(found) if given.json else "\n".join(f"{name:16} {value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
