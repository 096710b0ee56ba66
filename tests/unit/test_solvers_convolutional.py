"""Convolutional networks in batches against torch's own layers and optimiser, and phases against what may move."""

import numpy as np
import pytest
import torch
from torch import nn

from hierlearn.solvers.convolutional import architecture
from hierlearn.solvers.convolutional.architecture import Architecture, Misfit
from hierlearn.solvers.convolutional.recipe import Augmentation, Phase, Recipe, phases
from hierlearn.solvers.convolutional.training import ConvolutionalTraining, Points

SEEDS, POINTS, CLASSES = 2, 24, 4


def generators(seed, *words):
    return np.random.default_rng([seed, *(ord(letter) for word in words for letter in str(word))])


def network(name, shape, depth, width, **others):
    return Architecture(shape, architecture.build(name, shape, depth, width), **others)


CASES = {
    "patches": network("patches", (3, 1, 8), 3, 16, head="flat"),
    "dense": network("dense", (18, 1, 1), 2, 16),
    "circular, linked": network("circular", (2, 1, 8), 2, 16, links=True),
    "plain": network("plain", (1, 8, 8), 3, 16),
    "plain of means, linked": network("plain", (1, 8, 8), 3, 16, pooling="mean", links=True),
    "quadratic, linked": network("plain", (2, 6, 6), 2, 16, activation="quadratic", links=True),
    "wide plain": network("plain", (1, 6, 6), 2, 48),
    "vgg": network("vgg", (3, 32, 32), 6, 16),
    "wide_resnet": network("wide_resnet", (3, 8, 8), 6, 16),
    "wide_resnet, linked": network("wide_resnet", (3, 8, 8), 4, 16, links=True),
    "quadratic wide_resnet": network("wide_resnet", (3, 8, 8), 4, 16, activation="quadratic", links=True),
}
every = pytest.mark.parametrize("case", CASES)


class Quadratic(nn.Module):
    def forward(self, z):
        return z + 0.1 * z**2


class Block(nn.Module):
    """A layer in torch's own words, channels first."""

    def __init__(self, net, index):
        super().__init__()
        self.layer, self.relu, self.pooling = net.layers[index], net.activation == "relu", net.pooling
        self.convolutions = nn.ModuleList(
            nn.Conv2d(c.inputs, c.outputs, c.kernel, c.stride, c.padding, bias=False) for c in self.layer.convolutions
        )
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for channels in net.norms(index))
        c = self.layer.shortcut
        self.shortcut = None if c is None else nn.Conv2d(c.inputs, c.outputs, 1, c.stride, bias=False)

    def forward(self, x):
        if self.layer.kind == "residual" and self.relu:
            entered = torch.relu(self.norms[0](x))
            found = self.convolutions[1](torch.relu(self.norms[1](self.convolutions[0](entered))))
            return found + (x if self.shortcut is None else self.shortcut(entered))
        found = x
        for i, convolution in enumerate(self.convolutions):
            around = self.layer.convolutions[i].wrap
            found = convolution(nn.functional.pad(found, (0, around, 0, 0), mode="circular"))
            if not self.relu:
                found = self.norms[i](Quadratic()(found))
            elif self.layer.kind == "plain":
                found = torch.relu(self.norms[i](found))
        if self.layer.kind == "residual":
            return found + (x if self.shortcut is None else self.shortcut(x))
        if self.layer.whole:
            return found.mean(dim=(2, 3), keepdim=True)
        if self.layer.pool == 1:
            return found
        return (nn.MaxPool2d if self.pooling == "max" else nn.AvgPool2d)(self.layer.pool)(found)


