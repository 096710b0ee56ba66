"""What a wrong component is told: one line with its file, its method, what was found and what is expected."""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
import pytest

from hierlearn.core import contracts
from hierlearn.core.contracts import BrokenContract
from hierlearn.core.protocols import STATUS, Fit, NullMonitor, TrainingData
from hierlearn.core.streams import Streams
from hierlearn.pipeline.files.netcdf import Variable

STREAMS = Streams(("boundary",), (3, 5))
X = np.ones((2, 4, 6), np.float32)
HERE = r"tests/unit/test_boundary\.py:\d+: "


@dataclass
class Component:
    """Answers whatever it is asked with the same."""

    answer: object
    outputs: int = 1
    MEASURES: ClassVar[dict] = {"movement": "of the weights"}
    TRACES: ClassVar[dict] = {"loss": "on the training points"}

    class Choices:
        ridge: Annotated[float, "In units of the mean diagonal."]

    def sample(self, streams, role, start, count):
        return self.answer

    def rows(self, streams, role, start, count):
        return None

    def draw(self, streams, inputs):
        return self.answer

    def target(self, state, x):
        return self.answer

    def norm(self, state, inputs):
        return self.answer

    def bases(self, state, x):
        return self.answer

    def fit(self, *given):
        return self.answer

    def apply(self, state, x):
        return self.answer

    def predict(self, state, seen, role, count, cache):
        return self.answer

    def measure(self, problem):
        return self.answer

    def __call__(self, x, z=None):
        return self.answer


def with_one(values, wrong):
    """The same values with one of them replaced."""
    values = values.copy()
    values.flat[1] = wrong
    return values


ASKED = {
    "sample": lambda component: contracts.points(component, STREAMS, "test", 0, 4),
    "draw": lambda component: contracts.teacher_state(component, STREAMS, None),
    "target": lambda component: contracts.target(component, {}, X),
    "norm": lambda component: contracts.norm(component, {}, None, 2),
    "bases": lambda component: contracts.bases(component, {}, X),
    "fit": lambda component: contracts.representation_state(component, X, STREAMS),
    "apply": lambda component: contracts.features(component, {}, X),
    "predict": lambda component: contracts.predictions(component, {}, None, "test", (2, 4, 1), {}),
    "__call__": lambda component: contracts.gram(component, X[0], X[1]),
}
SOUND = {
    "sample": X,
    "draw": {"weights": np.ones((2, 3))},
    "target": np.ones((2, 4, 1)),
    "norm": np.ones(2),
    "bases": np.ones((2, 4, 7)),
    "fit": {"spectrum": np.ones((2, 3)), "rank": np.arange(2)},
    "apply": np.ones((2, 4, 9), np.float32),
    "predict": np.ones((2, 4, 1)),
    "__call__": np.ones((4, 4)),
}


@pytest.mark.parametrize("method", ASKED)
def test_a_sound_answer_is_handed_on_as_it_is(method):
    assert ASKED[method](Component(SOUND[method])) is SOUND[method]


