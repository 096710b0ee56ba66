"""From a study to tasks, sizes and the parameters of jobs."""

import dataclasses

import pytest
from small_study import panel, put, study_of

from hierlearn.pipeline.plan import jobs
from hierlearn.pipeline.plan.sizes import label, lattice, resolve, sizes


def study(**changes):
    content = {
        "title": "t",
        "paper": "chen2020",
        "problem": {
            "input": {"name": "sphere"},
            "teacher": {"name": "ridge_polynomial"},
            "scale": "unit",
            "label_noise": 0,
        },
        "axes": {"dimension": [4, 6], "degree": [2, 4]},
        "seeds": 3,
        "split_jobs_by": ["dimension"],
        "points": {"validation": 10, "test": 20},
        "samples": {"per_doubling": 1, "thresholds": [0.5]},
        "representations": {
            "neural": {
                "name": "neural",
                "count": {"coefficient": 2, "of": "quadratic_dimension"},
                "unlabelled": {"coefficient": 3, "of": "features"},
            }
        },
        "learners": {
            "kernel": {
                "label": "K",
                "learner": {"name": "kernel_ridge"},
                "representation": "raw",
                "select": {"ridge": [0.1]},
                "sweep": {},
                "samples": {"start": 2, "cap": 16},
                "limits": {"dimension": 4},
            },
            "quad": {
                "label": "Q",
                "learner": {"name": "taylor"},
                "representation": "neural",
                "select": {"ridge": [0.1]},
                "sweep": {"width": [4, 8], "start": [0.1]},
                "samples": {
                    "start": {"coefficient": 1, "of": "dimension"},
                    "cap": {"coefficient": 1, "of": "features"},
                },
                "limits": {},
            },
        },
        "probes": {},
        "figure": {"name": "sample_complexity"},
        "claims": {},
    }
    return study_of(content | changes, "s", "s.yaml", "quick")


def test_sample_sizes_lie_on_one_lattice_for_all_learners():
    assert lattice(1, 20, 1) == [1, 2, 4, 8, 16]
    assert lattice(5, 23, 2) == [6, 8, 11, 16, 23]
    assert lattice(3, 3, 1) == []
    assert lattice(1, 4, 4) == [1, 2, 3, 4]
    assert set(lattice(100, 1000, 2)) <= set(lattice(7, 5000, 2))


def test_a_size_is_a_number_or_a_power_of_a_counted_dimension():
    context = sizes(6)
    assert context == {"dimension": 6, "quadratic_dimension": 28}
    assert resolve(17, context) == 17
    assert resolve({"coefficient": 2, "of": "quadratic_dimension"}, context) == 56
    assert resolve({"coefficient": 0.5, "of": "dimension", "power": 3}, context) == 108
    assert resolve({"coefficient": 1, "of": "dimension", "power": 3, "most": 100}, context) == 100
    assert resolve({"coefficient": 0.01, "of": "dimension"}, context) == 1
    assert resolve({"name": "rbf"}, context) == {"name": "rbf"}


def test_the_grid_is_cut_into_tasks_with_the_largest_dimension_first():
    tasks = study().tasks
    assert list(tasks) == ["dimension-6", "dimension-4"]
    assert [point.name for point in tasks["dimension-4"].points] == ["degree-2", "degree-4"]
    assert tasks["dimension-4"].points[1].coordinates == {"dimension": 4, "degree": 4}
    whole = study(split_jobs_by=[]).tasks
    assert list(whole) == ["all"]
    assert len(whole["all"].points) == 4


def test_an_axis_sets_the_parameter_of_its_component():
    point = study().tasks["dimension-4"].points[1]
    assert point.problem["teacher"]["degree"] == 4
    assert point.problem["dimension"] == 4
    assert "degree" not in point.problem["input"]


def test_an_axis_may_be_the_label_noise():
    noisy = study(axes={"dimension": [4], "label_noise": [0, 0.5]}, split_jobs_by=[])
    assert [point.problem["label_noise"] for point in noisy.tasks["all"].points] == [0, 0.5]


def test_a_problem_is_canonical_with_every_default_written_out():
    problem = study().tasks["dimension-4"].points[0].problem
    assert problem["teacher"] == {
        "name": "ridge_polynomial",
        "degree": 2,
        "basis": "gegenbauer",
        "rank": 1,
        "orthonormal": True,
        "directions": None,
        "coefficients": None,
        "length": 1,
    }


def test_a_problem_does_not_depend_on_its_study_seeds_or_learners():
    one = study().tasks["dimension-4"].points[0].problem
    other = (
        study(seeds=9, learners={}, representations={}, split_jobs_by=[], title="another")
        .tasks["all"]
        .points[0]
        .problem
    )
    assert one == other


def test_features_are_those_of_the_representation_itself():
    point = study().tasks["dimension-4"].points[0]
    described = study().representation("neural", point)
    assert (described["count"], described["unlabelled"]) == (30, 90)
    assert study().context("quad", point)["features"] == 30
    assert study().context("kernel", point)["features"] == 4


