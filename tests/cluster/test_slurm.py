"""The workflow on a real Slurm: what it asks for, and that nothing that happens to a cluster changes its results."""

import os
import re
import signal

import pytest
from slurm import MEMORY_MB, NODES, ROOT, missing, results, said, started, until

# Starting a Slurm takes its packages and root, as .ci/run has them; the reason names what is absent here.
pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


@pytest.fixture(scope="module")
def cluster():
    with started() as running:
        yield running


@pytest.fixture(scope="module")
def local(cluster):
    """The tree of a run on one core, without the cluster."""
    tree = cluster.tree("local")
    assert cluster.run(tree, "--cores", "1", profile="default") == 0, said(tree)
    return tree


@pytest.fixture(scope="module")
def submitted(cluster, local):
    """The tree of an undisturbed run on the cluster."""
    tree = cluster.tree("submitted")
    assert cluster.run(tree) == 0, said(tree)
    return tree


def test_a_run_on_two_nodes_gives_the_bytes_of_a_local_run(cluster, local, submitted):
    assert results(submitted) == results(local)
    assert {row[2] for row in cluster.jobs("COMPLETED")} == set(NODES)


def test_every_job_asks_for_memory_and_time_by_its_sizes(cluster, submitted):
    jobs = cluster.jobs("COMPLETED")
    memory = {row[5]: int(row[3].removesuffix("M")) for row in jobs}
    assert all(100 < asked < MEMORY_MB for asked in memory.values()), memory
    assert len(set(memory.values())) > 2
    assert all(re.fullmatch(r"(\d+:)?\d+:\d\d", row[4]) for row in jobs), jobs
    # Aggregation, figure and verdicts of a study are one submission.
    assert len(jobs) == len([*(submitted / "results" / "quick" / "logs").rglob("*.log")]) - 2


def test_a_run_survives_a_cancelled_job_a_lost_node_and_the_death_of_snakemake(cluster, local):
    tree = cluster.tree("disturbed")
    earlier = {row[0] for row in cluster.jobs()}

    def running():
        return [row for row in cluster.jobs("RUNNING") if row[0] not in earlier]

    first = cluster.start(tree)
    cancelled = until(running, 120, "a running job")[0]
    cluster.ask("scancel", cancelled[0])
    earlier.add(cancelled[0])

    lost = until(running, 120, "another running job")[0]
    cluster.ask("scontrol", "update", f"nodename={lost[2]}", "state=down", "reason=tests")
    until(lambda: [row for row in cluster.jobs("NODE_FAIL") if row[0] == lost[0]], 60, "the loss of its job")
    earlier.add(lost[0])
    until(lambda: [row for row in running() if row[2] != lost[2]], 120, "a running job on the other node")
    cluster.ask("scontrol", "update", f"nodename={lost[2]}", "state=resume")

    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    orphans = {row[0] for row in cluster.jobs("RUNNING", "PENDING")}
    assert orphans
    assert cluster.run(tree) == 0, said(tree)
    assert {row[1] for row in cluster.jobs() if row[0] in orphans} <= {"CANCELLED", "COMPLETED"}
    assert not cluster.jobs("RUNNING", "PENDING")
    assert results(tree) == results(local)


def test_a_finely_cut_study_is_submitted_in_packs(cluster, local):
    tree = cluster.tree("packed")
    code, study = (
        tree / "workflow" / "hierlearn" / "pipeline" / "plan" / "resources.py",
        tree / "config" / "studies" / "tiny.yaml",
    )
    limits = re.compile(r"^JOBS, PACKS = .*$", re.MULTILINE)
    assert limits.search(code.read_text())
    # Three tasks in at most two packs: one of two tasks, one of one.
    code.write_text(limits.sub("JOBS, PACKS = 1, 2", code.read_text()))
    study.write_text(study.read_text() + "split_jobs_by: [dimension]\n")
    earlier = {row[0] for row in cluster.jobs()}
    assert cluster.run(tree) == 0, said(tree)
    comments = sorted(row[5].partition("_wildcards_")[0] for row in cluster.jobs() if row[0] not in earlier)
    assert len(comments) == 5, comments
    # The same claims, whatever the study was cut into.
    assert results(tree)["claims.csv"] == results(local)["claims.csv"]


def test_a_job_that_always_fails_is_tried_once_for_each_retry_and_not_again_inside(cluster, local):
    tree = cluster.tree("failing", of=local)
    script, trace = tree / "workflow" / "scripts" / "judge.py", tree / "tried"
    broken = f'\nwith open("{trace}", "a") as tried:\n    tried.write("once\\n")\nraise OSError("no")\n'
    script.write_text(script.read_text().replace("    job.end()\n", broken))
    assert cluster.run(tree, "--retries", "1") == 1
    assert trace.read_text().splitlines() == ["once"] * 2


@pytest.mark.parametrize("study", ["chen2020-sample-complexity", "allenzhu2020-layers"])
def test_a_study_of_the_project_gives_the_bytes_of_a_local_run(cluster, study):
    """Taylor models and kernels, and convolutional networks on pictures."""
    found = {}
    for profile in ("default", "slurm"):
        tree = cluster.tree(f"{study}-{profile}", study=ROOT / "config" / "studies" / f"{study}.yaml")
        assert cluster.run(tree, "--cores", "2", "--config", "preset=smoke", profile=profile) == 0, said(tree)
        found[profile] = results(tree, "smoke")
    assert {"claims.csv", "figure.png"} <= {str(name).rpartition("/")[2] for name in found["default"]}
    assert found["slurm"] == found["default"]
