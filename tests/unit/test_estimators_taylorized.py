"""The Taylor model of a torch module: against derivatives by definition, and refusals in one line."""

import numpy as np
import pytest
import torch

from hierlearn.estimators import TaylorizedClassifier, TaylorizedRegressor
from hierlearn.solvers.modules import ModuleTaylor

pytestmark = pytest.mark.filterwarnings("ignore:.*lies at the end of its grid")


def module(outputs=1, seed=0, inputs=3):
    torch.manual_seed(seed)
    parts = torch.nn.Linear(inputs, 6), torch.nn.Softplus(), torch.nn.Linear(6, outputs)
    return torch.nn.Sequential(*parts).double()


def points(n=40, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def moved(net, weights, factor, x):
    """Outputs of the module at its weights plus factor times a displacement."""
    with torch.no_grad():
        own, first = torch.nn.utils.parameters_to_vector(net.parameters()), torch.as_tensor(weights)
        torch.nn.utils.vector_to_parameters(own + factor * first, net.parameters())
        found = net(torch.as_tensor(x)).numpy()
        torch.nn.utils.vector_to_parameters(own, net.parameters())
    return found


@pytest.mark.parametrize("order", [1, 2])
def test_outputs_are_the_taylor_polynomial_of_the_module(order):
    net, x = module(outputs=2), points()
    model = ModuleTaylor(net, order, np.float64)
    weights = np.random.default_rng(1).standard_normal(model.count)
    rest = []
    for factor in (1e-2, 5e-3):
        expected = moved(net, weights, factor, x)
        rest.append(np.max(np.abs(model.outputs(factor * weights, x) - expected)))
    # What is left out is of the next order in the displacement.
    assert rest[0] / rest[1] == pytest.approx(2.0 ** (order + 1), rel=0.1)


def test_order_1_minimises_the_regularised_loss_exactly(monkeypatch):
    net, x = module(outputs=2), points()
    y = np.stack([x[:, 0], x[:, 1] ** 2], axis=1)
    model = ModuleTaylor(net, 1, np.float64)
    found = model.fit(x, y, [1e-1, 1e-3], 1e-6, 10).weights
    eye, start = np.eye(model.count), model.outputs(np.zeros(model.count), x)
    columns = np.stack([model.outputs(one, x) - start for one in eye], axis=-1).reshape(-1, model.count)
    unit = np.mean(np.sum(columns**2, axis=1))
    for ridge, weights in zip([1e-1, 1e-3], found, strict=True):
        normal = columns.T @ columns / len(x) + ridge * unit * eye
        np.testing.assert_allclose(
            weights, np.linalg.solve(normal, columns.T @ (y - start).reshape(-1) / len(x)), atol=1e-7
        )
    monkeypatch.setattr("hierlearn.solvers.modules.KEPT_BYTES", 0)
    monkeypatch.setattr("hierlearn.solvers.modules.BLOCK_POINTS", 7)
    np.testing.assert_allclose(model.fit(x, y, [1e-1, 1e-3], 1e-6, 10).weights, found, atol=1e-9)


def test_order_2_ends_where_the_objective_has_no_slope():
    net, x = module(), points()
    y = x[:, :1] * x[:, 1:2]
    model = ModuleTaylor(net, 2, np.float64)
    path = model.fit(x, y, [1e-2], 1e-13, 2000)
    unit = np.mean(np.sum(model._gradients(model.points(x)) ** 2, axis=1))

    def objective(weights):
        return np.mean((model.outputs(weights, x) - y) ** 2) + 1e-2 * unit * weights @ weights

    w = path.weights[0]
    assert path.settled[0]
    assert objective(w) < objective(np.zeros_like(w))
    for direction in np.random.default_rng(0).standard_normal((5, len(w))):
        slope = (objective(w + 1e-5 * direction) - objective(w - 1e-5 * direction)) / 2e-5
        assert abs(slope) < 1e-4


class TwoTokens(torch.nn.Module):
    """A module of another shape of points, with a buffer and dropout."""

    def __init__(self):
        super().__init__()
        self.norm, self.drop, self.last = torch.nn.BatchNorm1d(2), torch.nn.Dropout(0.5), torch.nn.Linear(6, 1)

    def forward(self, x):
        return self.last(self.drop(torch.tanh(self.norm(x))).flatten(1))[:, 0]


def test_any_module_is_taken_and_stays_as_it_is():
    torch.manual_seed(0)
    net, X = TwoTokens().train(), points(60, 6)
    before = {name: values.clone() for name, values in net.state_dict().items()}
    model = TaylorizedRegressor(net, shape=(2, 3), alphas=[1e-2, 1e-3], random_state=0).fit(X, X[:, 0])
    assert model.score(X, X[:, 0]) > 0.9
    assert net.training
    assert all(torch.equal(values, before[name]) for name, values in net.state_dict().items())


def test_a_function_makes_the_module_and_classes_have_an_output_each():
    X = points(90)
    y = np.array(["a", "b", "c"])[np.argmax(X, axis=1)]
    model = TaylorizedClassifier(lambda d, k: module(k, inputs=d), order=1, alphas=1e-4).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.decision_function(X).shape == (90, 3)


class NoSecond(torch.autograd.Function):
    """A square whose backward pass is no operation that torch differentiates."""

    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(context, slope):
        return 2 * context.saved_tensors[0] * slope


class OfNoSecond(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.last = torch.nn.Linear(3, 1)

    def forward(self, x):
        return NoSecond.apply(self.last(x))


class Rounding(OfNoSecond):
    def forward(self, x):
        return torch.round(self.last(x))


class Detached(OfNoSecond):
    def forward(self, x):
        return self.last(x).detach()


@pytest.mark.parametrize(
    "given, message",
    [
        (
            {"module": Rounding()},
            "module has a derivative of 0 by every weight at the first 8 points; expected weights",
        ),
        ({"module": Detached(), "order": 1}, "module has a derivative of 0 by every weight"),
        ({"module": torch.nn.Flatten()}, "module has no weights; expected weights, and operations"),
        (
            {"module": OfNoSecond()},
            "module has no derivative of order 2 of its forward pass: .*; expected weights, and operations",
        ),
        ({"module": module(3)}, "module gives 3 outputs; expected 1, one for each column"),
        ({"module": module(inputs=5)}, r"module does not take points of shape \(3,\)"),
        ({"module": 3}, "module 3; expected None, a torch module, or a function"),
        ({"order": 3}, "order 3; expected one of 1, 2"),
        ({"shape": (2, 2)}, r"shape \(2, 2\) for 3 features; expected sizes"),
        ({"tol": 0.0}, r"tol 0\.0; expected more than 0"),
    ],
)
def test_what_cannot_be_expanded_is_refused_in_one_line(given, message):
    X = points()
    with pytest.raises(ValueError, match=message) as refused:
        TaylorizedRegressor(**given).fit(X, X[:, 0])
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith("TaylorizedRegressor: ")
