"""The linter's rules hold in all files: those of style, and that data are never code."""

import subprocess
import sys

import pytest

from hierlearn.core.registry import PACKAGE

ROOT = PACKAGE.parents[1]
FOLDERS = ("workflow", "tests", "benchmarks", "envs", "docs", "examples")


def ruff(*words: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the linter in the project with its settings."""
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format", "concise", *words]
    return subprocess.run(command, cwd=ROOT, input=text, text=True, capture_output=True, check=False)


def test_the_linter_finds_nothing():
    done = ruff(*FOLDERS)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "import joblib.externals",
        "from cloudpickle import loads",
        "import torch\ntorch.load(f)",
        "from torch import load",
        "import yaml\nyaml.load(f, yaml.Loader)",
        "import yaml\nyaml.load(f, Loader=yaml.FullLoader)",
        "import yaml\nyaml.unsafe_load(f)",
        "from yaml import full_load",
        "eval(text)",
        "def f():\n    exec(text)",
        "import subprocess\nsubprocess.run(text, shell=True)",
    ],
)
def test_code_out_of_data_is_noticed(text):
    found = ruff("--stdin-filename", "workflow/hierlearn/pipeline/run/some.py", "-", text=text).stdout
    assert any(f" {rule} " in found for rule in ("TID251", "S102", "S301", "S307", "S506", "S602")), found


def test_private_attributes_of_others_are_noticed_but_in_their_one_file():
    text = "def f(workflow):\n    return workflow._dag\n"
    inside = "workflow/hierlearn/pipeline/run/insides.py"
    assert "SLF001" in ruff("--stdin-filename", "workflow/hierlearn/pipeline/run/job.py", "-", text=text).stdout
    assert ruff("--stdin-filename", inside, "-", text=text).returncode == 0
