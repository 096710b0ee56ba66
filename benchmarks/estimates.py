"""How far the time that a run tells before its first job is from the time that it takes: ten runs from nothing.

    PYTHONPATH=workflow python benchmarks/estimates.py [--only 'a paper' 'a question'] [--after 'a long study']

Each runs in a fresh copy of the workflow, on two cores where it does not say otherwise; all take about a quarter of an
hour. A row is printed after each, and what was broken off goes on after the last one. On a busy machine the note says
what to look at: the CPU time of the whole run over its cores.
"""

import argparse
import re
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

from table import Row, emit
from workflow import copied, snakemake

QUESTION = "question={teacher: {name: ridge_polynomial, degree: 2}, learners: [ntk, linear], dimension: [4, 6, 8]}"
RUNS = {
    "a study of measurements": ("bai2020-operator-norm",),
    "a study of networks": ("allenzhu2019-figure-2b",),
    "a study of kernels": ("chen2020-counting-bound",),
    "a long study": ("allenzhu2019-samples",),
    "a long study on one core": ("chen2020-sample-complexity", "--cores", "1"),
    "three studies": ("allenzhu2020-agnostic", "allenzhu2020-layers", "chen2020-open"),
    "a paper": ("bai2020",),
    "a question": ("--config", QUESTION),
    "smoke of all studies": ("--config", "preset=smoke"),
    "quick of all studies": (),
}
UNITS = {"s": 1, "min": 60, "h": 3600, "days": 86400}
MOST = 1.5


def shown(printed: str) -> float:
    """The seconds that a run told before its first job."""
    told = re.search(r"^\d+ jobs? of .*, about (.*) in all$", printed, flags=re.MULTILINE)[1]
    return sum(int(number) * UNITS[unit] for number, unit in re.findall(r"(\d+) ([a-z]+)", told))


def rows(names: list[str]) -> Iterator[Row]:
    """By which factor each run was off."""
    for name in names:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with tempfile.TemporaryDirectory() as folder:
            wall, printed = snakemake(copied(Path(folder)), *RUNS[name])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        told = shown(printed)
        note = f"{told:.0f} s told, {wall:.0f} s taken, {spent:.0f} s of CPU"
        yield Row(
            f"estimate of {name}", max(told / wall, wall / told), most=MOST, options=f"--only '{name}'", note=note
        )


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="RUN", choices=RUNS, help=f"some of: {'; '.join(RUNS)}")
    parser.add_argument("--after", metavar="RUN", choices=RUNS, help="those that come after one")
    parser.add_argument("--rows", action="store_true", help="one JSON object a row, for table.py")
    given = parser.parse_args()
    names = list(RUNS)[list(RUNS).index(given.after) + 1 if given.after else 0 :]
    emit(rows([name for name in names if name in (given.only or RUNS)]), None if given.rows else "estimates")


if __name__ == "__main__":
    main()
