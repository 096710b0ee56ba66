"""The one object that the rules of the workflow ask, and what stands before the first of them."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hierlearn.plan.cluster import Requests
from hierlearn.plan.configuration import configure
from hierlearn.plan.inputs import Inputs
from hierlearn.plan.registration import Line
from hierlearn.plan.targets import Targets
from hierlearn.run.job import MEMORY_VARIABLES


@dataclass(frozen=True)
class Rules:
    """What rules ask. targets: files by their names; inputs: what jobs read and are; requests: what jobs need."""

    targets: Targets
    inputs: Inputs
    requests: Requests
    warnings: tuple[str, ...] = ()
    # Lines of registered.csv, and where it lies.
    registered: tuple[Line, ...] = ()
    register: Path = Path("config/registered.csv")

    @classmethod
    def of(cls, config: Mapping[str, Any], workflow: Path) -> "Rules":
        """The rules of a configuration; ends the process with a line for every fault that it has.

        workflow: the folder of the package, with the studies in config/studies beside it.
        """
        folder = workflow.parent / "config"
        plan = configure(config, Path("config/config.yaml"), folder / "studies")
        targets = Targets(plan.settings, plan.studies)
        return cls(
            targets, Inputs(targets), Requests(plan.studies), plan.warnings, plan.registered, folder / "registered.csv"
        )

    @property
    def results(self) -> str:
        """The folder of all results."""
        return self.targets.results

    @property
    def keep_models(self) -> bool:
        """Whether trained models stay on disk."""
        return self.targets.settings["keep_models"]

    def warn(self) -> None:
        """Print what is doubtful in the studies."""
        for warning in self.warnings:
            print(warning, file=sys.stderr)


def set_environment(workflow: Path) -> None:
    """Let every job find the package, and give equal bytes even where a library writes the words of a set."""
    paths = [str(workflow), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    for name, value in {"PYTHONHASHSEED": "0", **MEMORY_VARIABLES}.items():
        os.environ.setdefault(name, value)
