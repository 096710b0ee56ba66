"""What the certificates that rows rest on cost, beside the training that they certify, in jobs of studies.

    PYTHONPATH=workflow python benchmarks/certificates.py

Each learner of quick is trained as its job trains it, three times: without certificates, with those of the seeds that
`certify: some` takes (one of eleven, which one changes with the size), and with what brings such points down to where
one holds, too. Ratios of CPU time of one thread.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from table import Row, as_in_jobs, emit

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "workflow" / "scripts"
STUDIES = (
    ("chen2020-sample-complexity", "quad-raw"),
    ("chen2020-sample-complexity", "quad-neural"),
    ("bai2020-xor", "quad-raw"),
    ("bai2020-spiked", "quad-raw"),
)
MODES = {
    "training": {"certify": "none"},
    "certificates": {"certify": "some", "polish_rounds": 0},
    "all": {"certify": "some"},
}


def taylor(described: Any) -> Iterator[dict[str, Any]]:
    """Every learner `taylor` of a job's parameters."""
    if isinstance(described, list):
        described = dict(enumerate(described))
    if isinstance(described, dict):
        if described.get("name") == "taylor":
            yield described
        for below in described.values():
            yield from taylor(below)


def measure(study: Any, learner: str, folder: Path) -> dict[str, float]:
    """CPU-seconds of a learner's job by mode, the shorter of two."""
    import generate
    import represent
    import train

    from hierlearn.pipeline.plan import jobs

    task = next(iter(study.tasks.values()))
    data, points = folder / "data.nc", None
    generate.generate(data, jobs.generate(study, task), "a benchmark")
    given = study.learners[learner].representation
    if given in study.representations_in(task):
        points = folder / "representation.nc"
        represent.represent(data, points, jobs.represent(study, task, given), "a benchmark")
    taken = dict.fromkeys(MODES, float("inf"))
    for _ in range(2):
        for mode, change in MODES.items():
            parameters = jobs.train(study, task, learner)
            for one in taylor(parameters):
                one.update(change)
            began = time.process_time()
            train.train(data, points, folder / "model.nc", parameters, "a benchmark")
            taken[mode] = min(taken[mode], time.process_time() - began)
    return taken


def rows() -> Iterator[Row]:
    """The certificates' part of the training, and with polishing."""
    from hierlearn.pipeline.plan.configuration import configure

    studies = configure({"preset": "quick"}, ROOT / "config" / "config.yaml", ROOT / "config" / "studies").studies
    for study, learner in STUDIES:
        with tempfile.TemporaryDirectory() as folder:
            taken = measure(studies[study], learner, Path(folder))
        for mode, name, most in (("certificates", "certificates", 60), ("all", "and polishing", None)):
            part = 100 * (taken[mode] / taken["training"] - 1)
            yield Row(f"{study}, {learner}: {name}, part of training", part, "%", most=most)


def main() -> None:
    """Print one row per learner."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", action="store_true", help="one JSON object a row, for table.py")
    options = parser.parse_args()
    as_in_jobs()
    sys.path.insert(0, str(SCRIPTS))
    emit(rows(), None if options.rows else "certificates")


if __name__ == "__main__":
    main()