@pytest.mark.parametrize(
    ("method", "answer", "message"),
    [
        ("sample", X[:, :3], r"found float32 of shape \(2, 3, 6\); expected float32 of shape \(2, 4, d, \.\.\.\)"),
        ("sample", X[:1], r"found float32 of shape \(1, 4, 6\)"),
        ("sample", X[..., 0], r"found float32 of shape \(2, 4\)"),
        ("sample", X.astype(float), r"found float64 of shape"),
        ("sample", with_one(X, np.inf), "found 1 of 48 values that are not finite; expected finite values"),
        ("draw", np.ones(2), "found float64 of shape .*; expected a dict of arrays by name"),
        ("draw", {"weights": np.ones((3, 2))}, r"found 'weights' float64 of shape \(3, 2\); .* \(2, \.\.\.\)"),
        ("draw", {"weights": [1.0, 2.0]}, "found 'weights' a list; expected numbers of shape"),
        ("draw", {"weights": np.full(2, np.nan)}, "found 'weights' 2 of 2 values that are not finite"),
        ("target", np.ones((2, 4)), r"found float64 of shape \(2, 4\); expected float of shape \(2, 4, 1\)"),
        ("target", np.ones((2, 4, 2)), r"found float64 of shape \(2, 4, 2\)"),
        ("target", np.ones((2, 4, 1), int), r"found int64 of shape \(2, 4, 1\); expected float"),
        ("target", np.full((2, 4, 1), np.nan), "found 8 of 8 values that are not finite"),
        ("norm", np.ones(()), r"found float64 of shape \(\); expected float of shape \(2,\)"),
        ("norm", 1.0, r"found a float; expected float of shape \(2,\)"),
        ("norm", np.array([1.0, 0.0]), "found 0; expected positive norms"),
        ("norm", np.array([1.0, np.inf]), "not finite"),
        ("bases", np.ones((2, 3, 7)), r"expected float of shape \(2, 4, b\)"),
        ("bases", np.ones((2, 4)), r"expected float of shape \(2, 4, b\)"),
        ("fit", {"spectrum": np.ones(3)}, r"found 'spectrum' float64 of shape \(3,\)"),
        ("fit", None, "found nothing; expected a dict"),
        ("apply", np.ones((2, 4, 9)), r"found float64 of shape \(2, 4, 9\); expected float32 of shape \(2, 4, D"),
        ("apply", np.full((2, 4, 9), np.nan, np.float32), "72 of 72 values that are not finite"),
        ("predict", np.ones((2, 4)), r"found float64 of shape \(2, 4\); expected float of shape \(2, 4, 1\)"),
        ("predict", np.ones((2, 4, 1), complex), "found complex128 of shape"),
        ("predict", None, r"found nothing; expected float of shape \(2, 4, 1\)"),
        ("__call__", np.ones((4, 3)), r"found float64 of shape \(4, 3\); expected float of shape \(4, 4\)"),
        ("__call__", np.full((4, 4), np.nan), "16 of 16 values that are not finite"),
    ],
)
def test_a_wrong_answer_is_one_line_with_file_and_method(method, answer, message):
    with pytest.raises(BrokenContract, match=f"^{HERE}{method}: .*{message}") as refused:
        ASKED[method](Component(answer))
    assert "\n" not in str(refused.value)


def test_predictions_that_are_not_finite_are_data():
    answer = np.full((2, 4, 1), np.nan)
    assert ASKED["predict"](Component(answer)) is answer


def test_a_kernel_of_points_that_are_not_finite_may_be_so_too():
    contracts.gram(Component(np.full((4, 4), np.nan)), np.full((4, 6), np.nan))


def sound_fit(**changes):
    fit = Fit(
        state={"weights": np.full((2, 3), np.nan)},
        status=np.zeros(2, np.int8),
        validation_risk=np.ones(2),
        train_risk=np.ones(2),
        choices={"ridge": np.ones(2)},
        measures={"movement": np.ones(2)},
        trace={"step": np.tile([0, 10], (2, 1)), "loss": np.ones((2, 2))},
        flops=np.ones(2),
    )
    return replace(fit, **changes)


def entered(fit):
    return contracts.fit(Component(fit), TrainingData(None, None, 8, {}, STREAMS), NullMonitor(), {})


def certificate(**changes):
    names = ("gradient_norm", "smallest_curvature", "certificate_error")
    return {name: np.ones(2) for name in names} | {"stationary": np.array([0, 1])} | changes