class Plain(nn.Module):
    def __init__(self, net, outputs):
        super().__init__()
        self.net = net
        self.blocks = nn.ModuleList(Block(net, i) for i in range(len(net.layers)))
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for channels in net.head_norms)
        self.out = nn.Linear(net.features(), outputs)

    def forward(self, x):
        seen = []
        for block in self.blocks:
            x = block(x)
            seen.append(x)
        parts, norms = [], iter(self.norms)
        for i in self.net.linked:
            part = seen[i]
            if self.net.activation == "relu" and self.net.layers[i].kind != "plain":
                part = torch.relu(next(norms)(part))
            parts.append(part.mean(dim=(2, 3)) if self.net.head == "mean" else part.permute(0, 2, 3, 1).flatten(1))
        return self.out(torch.cat(parts, dim=1))

    def names(self):
        """Ours of its parameters and running statistics."""
        found = {self.out.weight: "head_weight", self.out.bias: "head_bias"}
        places = [(f"layer{i}", block) for i, block in enumerate(self.blocks)] + [("head", self)]
        for place, module in places:
            for j, norm in enumerate(module.norms):
                pairs = (
                    (norm.weight, "scale"),
                    (norm.bias, "shift"),
                    (norm.running_mean, "mean"),
                    (norm.running_var, "variance"),
                )
                found |= {tensor: f"{place}_{word}{j}" for tensor, word in pairs}
            if place != "head":
                found |= {c.weight: f"{place}_weight{j}" for j, c in enumerate(module.convolutions)}
                found |= {} if module.shortcut is None else {module.shortcut.weight: f"{place}_shortcut"}
        return found

    def load(self, weights):
        with torch.no_grad():
            for tensor, name in self.names().items():
                tensor.copy_(self.ours(tensor, torch.tensor(weights[name])))

    @staticmethod
    def ours(tensor, values):
        """Our layout of weights as torch's."""
        if tensor.ndim == 4:
            outputs, inputs, high, wide = tensor.shape
            return values.view(high, wide, inputs, outputs).permute(3, 2, 0, 1)
        return values.T if tensor.ndim == 2 else values.reshape(tensor.shape)


def recipe(net, the_phases, **others):
    given = {"outputs": CLASSES, "loss": "cross_entropy", "batch": 8, "momentum": 0.9} | others
    return Recipe(network=net, phases=tuple(the_phases), **given)


def points(net, labels=None):
    generator, (channels, *size) = np.random.default_rng(5), net.shape
    x = generator.standard_normal((SEEDS, POINTS, *size, channels)).astype(np.float32)
    classes = generator.integers(0, CLASSES, (SEEDS, POINTS, 1))
    labels = np.where(classes == np.arange(CLASSES), 1, -1).astype(np.float32) if labels is None else labels
    return Points(x, labels, generators)


def training(net, the_phases, seeds=(0, 1), rates=0.1, decay=0.01, data=None, **others):
    rates = np.broadcast_to(np.float32(rates), len(seeds))
    decays = np.full(len(seeds), decay, np.float32)
    data = points(net) if data is None else data
    return ConvolutionalTraining(recipe(net, the_phases, **others), data, seeds, rates, decays, "cpu")


