"""What is computed in another way where a GPU has one network, tried on the processor."""

import numpy as np
from test_solvers_convolutional import CASES, every, training

from hierlearn.solvers.convolutional import model
from hierlearn.solvers.convolutional.recipe import Phase


@every
def test_the_steps_are_those_that_many_networks_take(case, monkeypatch):
    net, found = CASES[case], {}
    depth, trained = len(net.layers), max(1, len(net.layers) - 1)
    parts = [Phase(trained, 0, 1), Phase(depth, 0, 3, pull=True)]
    for alone in (False, True):
        monkeypatch.setattr(model, "_is_alone_on_gpu", lambda x, alone=alone: alone)
        one = training(net, parts, seeds=(1,), rates=0.001, pull=300.0, milestones=(0.5,))
        one.is_alone_on_gpu = alone
        # The head of the second phase is another one.
        before = {name: values for name, values in one.model(0).items() if not name.startswith("head")}
        one.advance(1)
        one.advance(4)
        found[alone] = {name: one.model(0)[name] - values for name, values in before.items()}
    for name, moved in found[False].items():
        apart = np.linalg.norm(found[True][name] - moved)
        assert apart < 1e-2 * np.linalg.norm(moved), (name, apart / np.linalg.norm(moved))