@pytest.mark.parametrize("fit", [sound_fit(), sound_fit(certificate=certificate()), sound_fit(trace={}, flops=None)])
def test_a_whole_fit_enters(fit):
    assert entered(fit).status.tolist() == [STATUS["ok"]] * 2


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (None, "found nothing; expected a Fit"),
        (
            sound_fit(status=np.zeros(3, np.int8)),
            r"found status int8 of shape \(3,\); expected integers of shape \(2,\)",
        ),
        (sound_fit(status=np.zeros(2)), "found status float64 of shape"),
        (sound_fit(status=np.array([0, 99])), r"found status \[99\]; expected 0 \(ok\), 4 \(not_converged\), 5"),
        (sound_fit(status=np.array([0, STATUS["over_cap"]])), r"found status \[2\]"),
        (sound_fit(validation_risk=np.ones((2, 1))), r"found validation_risk float64 of shape \(2, 1\)"),
        (sound_fit(train_risk=np.float64(1.0)), "found train_risk a float64"),
        (sound_fit(train_risk=np.array([1.0, -0.5])), "found train_risk -0.5; expected no negative numbers"),
        (sound_fit(choices={"ridge": 0.1}), "found ridge a float"),
        (sound_fit(choices={"width": np.ones(2)}), "found choices 'width'; expected one of ridge, which its class"),
        (
            sound_fit(measures={"speed": np.ones(2)}),
            "found measures 'speed'; expected one of movement, which its class",
        ),
        (
            sound_fit(trace={"step": np.ones((2, 1)), "risk": np.ones((2, 1))}),
            "found trace 'risk'; expected one of step",
        ),
        (sound_fit(choices=[0.1]), "found choices a list; expected a dict of arrays"),
        (sound_fit(measures={"movement": np.ones(3)}), r"found movement float64 of shape \(3,\)"),
        (sound_fit(state={"weights": np.ones((3, 2))}), r"found 'weights' float64 of shape \(3, 2\)"),
        (sound_fit(trace={"loss": np.ones((2, 2))}), "found a trace of loss; expected 'step' among them"),
        (sound_fit(trace={"step": np.ones((2, 3)), "loss": np.ones((2, 2))}), r"found loss float64 of shape \(2, 2\)"),
        (sound_fit(certificate={"gradient_norm": np.ones(2)}), "found a certificate of gradient_norm; expected"),
        (sound_fit(certificate=certificate(stationary=np.array([0, 7]))), r"found stationary \[7\]; expected 0 \(no\)"),
        (sound_fit(flops=np.ones(1)), r"found flops float64 of shape \(1,\)"),
    ],
)
def test_a_fit_that_is_not_whole_is_one_line(fit, message):
    with pytest.raises(BrokenContract, match=f"^{HERE}fit: {message}"):
        entered(fit)


def test_a_seed_whose_risks_are_not_finite_has_diverged_where_nothing_is_said():
    status = [STATUS[name] for name in ("ok", "not_converged")]
    fit = sound_fit(status=np.array(status), validation_risk=np.array([np.nan, 1.0]), train_risk=np.array([1, np.inf]))
    assert entered(fit).status.tolist() == [STATUS["diverged"]] * 2
    singular = sound_fit(status=np.full(2, STATUS["singular"]), validation_risk=np.full(2, np.nan))
    assert entered(singular).status.tolist() == [STATUS["singular"]] * 2


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ({"ratio": Variable(("seed",), np.ones(2))}, "found ratio over 'seed' without its values"),
        ({"other": Variable((), np.ones(()))}, "found 'other'; expected one of ratio, slack, width"),
        ({"ratio": Variable((), np.ones(())), "width": Variable(("width",), np.arange(3))}, "found no 'slack'"),
        ({"ratio": Variable((), np.array("words"))}, "found ratio <U5 of shape"),
        ({"ratio": np.ones(3)}, r"found ratio float64 of shape \(3,\); expected a Variable"),
        (np.ones(3), "expected a dict of arrays by name"),
    ],
)
def test_a_probe_measures_what_it_declares(found, message):
    with pytest.raises(BrokenContract, match=f"^{HERE}measure: .*{message}"):
        contracts.measures(Component(found), None, {"ratio": "a", "slack": "b"}, {"width": "widths"})


class Cubic(Component):
    """E f^2 = 15 for normal x."""

    def sample(self, streams, role, start, count):
        return streams.rows(start, count, lambda generator, rows: generator.standard_normal((rows, 2), np.float32))

    def target(self, state, x):
        return state["factor"][:, None, None] * x[..., :1].astype(float) ** 3


