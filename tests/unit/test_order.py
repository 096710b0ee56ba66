"""The order of a run: a first result of every paper, then the cheapest studies first, and long jobs in time."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from small_study import STUDY, study_of

from hierlearn.pipeline.plan import checking
from hierlearn.pipeline.plan.estimates import RATES, START, Job
from hierlearn.pipeline.plan.order import MARGIN, STAGES, Order, chains, judges_primary, latest_starts
from hierlearn.pipeline.plan.resource_requests import Requests
from hierlearn.pipeline.plan.resources import Request

TWO_CORES = SimpleNamespace(
    is_main_process=True, local_exec=True, nodes=None, resource_settings=SimpleNamespace(cores=2)
)
STUDIES = sorted((Path(__file__).parents[2] / "config" / "studies").glob("*.yaml"))


class Wildcards(dict):
    """The wildcards of a job as Snakemake has them: by name."""

    __getattr__ = dict.__getitem__


@pytest.fixture
def study():
    return study_of(yaml.safe_load(STUDY), "small", "small.yaml", "quick")


def order(*studies, **changes):
    found = {study.name: study for study in studies}
    return Order(found, Requests(found), SimpleNamespace(**vars(TWO_CORES) | changes))


def job(name: str, rule: str, seconds: float) -> Job:
    """A job of a study that is estimated to take some seconds."""
    operations = (seconds - START[rule]) * RATES["standard"]["train network"]
    return Job("study", rule, name, "train network", Request(0, 0, operations=operations))


def test_every_job_of_every_rule_has_a_place_of_its_own(study):
    other = replace(study, name="other")
    places = order(study, other).priorities
    assert sorted(places.values()) == list(range(1, len(places) + 1))
    kernel = Wildcards(study="small", task="dimension-3", learner="kernel")
    assert order(study, other).of("train")(kernel) == places["small", "dimension-3/kernel.train"]
    assert set(STAGES) == {name.rpartition(".")[2].rpartition("/")[2] for _, name in places}


def test_a_process_that_runs_one_job_orders_none(study):
    assert order(study, is_main_process=False).of("judge")(Wildcards(study="small")) == 0


def test_on_a_cluster_what_most_waits_for_is_submitted_first(study):
    places = order(study, replace(study, name="dear", seed_count=300), local_exec=False, nodes=200).priorities
    first = max(places, key=places.get)
    assert first[0] == "dear" and first[1].endswith("generate")


def test_later_jobs_of_a_study_go_before_its_earlier_ones_and_the_verdict_before_the_figure(study):
    places = order(study, replace(study, name="dear", seed_count=300_000)).priorities
    before = [
        "judge",
        "figure",
        "aggregate",
        "dimension-3/evaluate",
        "dimension-3/kernel.train",
        "dimension-3/generate",
    ]
    found = [places["small", name] for name in before]
    assert found == sorted(found, reverse=True)


def test_a_first_study_of_every_paper_goes_before_all_others_and_then_the_cheaper_one(study):
    silent = {name: replace(claim, rank="secondary") for name, claim in study.claims.items()}
    cheap = replace(study, name="cheap", claims=silent, seed_count=1)
    dear = replace(study, name="dear", seed_count=300)
    second = replace(study, name="second", paper="bai2020", seed_count=200)
    assert judges_primary(study) and not judges_primary(cheap)
    places = order(dear, cheap, second, study).priorities
    assert sorted(["dear", "cheap", "second", "small"], key=lambda name: -places[name, "judge"]) == [
        "small",
        "second",
        "cheap",
        "dear",
    ]


def test_what_waits_for_a_job_is_the_longest_of_every_later_stage_of_its_task():
    jobs = [job("a/x.train", "train", 10.0), job("a/y.train", "train", 4.0), job("a/evaluate", "evaluate", 3.0)]
    jobs += [job("b/evaluate", "evaluate", 50.0), job("judge", "judge", 1.0), job("p.probe", "probe", 7.0)]
    assert chains(jobs) == pytest.approx([14.0, 8.0, 4.0, 51.0, 1.0, 8.0])


def test_a_job_that_the_end_of_a_run_would_wait_for_starts_in_time():
    def due(parallel):
        first = [job("judge", "judge", 1.0)] * 500
        last = [job("p.probe", "probe", 40.0), job("judge", "judge", 1.0)]
        return [place[0] for place in latest_starts([first, last], parallel)][-2:]

    assert due(1) == pytest.approx([541.0 - MARGIN * 41.0, 500.0])
    assert due(0) == pytest.approx([500.0, 500.0])


@pytest.mark.slow
def test_the_shipped_studies_begin_with_one_of_every_paper():
    studies = {file.stem: checking.load_study(file, "quick") for file in STUDIES}
    places = Order(studies, Requests(studies), TWO_CORES).priorities
    first = sorted(studies, key=lambda name: -places[name, "judge"])[:4]
    assert {studies[name].paper for name in first} == {study.paper for study in studies.values()}
    assert all(judges_primary(studies[name]) for name in first)
