"""Fits the rates that `snakemake plan` estimates with to what the jobs of a finished run took.

python benchmarks/rates.py results/quick [quick]

Prints the table RATES of hierlearn/plan/estimates.py: for each kind of job the operations that its components count
over the seconds that it took, its start apart.
"""

import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "workflow"))

from hierlearn.plan import checking, estimates  # noqa: E402


def rates(results: Path, preset: str) -> dict[str, float]:
    """Operations per second of every kind of job that ran and counts any."""
    operations, seconds = defaultdict(float), defaultdict(float)
    for file in sorted((ROOT / "config" / "studies").glob("*.yaml")):
        for job in estimates.jobs_of(checking.load_study(file, preset)):
            took = estimates.measured(job, results)
            if took is not None and job.request.operations:
                operations[job.kind] += job.request.operations
                seconds[job.kind] += max(took - estimates.START[job.rule], 0.05)
    return {kind: operations[kind] / seconds[kind] for kind in sorted(operations)}


if __name__ == "__main__":
    for kind, found in rates(Path(sys.argv[1]), *(sys.argv[2:] or ["quick"])).items():
        print(f'    "{kind}": {found:.1e},')