def checked(norms, factor=1.0, **changes):
    cubic = Cubic(np.array(norms), **changes)
    contracts.norm_of_points(
        cubic, {"factor": np.full(len(norms), factor)}, cubic, Streams(("n",), tuple(range(len(norms))))
    )


def test_a_norm_that_points_confirm_is_let_through():
    checked([15**0.5] * 3)
    checked([2 * 15**0.5] * 3, factor=2.0)
    checked([1.15 * 15**0.5] * 3)


@pytest.mark.parametrize("factor", [4.0, 1.5, 0.6, 0.25])
def test_a_norm_of_another_size_is_refused(factor):
    with pytest.raises(
        BrokenContract, match=f"^{HERE}norm: found .* for seed 0; expected 3.*the L2 norm of the target"
    ):
        checked([factor * 15**0.5] * 3)


def test_the_norm_of_one_seed_is_refused_by_itself():
    with pytest.raises(BrokenContract, match="norm: found 15 for seed 2; expected"):
        checked([15**0.5, 15**0.5, 15.0])


def test_a_norm_that_hangs_on_points_which_no_sample_shows_is_let_through():
    class Rare(Cubic):
        def target(self, state, x):
            return np.exp(4.0 * x[..., :1].astype(float))

    # E exp(8 x) = exp(32), of which thousands of points show less than a thousandth.
    rare = Rare(np.full(3, np.exp(16.0)))
    contracts.norm_of_points(rare, {}, rare, Streams(("n",), (0, 1, 2)))


def test_the_check_draws_a_bounded_number_of_points():
    class Wide(Cubic):
        def sample(self, streams, role, start, count):
            assert len(streams.seeds) == 1
            asked.append(count)
            return np.broadcast_to(np.float32(1.0), (1, count, 4000))

        def target(self, state, x):
            return np.ones((*x.shape[:2], 1))

    asked, wide = [], Wide(np.ones(2))
    contracts.norm_of_points(wide, {}, wide, Streams(("n",), (0, 1)))
    assert max(asked) * 4000 <= contracts.NORM_NUMBERS


def test_a_component_inherits_the_place_of_its_method():
    class Heir(Component):
        pass

    with pytest.raises(BrokenContract, match=f"^{HERE}target: "):
        contracts.target(Heir(None), {}, X)


@pytest.mark.parametrize(
    ("method", "answer", "message"),
    [
        ("rows", np.zeros((2, 3), int), r"rows: found int64 of shape \(2, 3\); expected integers of shape \(2, 4\)"),
        ("rows", np.zeros((2, 4)), "rows: found float64 of shape"),
        ("of_rows", np.zeros((2, 3, 6), np.float32), r"of_rows: found float32 of shape \(2, 3, 6\)"),
        ("target_of_rows", np.full((2, 4, 1), np.nan), "of_rows: found 8 of 8 values that are not finite"),
    ],
)
def test_rows_of_a_finite_set_and_what_belongs_to_them_are_checked(method, answer, message):
    class Finite(Component):
        def rows(self, streams, role, start, count):
            return self.answer

        def of_rows(self, *given):
            return self.answer

    numbers, finite = np.zeros((2, 4), int), Finite(answer)
    asked = {
        "rows": lambda: contracts.rows(finite, STREAMS, "test", 0, 4),
        "of_rows": lambda: contracts.points_of_rows(finite, numbers),
        "target_of_rows": lambda: contracts.target_of_rows(finite, None, numbers),
    }
    with pytest.raises(BrokenContract, match=message) as refused:
        asked[method]()
    assert "\n" not in str(refused.value)


def test_what_a_problem_draws_goes_through_the_boundary():
    from hierlearn.core.problem import pose

    teacher = Component(np.ones((2, 4)))
    teacher.draw, teacher.norm = lambda streams, inputs: {}, lambda state, inputs: np.ones(2)
    problem = pose(Component(X), teacher, "unit", 0.0, STREAMS)
    with pytest.raises(BrokenContract, match="target: "):
        problem.draw("test", 4)