@every
def test_outputs_and_steps_are_those_of_torch(case):
    net = CASES[case]
    data, trained = points(net), training(net, [Phase(len(net.layers), 0, 4)])
    plain = [Plain(net, CLASSES) for _ in range(SEEDS)]
    for seed, one in enumerate(plain):
        one.load(trained.model(seed))
    for step in range(1, 4):
        trained.advance(step)
    for seed, one in enumerate(plain):
        optimiser = torch.optim.SGD(one.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)
        order = generators(seed, "order", 0, 0).permutation(POINTS)
        x = torch.tensor(data.x[seed]).permute(0, 3, 1, 2)
        for step in range(3):
            rows = order[step * 8 : step * 8 + 8]
            optimiser.zero_grad()
            nn.functional.cross_entropy(one(x[rows]), torch.tensor(data.labels[seed, rows].argmax(axis=1))).backward()
            optimiser.step()
        ours = trained.model(seed)
        for tensor, name in one.names().items():
            wanted = Plain.ours(tensor, torch.tensor(ours[name])).numpy()
            np.testing.assert_allclose(tensor.detach().numpy(), wanted, rtol=2e-3, atol=2e-4, err_msg=name)
        one.eval()
        with torch.no_grad():
            np.testing.assert_allclose(trained.outputs(data.x)[seed], one(x).numpy(), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_the_slope_of_a_loss_is_that_of_its_formula(loss):
    net = CASES["patches"]
    labels = np.random.default_rng(6).choice([-1.0, 1.0], (SEEDS, POINTS, 1)).astype(np.float32)
    data = points(net, labels)
    one_step = [Phase(3, 0, 1)]
    trained = training(net, one_step, decay=0.0, data=data, loss=loss, outputs=1, batch=POINTS)
    plain = Plain(net, 1)
    plain.load(trained.model(0))
    before = plain.out.weight.detach().clone()
    trained.advance(1)
    y, found = torch.tensor(labels[0]), plain(torch.tensor(data.x[0]).permute(0, 3, 1, 2))
    value = {"squared": ((found - y) ** 2 / 2).mean(), "logistic": torch.log(1 + torch.exp(-y * found)).mean()}[loss]
    value.backward()
    moved = torch.tensor(trained.model(0)["head_weight"]).T - before
    np.testing.assert_allclose(moved.numpy(), -0.1 * plain.out.weight.grad.numpy(), rtol=1e-3, atol=1e-6)


@pytest.fixture
def one_thread():
    """As jobs have it: with more, how a product is shared out hangs on how many networks it is of."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@every
def test_a_network_learns_the_same_whoever_is_trained_beside_it(case, one_thread):
    net = CASES[case]
    assert net.is_aligned(8, CLASSES)
    together, alone = (
        training(net, [Phase(len(net.layers), 0, 5)]),
        training(net, [Phase(len(net.layers), 0, 5)], seeds=(1,)),
    )
    for one in (together, alone):
        one.advance(4)
    for name, values in alone.model(0).items():
        assert np.array_equal(values, together.model(1)[name]), name


@pytest.mark.parametrize("links", [False, True])
def test_what_is_at_rest_does_not_move_its_statistics_neither(links):
    net = network("plain", (1, 8, 8), 3, 16, links=links)
    trained = training(net, phases("layerwise", 3, 4))
    kept = trained.model(0)
    for phase in range(3):
        for step in range(4 * phase + 1, 4 * phase + 5):
            trained.advance(step)
        now = trained.model(0)
        moved = {
            name.split("_")[0]
            for name in now
            if name.startswith("layer") and not np.array_equal(now[name], kept.get(name))
        }
        assert moved == {f"layer{phase}"} or phase == 0
        kept = now


def test_kept_outputs_of_layers_at_rest_train_as_those_made_again(monkeypatch):
    net, found = CASES["patches"], []
    for kept in (1 << 26, 0):
        monkeypatch.setattr("hierlearn.solvers.convolutional.training.KEPT", kept)
        trained = training(net, phases("layerwise", 3, 5))
        for step in range(1, 16):
            trained.advance(step)
        found.append(trained.outputs(points(net).x))
    np.testing.assert_allclose(*found, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("schedule", ["staged", "layerwise", "fixed"])
def test_a_training_that_was_stopped_goes_on_to_the_same_bits(schedule):
    net = CASES["plain"]
    the_phases = phases(schedule, 3, 4, trained=2, fixed=1, refit=3)
    others = {"pull": 0.1, "augmentation": Augmentation(1, True, 2)}
    through = training(net, the_phases, **others)
    for step in range(1, through.total + 1):
        through.advance(step)
    for stop in (3, 8, 9, through.total):
        first, second = (training(net, the_phases, **others) for _ in range(2))
        for step in range(1, stop + 1):
            first.advance(step)
        second.restore({name: values.copy() for name, values in first.state().items()})
        for step in range(stop + 1, through.total + 1):
            second.advance(step)
        for name, values in through.model(1).items():
            assert np.array_equal(values, second.model(1)[name]), (stop, name)


def test_schedules_take_as_many_steps_and_add_what_they_say():
    found = {name: phases(name, 3, 5, trained=2) for name in ("joint", "staged", "layerwise", "only", "fixed")}
    assert {sum(phase.steps for phase in one) for one in found.values()} == {15}
    assert [(p.depth, p.rest) for p in found["staged"]] == [(1, 0), (2, 0), (3, 0)]
    assert [(p.depth, p.rest) for p in found["layerwise"]] == [(1, 0), (2, 1), (3, 2)]
    assert [(p.depth, p.rest) for p in found["fixed"]] == [(2, 0), (3, 2)]
    assert [(p.depth, p.rest) for p in phases("fixed", 3, 5, trained=2, fixed=0)] == [(2, 0), (3, 0)]
    assert phases("layerwise", 3, 5, refit=7)[-1] == Phase(3, 3, 7)


def test_a_pull_keeps_layers_nearer_to_where_they_were():
    net, distances = CASES["patches"], []
    for pull in (0.0, 5.0):
        trained = training(net, phases("fixed", 3, 6, trained=1, fixed=0), pull=pull, decay=0.0, rates=0.02)
        for step in range(1, 7):
            trained.advance(step)
        before = trained.model(0)["layer0_weight0"]
        for step in range(7, 19):
            trained.advance(step)
        distances.append(np.linalg.norm(trained.model(0)["layer0_weight0"] - before))
    assert 0 < distances[1] < 0.7 * distances[0]


def test_a_learning_rate_is_divided_at_a_milestone():
    net, moves = CASES["dense"], []
    for milestones in ((), (0.5,)):
        trained = training(net, [Phase(2, 0, 2)], momentum=0.0, decay=0.0, milestones=milestones)
        trained.advance(1)
        before = trained.model(0)["head_weight"]
        trained.advance(2)
        moves.append(trained.model(0)["head_weight"] - before)
    np.testing.assert_allclose(moves[1], moves[0] / 10, rtol=1e-3, atol=1e-7)


def test_published_networks_have_their_layers_and_weights():
    vgg19 = architecture.build("vgg", (3, 32, 32), 16, 64)
    assert [layer.channels for layer in vgg19] == [64] * 2 + [128] * 2 + [256] * 4 + [512] * 8
    assert [i for i, layer in enumerate(vgg19) if layer.pool == 2] == [1, 3, 7, 11, 15]
    assert vgg19[-1].size == (1, 1)
    # WRN-16-4 has 2.75 million weights (Zagoruyko and Komodakis, 2016, table 5).
    net = network("wide_resnet", (3, 32, 32), 7, 64)
    sizes = net.shapes() | net.head_shapes(10)
    assert abs(sum(int(np.prod(size)) for size in sizes.values()) - 2.75e6) < 0.01e6
    assert net.layers[-1].size == (8, 8)


@pytest.mark.parametrize(
    ("name", "shape", "depth", "message"),
    [
        ("patches", (2, 1, 6), 2, "patch.*2 at layer 2, on 1 x 3 places.*a divisor"),
        ("vgg", (3, 16, 16), 6, "depth.*pool 5 times on 16 x 16 places.*at least 32"),
        ("vgg", (3, 32, 32), 4, "depth.*4 layers of vgg.*at least 5"),
        ("wide_resnet", (3, 32, 32), 3, "depth.*3 layers of wide_resnet.*at least 4"),
        ("circular", (1, 4, 4), 2, "architecture.*circular on 4 x 4 places.*a row"),
    ],
)
def test_a_network_that_a_picture_cannot_carry_is_refused(name, shape, depth, message):
    with pytest.raises(Misfit, match=message):
        architecture.build(name, shape, depth, 8)


def test_augmentation_moves_mirrors_and_cuts_what_it_says():
    generator = np.random.default_rng(0)
    x = generator.uniform(1, 2, (64, 6, 6, 2)).astype(np.float32)
    flipped = Augmentation(flip=True).apply(np.random.default_rng(1), x)
    kinds = [np.array_equal(a, b) + 2 * np.array_equal(a, b[:, ::-1]) for a, b in zip(flipped, x, strict=True)]
    assert set(kinds) == {1, 2}
    holes = Augmentation(hole=2).apply(np.random.default_rng(1), x)
    gone = (holes == 0).all(axis=-1)
    assert np.array_equal(holes[~gone], x[~gone])
    assert set(gone.sum(axis=(1, 2)).tolist()) == {1, 2, 4}
    padded = np.pad(x, ((0, 0), (2, 2), (2, 2), (0, 0)))
    cropped = Augmentation(crop=2).apply(np.random.default_rng(1), x)
    places = [
        [(i, j) for i in range(5) for j in range(5) if np.array_equal(padded[k, i : i + 6, j : j + 6], cropped[k])]
        for k in range(64)
    ]
    assert all(len(found) == 1 for found in places)
    assert len({found[0] for found in places}) > 15