def test_features_are_known_where_their_number_is_a_default():
    neural = {"name": "neural", "unlabelled": {"coefficient": 2, "of": "features"}}
    other = study(representations={"neural": neural})
    assert other.representation("neural", other.tasks["dimension-4"].points[0])["unlabelled"] == 64


def test_a_learner_stays_within_its_limits_and_sizes():
    here = study()
    small, large = here.tasks["dimension-4"], here.tasks["dimension-6"]
    assert here.learners_in(small) == ["kernel", "quad"]
    assert here.learners_in(large) == ["quad"]
    assert here.sample_sizes("kernel", small.points[0]) == [2, 4, 8, 16]
    assert here.sample_sizes("quad", small.points[0]) == [4, 8, 16]
    assert here.sample_sizes("quad", large.points[0]) == [8, 16, 32]
    assert here.representations_in(small) == ["neural"]


def test_a_learner_runs_at_the_places_that_it_names_only():
    changed = study()
    changed.learners["quad"].only.extend([{"dimension": [4]}, {"degree": [4]}])
    ran = [p.coordinates for task in changed.tasks.values() for p in changed.training_points("quad", task)]
    assert ran == [
        {"dimension": 6, "degree": 4},
        {"dimension": 4, "degree": 2},
        {"dimension": 4, "degree": 4},
    ]


def test_data_hold_what_the_largest_user_needs():
    here = study()
    large, small = here.tasks["dimension-6"], here.tasks["dimension-4"]
    assert here.points_needed(large, large.points[0]) == {
        "training": 32,
        "unlabelled": 168,
        "validation": 10,
        "test": 20,
    }
    assert here.points_needed(small, small.points[0])["training"] == 16
    without = dataclasses.replace(here, learners={"kernel": here.learners["kernel"]})
    assert "unlabelled" not in without.points_needed(without.tasks["dimension-4"], small.points[0])


def test_points_are_drawn_and_shown_to_features_only_where_a_learner_runs():
    here = study()
    here.learners["quad"].only.extend([{"dimension": [6]}, {"degree": [4]}])
    small, large = here.tasks["dimension-4"], here.tasks["dimension-6"]
    assert here.points_of(small) == list(small.points)
    assert [point.coordinates["degree"] for point in here.points_of(small, "neural")] == [4]
    assert here.points_of(large, "neural") == list(large.points)
    assert "unlabelled" not in here.points_needed(small, small.points[0])
    here.learners["kernel"].only.append({"degree": [4]})
    one = dataclasses.replace(here)
    assert [point.coordinates["degree"] for point in one.points_of(small)] == [4]
    assert [point["coordinates"] for point in jobs.generate(one, small)["points"]] == [{"dimension": 4, "degree": 4}]
    assert [point["coordinates"] for point in jobs.represent(one, small, "neural")["points"]] == [
        {"dimension": 4, "degree": 4}
    ]


def test_swept_parameters_are_coordinates():
    here = study()
    assert list(here.coordinates) == ["learner", "dimension", "degree", "width", "start", "samples", "seed"]
    assert here.coordinates["width"] == [4, 8]
    assert here.coordinates["samples"] == [2, 4, 8, 16, 32]
    variants = here.variants("quad", here.tasks["dimension-4"].points[0])
    assert [variant["name"] for variant in variants] == ["width-4_start-0.1", "width-8_start-0.1"]
    assert variants[1]["learner"]["width"] == 8
    assert [variant["name"] for variant in here.variants("kernel", here.tasks["dimension-4"].points[0])] == ["only"]


def test_a_job_names_every_component_it_uses():
    here = study()
    task = here.tasks["dimension-4"]
    assert jobs.components_of(jobs.train(here, task, "kernel")) == (
        ("inputs", "sphere"),
        ("kernels", "ntk_raw"),
        ("learners", "kernel_ridge"),
        ("representations", "raw"),
        ("teachers", "ridge_polynomial"),
    )
    assert jobs.components_of(jobs.generate(here, task)) == (("inputs", "sphere"), ("teachers", "ridge_polynomial"))
    assert ("kernels", "ntk_raw") in jobs.components_of(jobs.evaluate(here, task))


def test_cells_out_of_reach_are_handed_to_the_scores():
    here = study()
    limited = jobs.evaluate(here, here.tasks["dimension-6"])["limited"]
    assert limited == {"kernel": [{"dimension": 6, "degree": 2}, {"dimension": 6, "degree": 4}], "quad": []}


def test_a_probe_has_a_grid_of_its_own():
    probe = {"probe": {"name": "deterministic_equivalent"}, "axes": {"dimension": [10, 100, 1000]}}
    parameters = jobs.probe(study(probes={"theory": probe}), "theory")
    assert parameters["axes"] == {"dimension": [10, 100, 1000], "degree": [2, 4]}
    assert len(parameters["points"]) == 6
    assert parameters["probe"]["ridges"] == [0.0]


@pytest.mark.parametrize(
    ("coordinates", "name"),
    [
        ({}, ""),
        ({"label_noise": 0.5}, "label-noise-0.5"),
        ({"dimension": 6, "basis": "monomial"}, "dimension-6_basis-monomial"),
    ],
)
def test_coordinates_make_a_name_for_files(coordinates, name):
    assert label(coordinates) == name


