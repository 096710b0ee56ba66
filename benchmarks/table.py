"""Everything that is measured here as one table: what, measured, target, met or not, time taken, how to repeat it.

    PYTHONPATH=workflow python benchmarks/table.py [--only networks] [--only workflow]

Every file of this folder measures its rows in a process of its own and at most LIMIT seconds; what jobs do is measured
in the environment that the workflow gives them.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path

from hierlearn.pipeline.run import job

HERE = Path(__file__).parent
# Far above what one takes, so that a table always ends.
LIMIT = 1800
MODULES = ("workflow", "papers", "solver", "certificates", "ridge", "kernels", "networks", "densenets", "convolutional")
MODULES += ("gpu", "growth", "own", "one_line", "first_results", "estimates", "estimators")
LAYOUT = "{:<58} {:>10} {:>10}  {:<4}{:>6}  {}"


@dataclass(frozen=True)
class Row:
    """One thing that was measured; `measured` is None where it could not be, and `note` says why.

    most, least: the target, if there is one. options: of the file that repeats this row alone.
    """

    name: str
    measured: float | None
    unit: str = ""
    most: float | None = None
    least: float | None = None
    options: str = ""
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without a measurement or a target."""
        if self.measured is None or (self.most is None and self.least is None):
            return None
        return (self.most is None or self.measured <= self.most) and (self.least is None or self.measured >= self.least)

    @property
    def target(self) -> str:
        """The target in words."""
        bounds = (("<=", self.most), (">=", self.least))
        return " ".join(f"{sign} {bound:g} {self.unit}".strip() for sign, bound in bounds if bound is not None) or "-"

    def line(self, module: str, took: float) -> str:
        """The row as the table shows it. module: the file that measured it; took: in how many s."""
        shown = "-" if self.measured is None else f"{self.measured:.3g} {self.unit}".strip()
        met = {True: "yes", False: "NO", None: "-"}[self.met]
        command = f"python benchmarks/{module}.py {self.options}".strip()
        note = f"  ({self.note})" if self.note else ""
        return LAYOUT.format(self.name, shown, self.target, met, f"{took:.0f} s", command) + note


def as_in_jobs() -> None:
    """Start this process again as the workflow starts jobs, with one compute thread and their settings of memory."""
    wanted = dict.fromkeys(job.THREAD_VARIABLES, "1") | job.MEMORY_VARIABLES
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | wanted)


def emit(rows: Iterable[Row], module: str | None = None) -> None:
    """Print rows as they come: for people if `module` says which file measured them, else for this file, as JSON."""
    began = time.perf_counter()
    for row in rows:
        took, began = time.perf_counter() - began, time.perf_counter()
        print(row.line(module, took) if module else json.dumps(asdict(row)), flush=True)


def batches(module: str, about: str, rows: Callable[[int, int, int], Iterable[Row]], steps: int) -> None:
    """Read the options of a file that compares networks in a batch with a loop over them, and print its rows.

    about: the file's docstring; rows: of (seeds, steps, repeats); steps: unless an option says another number.
    """
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", action="store_true", help="one JSON object a row, for table.py")
    given = parser.parse_args()
    as_in_jobs()
    import_module("torch").set_num_threads(1)
    emit(rows(given.seeds, given.steps, given.repeats), None if given.rows else module)


def measured(module: str) -> Iterator[Row]:
    """The rows of a file of this folder, as they come."""
    command = [sys.executable, str(HERE / f"{module}.py"), "--rows"]
    process = subprocess.Popen(["timeout", str(LIMIT), *command], stdout=-1, text=True)
    for line in process.stdout:
        yield Row(**json.loads(line))
    if process.wait():
        why = f"took more than {LIMIT} s" if process.returncode == 124 else f"failed with {process.returncode}"
        yield Row(f"the rest of {module}", None, note=why)


def main() -> None:
    """Print the table row by row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=MODULES, help="rows of this file alone")
    print(LAYOUT.format("what", "measured", "target", "met", "took", "alone, with PYTHONPATH=workflow"), flush=True)
    for module in parser.parse_args().only or MODULES:
        emit(measured(module), module)


if __name__ == "__main__":
    main()
