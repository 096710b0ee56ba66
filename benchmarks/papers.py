"""What the quick studies take, paper by paper: wall time of each group from nothing on two cores.

    PYTHONPATH=workflow python benchmarks/papers.py [--only allenzhu2019]

Every group runs in a fresh copy of the workflow, one after the other: about ten minutes on an idle machine, and seconds
mean something on an idle machine only.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from table import Row, emit
from workflow import ROOT, copied, measures, snakemake

MAIN = "chen2020-sample-complexity"
# Name, targets of Snakemake, and the most that they should take, in s.
GROUPS = {
    MAIN: ((MAIN,), 300),
    "other chen2020 and bai2020": (
        ("bai2020", *sorted(f.stem for f in (ROOT / "config/studies").glob("chen2020-*.yaml") if f.stem != MAIN)),
        300,
    ),
    "allenzhu2019": (("allenzhu2019",), 240),
    "allenzhu2020": (("allenzhu2020",), 240),
}


def rows(names: list[str]) -> Iterator[Row]:
    """Wall time of each group, with the CPU time and the largest memory of its jobs."""
    for name in names:
        targets, most = GROUPS[name]
        with tempfile.TemporaryDirectory() as folder:
            wall, _ = snakemake(copied(Path(folder)), *targets)
            found = measures("quick", Path(folder))
        cpu, peak = sum(row["cpu"] for row in found), max(row["mb"] for row in found)
        note = f"{len(found)} jobs, {cpu:.0f} s of CPU"
        options = f"--only {name.split()[-1]}"
        yield Row(f"quick studies, {name}", wall, "s", most=most, options=options, note=note)
        yield Row(f"largest job of {name}", peak / 1000, "GB", most=2, options=options)


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="groups with this word in their name")
    parser.add_argument("--rows", action="store_true", help="one JSON object a row, for table.py")
    given = parser.parse_args()
    emit(rows([name for name in GROUPS if (given.only or "") in name]), None if given.rows else "papers")


if __name__ == "__main__":
    main()