def test_sample_sizes_may_be_listed_and_may_count_what_is_learned():
    listed = study()
    sizes_ = [7, {"coefficient": 0.5, "of": "harmonic_dimension"}, {"coefficient": 1, "of": "dimension", "power": 1.5}]
    listed.learners["kernel"] = dataclasses.replace(listed.learners["kernel"], samples={"at": sizes_})
    quadratic, quartic = listed.tasks["dimension-4"].points
    assert (quadratic.coordinates["degree"], quartic.coordinates["degree"]) == (2, 4)
    # N(4, 2) = 9 and N(4, 4) = 25
    assert listed.sample_sizes("kernel", quadratic) == [4, 7, 8]
    assert listed.sample_sizes("kernel", quartic) == [7, 8, 12]


def test_a_learner_searches_near_a_size_but_visits_every_one_where_a_curve_is_asked_for():
    here = study(samples={"per_doubling": 1, "thresholds": [0.5, 0.1], "curves": [{"dimension": 6, "degree": 2}]})
    near = {"near": {"coefficient": 2, "of": "dimension"}, "cap": 16}
    here.learners["kernel"] = dataclasses.replace(here.learners["kernel"], samples=near)
    quadratic, quartic = here.tasks["dimension-6"].points
    assert here.search("kernel", quartic) == {"near": 12, "thresholds": [0.5, 0.1]}
    assert here.search("kernel", quadratic) is None
    assert here.sample_sizes("kernel", quartic) == here.sample_sizes("kernel", quadratic) == [1, 2, 4, 8, 16]
    here.learners["kernel"] = dataclasses.replace(here.learners["kernel"], samples=near | {"thresholds": [0.1]})
    assert here.search("kernel", quartic) == {"near": 12, "thresholds": [0.1]}
    assert here.search("quad", quartic) is None
    here.learners["kernel"] = dataclasses.replace(here.learners["kernel"], samples=near | {"curves": False})
    assert here.search("kernel", quadratic) == {"near": 12, "thresholds": [0.5, 0.1]}


def test_counted_dimensions_are_those_of_the_degree():
    known = sizes(4, 4)
    assert (known["harmonic_dimension"], known["polynomial_dimension"], known["quad_raw_dimension"]) == (25, 14, 36)
    assert set(sizes(4)) == {"dimension", "quadratic_dimension"}


def test_an_axis_of_the_representation_leaves_the_problem_as_it_is():
    neural = {"name": "neural", "unlabelled": {"coefficient": 3, "of": "features"}}
    scan = study(axes={"dimension": [4], "count": [10, 20]}, split_jobs_by=[], representations={"neural": neural})
    few, many = scan.tasks["all"].points
    assert few.problem == many.problem
    assert [scan.representation("neural", point)["count"] for point in (few, many)] == [10, 20]
    assert [scan.representation("neural", point)["unlabelled"] for point in (few, many)] == [30, 60]
    assert scan.representation("raw", few) == scan.representation("raw", many)


def test_a_swept_choice_leaves_one_value_to_choose_from():
    here = study()
    here.learners["kernel"] = dataclasses.replace(here.learners["kernel"], select={}, sweep={"ridge": [0.1, 0.2]})
    variants = here.variants("kernel", here.tasks["dimension-4"].points[0])
    assert [variant["choices"] for variant in variants] == [{"ridge": [0.1]}, {"ridge": [0.2]}]
    assert variants[0]["learner"] == variants[1]["learner"]
    assert here.coordinates["ridge"] == [0.1, 0.2]


def test_the_claims_of_a_study_rest_on_every_job_before_them(content, check):
    def judged(path, value):
        study, faults = check(put(content, path, value))
        assert not faults
        return jobs.judge(study)

    same = judged("title", "A study")
    for path, value in (
        ("learners.linear.select.ridge", [0.2]),
        ("representations.neural.unlabelled", 100),
        ("probes.theory.probe.thresholds", [0.5, 0.2]),
        ("seeds", 3),
    ):
        assert judged(path, value)["rests_on"] != same["rests_on"], path
    assert judged("claims.C1-kernel.test", "<= 2")["rests_on"] == same["rests_on"]


def test_claims_on_probes_alone_rest_on_no_data_and_no_scores(content, check, monkeypatch):
    for section in ("learners", "representations", "split_jobs_by", "presets"):
        del content[section]
    del content["claims"]["C1-kernel"]
    content["figure"] = panel()
    study, faults = check(content)
    assert not faults and study.probes
    before = jobs.rests_on(study)
    known = jobs.code
    monkeypatch.setattr(jobs, "code", lambda rule, components: f"{rule}, changed")
    changed = jobs.rests_on(study)
    of_probes = lambda rule, components: "changed" if rule != "probe" else known(rule, components)  # noqa: E731
    monkeypatch.setattr(jobs, "code", of_probes)
    assert jobs.rests_on(study) == before != changed
