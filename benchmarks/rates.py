"""Fits the rates that `hierlearn plan` estimates with to what the jobs of finished runs took.

python benchmarks/rates.py results/quick=quick [results/standard=standard ...]

Prints hierlearn/pipeline/plan/rates.csv with what these runs say of each kind of job: the operations that its
components count over the seconds of CPU that it took, its start apart. Before it stands by how much estimates with
these rates are off for each run.
"""

import math
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "workflow"))

from hierlearn.pipeline.command.costs import measured  # noqa: E402
from hierlearn.pipeline.plan import checking, estimates  # noqa: E402


def ran(runs: list[tuple[Path, str]]) -> list[tuple[estimates.Job, float, str]]:
    """All jobs that ran, with their seconds and preset."""
    found = []
    for results, preset in runs:
        for file in sorted((ROOT / "config" / "studies").glob("*.yaml")):
            jobs = estimates.jobs_of(checking.load_study(file, preset))
            found += [(job, seconds, preset) for job in jobs if (seconds := measured(job, results))]
    return found


def rates(jobs: list[tuple[estimates.Job, float, str]]) -> dict[str, float]:
    """Operations per second of every kind of job that counts any."""
    operations, seconds = defaultdict(float), defaultdict(float)
    for job, took, _ in jobs:
        if job.request.operations:
            operations[job.kind] += job.request.operations
            seconds[job.kind] += max(took - estimates.START[job.rule], 0.05)
    return {kind: operations[kind] / seconds[kind] for kind in sorted(operations)}


def main() -> None:
    """Print the rates, then how far they are off."""
    pairs = [word.rpartition("=")[::2] for word in sys.argv[1:]]
    jobs = ran([(Path(results), preset) for results, preset in pairs])
    for preset in sorted({preset for _, _, preset in jobs}):
        estimates.RATES[preset] = rates([one for one in jobs if one[2] == preset])
        own = [(job, seconds) for job, seconds, its in jobs if its == preset]
        studies = defaultdict(lambda: [0.0, 0.0])
        for job, seconds in own:
            studies[job.study][0] += job.seconds
            studies[job.study][1] += seconds
        long = [job.seconds / seconds for job, seconds in own if seconds > 3]
        for what, ratios in (("jobs of more than 3 s", long), ("studies", [a / b for a, b in studies.values()])):
            off = sorted(math.exp(abs(math.log(ratio))) for ratio in ratios)
            middle, most = off[len(off) // 2], off[int(0.9 * len(off))]
            print(f"# {preset}: {len(off)} {what}: off by {middle:.2f} in the median, {most:.2f} in nine of ten")
    print("kind", *estimates.RATES, sep=",")
    for kind in sorted({kind for known in estimates.RATES.values() for kind in known}):
        found = (f"{known[kind]:.1e}" if kind in known else "" for known in estimates.RATES.values())
        print(kind, *found, sep=",")


if __name__ == "__main__":
    main()
