"""The time that is left follows the estimates first and then what jobs took; a study is finished with its last job."""

from dataclasses import replace
from itertools import pairwise

import pytest

from hierlearn.pipeline.command.progress import NEARLY, Progress, Work, counts, duration
from hierlearn.pipeline.plan.estimates import FIRST


def run(costs, parallel=1):
    """Jobs of one study each, with estimated core-seconds."""
    jobs = {i: Work(f"study-{i}", "train", "all/kernel.train", "a.log", cost) for i, cost in enumerate(costs)}
    return Progress(jobs, 100.0, parallel)


def test_before_anything_has_run_the_estimates_are_all_there_is():
    assert run([60.0, 30.0]).expected(100.0) == pytest.approx(FIRST + 90.0)
    assert run([60.0, 30.0, 90.0], parallel=2).expected(100.0) == pytest.approx(FIRST + 90.0)


def test_no_number_of_cores_makes_a_run_shorter_than_its_longest_jobs_one_after_the_other():
    state = run([60.0, 30.0], parallel=8)
    state.jobs[0] = replace(state.jobs[0], after=10.0)
    assert state.expected(100.0) == pytest.approx(FIRST + 70.0)
    state.jobs[1] = replace(state.jobs[1], cost=800.0, cores=8)
    assert state.expected(100.0) == pytest.approx(FIRST + 107.5)


def test_where_jobs_take_twice_as_long_so_will_the_others():
    state = run([5000.0, 1000.0])
    state.start(0, 100.0)
    state.end(0, 100.0 + 10_000.0)
    assert state.expected(100.0 + 10_000.0) == pytest.approx(2000.0, rel=0.01)


def test_a_job_that_outruns_its_estimate_is_nearly_done_and_no_more():
    state = run([100.0, 100.0])
    state.start(0, 100.0)
    assert state.share(100.0 + 1e6) == NEARLY / 2
    state.end(0, 100.0 + 1e6)
    assert state.share(100.0 + 1e6) == 0.5


def test_what_waits_for_a_job_that_failed_is_not_waited_for():
    state = run([100.0, 100.0, 50.0])
    state.jobs[1] = replace(state.jobs[1], study="study-0")
    state.start(0, 100.0)
    state.end(0, 100.0, failed=True)
    assert state.expected(100.0) == pytest.approx(FIRST + 50.0)


@pytest.mark.parametrize("parallel", [1, 2, 16])
@pytest.mark.parametrize("slower", [0.3, 1.0, 3.0, 10.0, "mixed"])
@pytest.mark.parametrize("costs", [[60.0], [2.0] * 40, [1.0] * 30 + [50.0], [5.0, 0.3, 20.0, 0.1] * 5])
def test_the_time_left_falls_all_the_time_until_the_end(parallel, slower, costs):
    """A run second by second, its jobs `slower` times their estimates."""
    state, now, shown = run(costs, parallel), 100.0, []
    factors = [8.0, 0.5, 3.0, 1.0] if slower == "mixed" else [slower]
    takes = [cost * factors[i % len(factors)] for i, cost in enumerate(costs)]
    while len(state.done) < len(costs):
        for number, since in list(state.running.items()):
            if now - since >= takes[number]:
                state.end(number, now)
        waiting = [number for number in state.jobs if number not in state.done | state.running.keys()]
        for number in waiting[: parallel - len(state.running)]:
            state.start(number, now)
        shown.append(state.left(now))
        now += 1.0
    assert all(after < before for before, after in pairwise(shown))
    assert shown[-1] == 0.0 and min(shown[:-1], default=1.0) > 0.0


def test_the_time_left_catches_up_with_what_is_expected():
    """Forty jobs of three times their estimates: half-way through, what is shown is more than a quarter of it."""
    state, now = run([10.0] * 40), 100.0
    for number in range(20):
        state.start(number, now)
        for _ in range(30):
            state.left(now)
            now += 1.0
        state.end(number, now)
    assert state.left(now) > 600.0 / 4


def test_a_job_that_waits_in_a_queue_has_done_nothing_until_it_ends():
    state = replace(run([100.0, 100.0]), is_local=False)
    state.start(0, 100.0)
    assert state.share(100.0 + 1e6) == 0.0
    state.end(0, 100.0 + 1e6)
    assert state.share(100.0 + 1e6) == 0.5


def test_a_study_is_finished_when_all_its_jobs_have_ended_well_and_a_second_try_counts():
    jobs = {1: Work("a", "judge", "judge", "", 1.0), 2: Work("a", "figure", "figure", "", 1.0)}
    state = Progress(jobs | {3: Work("", "ledger", "ledger", "", 1.0)}, 0.0, 1)
    state.end(1, 4.0)
    state.end(2, 4.0, failed=True)
    assert state.studies() == ["a"] and state.finished() == set() and state.failed == {2}
    state.start(2, 5.0)
    state.end(2, 6.0)
    assert state.finished() == {"a"} and state.failed == set()


def test_jobs_of_no_run_are_no_concern():
    state = run([1.0])
    state.start(7, 100.0)
    state.end(7, 101.0)
    assert state.share(101.0) == 0.0


def test_a_plan_counts_jobs_by_study_and_rule_and_adds_core_hours():
    jobs = [Work("b", "train", "x", "", 3600.0), Work("b", "train", "y", "", 1800.0), Work("a", "probe", "p", "", 0.0)]
    assert counts(jobs) == (
        ["study", "jobs", "train", "probe", "core-hours"],
        [["a", "1", "", "1", "0"], ["b", "2", "2", "", "1.5"], ["all", "3", "2", "1", "1.5"]],
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (61, "1 min"),
        (378, "6 min 20 s"),
        (598, "10 min"),
        (700, "12 min"),
        (3600 * 2 + 300, "2 h 5 min"),
        (3600 * 100, "4 days 4 h"),
    ],
)
def test_times_are_for_people(seconds, text):
    assert duration(seconds) == text
