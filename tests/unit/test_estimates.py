"""What a preset will cost: estimates from counted operations, and by how much they were off where jobs have run."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from small_study import STUDY, put, study_of

from hierlearn.core import registry
from hierlearn.pipeline.command import costs
from hierlearn.pipeline.command.costs import LEAST
from hierlearn.pipeline.plan import estimates, resources
from hierlearn.pipeline.plan.estimates import RATES, START, Job
from hierlearn.pipeline.plan.resources import Load, Request

REQUEST = Request(mem_mb=2500, runtime=10, cores=4, operations=3.6e3 * RATES["standard"]["train network"])
JOB = Job("small", "train", "all/kernel.train", "train network", REQUEST)


@pytest.fixture
def study():
    return study_of(yaml.safe_load(STUDY), "small", "small.yaml", "quick")


def test_a_job_takes_its_start_and_its_operations_at_the_rate_of_its_kind():
    assert JOB.seconds == pytest.approx(3600 + START["train"])
    assert JOB.core_seconds == pytest.approx(4 * JOB.seconds)


def test_every_job_of_a_study_is_there_once(study):
    jobs = list(estimates.jobs_of(study))
    counted = {rule: sum(job.rule == rule for job in jobs) for rule in START}
    assert {job.preset for job in jobs} == {"quick"}
    assert counted["generate"] == counted["evaluate"] == len(study.tasks) == 3
    # The kernel runs at two of three dimensions.
    assert (counted["train"], counted["represent"], counted["probe"]) == (5, 3, 1)
    assert counted["aggregate"] == counted["judge"] == counted["figure"] == 1
    assert len({job.log for job in jobs}) == len(jobs)


def test_a_learner_that_walks_up_has_a_rate_of_its_own():
    def kinds(**changes):
        content = yaml.safe_load(STUDY) | changes
        jobs = estimates.jobs_of(study_of(content, "small", "small.yaml", "quick"))
        return {job.kind for job in jobs if job.log.endswith("kernel.train")}

    content = yaml.safe_load(STUDY)
    assert kinds() == {"train kernel_ridge walk"}
    assert kinds(samples={"thresholds": []}) == {"train kernel_ridge"}
    at = put(content, "learners.kernel.samples", {"at": [4, 8]})
    assert kinds(**at) == {"train kernel_ridge"}


def test_a_kind_that_was_never_measured_has_the_rate_of_what_is_nearest():
    assert estimates.rate("train linear walk", "standard") == RATES["standard"]["train linear"]
    trained = [value for kind, value in RATES["quick"].items() if kind.startswith("train ")]
    assert min(trained) <= estimates.rate("train something", "quick") <= max(trained)


def test_small_jobs_have_rates_of_their_own():
    tables = {"smoke": "quick", "quick": "quick", "standard": "standard", "full": "standard", "paper": "standard"}
    for preset, table in tables.items():
        assert estimates.rate("train network", preset) == RATES[table]["train network"]


def test_the_rates_are_of_components_that_there_are():
    rooms = {"represent": "representations", "train": "learners", "probe": "probes"}
    for kind in RATES["quick"] | RATES["standard"]:
        rule, name, *_ = [*kind.removesuffix(" walk").split(), ""]
        assert not name or name in registry.available(rooms[rule])


def test_the_table_has_each_study_and_all_of_them(study):
    other = replace(study, name="a-longer-name")
    header, *lines, _ = costs.table([study, other], Path("nowhere"))
    hours = [float(line.split()[2]) for line in lines]
    assert header.split()[:3] == ["study", "jobs", "core-hours"]
    assert [line.split()[0] for line in lines] == ["small", "a-longer-name", "all"]
    assert hours[2] == pytest.approx(hours[0] + hours[1], rel=0.01)
    jobs = list(estimates.jobs_of(study))
    assert hours[0] == pytest.approx(sum(job.core_seconds for job in jobs) / 3600, rel=0.01)
    assert f"{max(job.request.mem_mb for job in jobs) / 1000:.1f} GB" in lines[0]


def write_logs(results: Path, jobs: list[Job], seconds: float) -> None:
    """Logs of jobs that have run, each with as many seconds of CPU."""
    for job in jobs:
        log = results / "logs" / job.study / f"{job.log}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"2026-01-01 00:00:00,000 {seconds:.2f} s of CPU, 100 MB at the peak\n")


def test_where_jobs_have_run_the_error_is_told(study, tmp_path):
    jobs = [job for job in estimates.jobs_of(study) if job.rule == "train"]
    write_logs(tmp_path, jobs, 20 * jobs[0].core_seconds)
    *_, total, errors = costs.table([study], tmp_path)
    assert total.startswith(f"{len(jobs)} of these jobs ran")
    assert "off by a factor of 20 in the median" in errors


def test_a_machine_has_the_pace_of_what_ran_there(study, tmp_path):
    jobs = list(estimates.jobs_of(study))
    each = 2 * LEAST / len(jobs)
    write_logs(tmp_path, jobs, each)
    pace = costs.pace([study], tmp_path)
    assert pace == pytest.approx(2 * LEAST / sum(job.core_seconds for job in jobs), rel=0.01)
    own, tripled = (list(costs.table([study], Path("nowhere"), scale))[-2] for scale in (1.0, 3.0))
    assert float(tripled.split()[2]) == pytest.approx(3 * float(own.split()[2]), rel=0.01)


def test_a_run_that_was_short_tells_no_pace(study, tmp_path):
    assert costs.pace([study], tmp_path) is None
    jobs = list(estimates.jobs_of(study))
    write_logs(tmp_path, jobs, 0.5 * LEAST / len(jobs))
    assert costs.pace([study], tmp_path) is None


def test_seconds_of_a_job_are_those_of_its_cores_in_its_last_run(tmp_path):
    write_logs(tmp_path, [JOB], 40.0)
    log = tmp_path / "logs" / "small" / "all" / "kernel.train.log"
    log.write_text("2026-01-01 00:00:00,000 7.00 s of CPU, 1 MB at the peak\n" + log.read_text())
    assert costs.measured(JOB, tmp_path) == pytest.approx(10.0)


@pytest.mark.parametrize("text", ["", "Traceback\n", "s of CPU\n"])
def test_a_log_that_says_nothing_of_seconds_is_passed_over(tmp_path, text):
    write_logs(tmp_path, [JOB], 1.0)
    (tmp_path / "logs" / "small" / "all" / "kernel.train.log").write_text(text)
    assert costs.measured(JOB, tmp_path) is None


def test_what_cores_share_is_taken_off_the_time_of_a_job():
    """A job on several cores is as long as its slowest core."""
    needs = resources._request(0.0, Load(operations=1e16, longest=1e16, parallel=1.0))
    assert needs.cores == 16
    assert needs.operations == pytest.approx(1e16 / 16)
