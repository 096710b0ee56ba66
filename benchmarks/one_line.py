"""From a csv to a figure in one line: `hierlearn compare FILE --learners ntk quad-neural ridge`, in CPU-seconds.

    PYTHONPATH=workflow python benchmarks/one_line.py [--only diabetes]

The files are tables of scikit-learn, written as csv. The command runs in a process of its own with one thread, so that
its CPU-seconds are those of a clock on a processor that nothing else uses. A table of ten classes and 1797 rows takes
longer, since each class has a quadratic model of its own.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from own import machine_time
from sklearn import datasets
from table import Row, emit

from hierlearn.pipeline.run import job

ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, "-m", "hierlearn.pipeline.command", "compare"]
LEARNERS = ["--learners", "ntk", "quad-neural", "ridge"]
# CPU-seconds to reach; None where none was promised.
TABLES = {"diabetes": 30, "breast_cancer": 30, "iris": 30, "wine": 30, "digits": None}


def rows(names: list[str]) -> Iterator[Row]:
    """A row for each table. Ends the program where the command fails or leaves no figure."""
    environment = os.environ | dict.fromkeys(job.THREAD_VARIABLES, "1") | {"PYTHONPATH": str(ROOT / "workflow")}
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            frame = getattr(datasets, f"load_{name}")(as_frame=True).frame
            frame.to_csv(Path(folder) / f"{name}.csv", index=False)
            before = machine_time()
            command = [*COMMAND, f"{name}.csv", "--target", "target", *LEARNERS]
            done = subprocess.run(command, cwd=folder, env=environment, text=True, stdout=-1, stderr=-2, check=False)
            taken = machine_time() - before
            if done.returncode or not (Path(folder) / f"{name}-comparison.png").is_file():
                sys.exit(f"error: {name}: {done.stdout}")
        note = f"{len(frame)} rows, {frame.shape[1] - 1} columns"
        yield Row(f"csv to figure, {name}", taken, "CPU-s", most=TABLES[name], options=f"--only {name}", note=note)


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=TABLES, help="this table alone")
    parser.add_argument("--rows", action="store_true", help="one JSON object a row, for table.py")
    given = parser.parse_args()
    emit(rows(given.only or list(TABLES)), None if given.rows else "one_line")


if __name__ == "__main__":
    main()
