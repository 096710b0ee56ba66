"""What a user has set for the whole of Python, or numpy, changes no result and ends no run."""

import io
import os
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import own_folder
import pytest

from hierlearn.core import contracts, process, registry
from hierlearn.pipeline.run import job, surroundings

HOSTILE = {"divide": "raise", "over": "raise", "under": "raise", "invalid": "raise"}


@pytest.fixture(autouse=True)
def as_before():
    """Settings of the tests' own process come back."""
    with np.errstate(), np.printoptions(), warnings.catch_warnings():
        yield


def spoil():
    np.seterr(**HOSTILE)
    np.set_printoptions(precision=2, legacy="1.13", threshold=1, formatter={"float": lambda value: "x"})


def test_what_is_restored_is_what_numpy_has_when_it_is_loaded():
    code = "import numpy as np; print(np.geterr(), np.get_printoptions())"
    shipped = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True).stdout
    spoil()
    process.restore()
    found = np.get_printoptions()
    assert f"{np.geterr()} {found}\n" == shipped


def test_the_kind_of_number_that_torch_prefers_is_that_of_before():
    torch = pytest.importorskip("torch")
    try:
        with process.kept():
            torch.set_default_dtype(torch.float64)
        assert torch.get_default_dtype() == torch.float32
        torch.set_default_dtype(torch.float64)
        with process.kept():
            torch.set_default_dtype(torch.float32)
        assert torch.get_default_dtype() == torch.float64
        process.restore()
        assert torch.get_default_dtype() == torch.float32
    finally:
        torch.set_default_dtype(torch.float32)


def test_warnings_are_no_errors_after_it_and_others_stay():
    warnings.simplefilter("error")
    process.restore()
    with pytest.warns(RuntimeWarning):
        warnings.warn("nothing", RuntimeWarning, stacklevel=1)
    warnings.resetwarnings()
    warnings.simplefilter("ignore", UserWarning)
    before = list(warnings.filters)
    process.restore()
    assert warnings.filters == before


def test_what_a_component_sets_goes_no_further_than_its_lines(tmp_path, monkeypatch):
    monkeypatch.setenv("HIERLEARN_OWN", "")
    own_folder.write(tmp_path)
    kernel = tmp_path / "kernels" / "cusp.py"
    lines = "np.seterr(all='raise'); np.set_printoptions(precision=1)"
    text = own_folder.KERNEL.replace('        """exp(-sqrt', f'        {lines}\n        """exp(-sqrt')
    kernel.write_text(text + f"\n{lines}\n", encoding="utf-8")
    before = np.geterr(), np.get_printoptions()
    registry.use([tmp_path])
    try:
        cusp = registry.build("kernels", {"name": "cusp"})
        assert (np.geterr(), np.get_printoptions()) == before
        assert contracts._ask(cusp.profile, np.zeros(2)).shape == (2,)
        assert (np.geterr(), np.get_printoptions()) == before
        # Those of a notebook stay as its user has set them.
        np.seterr(**HOSTILE)
        contracts._ask(cusp.profile, np.zeros(2))
        assert np.geterr() == HOSTILE
    finally:
        registry.use(())


JOB = """
import sys, types, warnings
from hierlearn.pipeline.run import job, surroundings
job.start({"snakemake": types.SimpleNamespace(params={}, log=[])})
import matplotlib, numpy
from hierlearn.pipeline.figures import _style
_style.set_look()
print({name: str(value) for name, value in sorted(dict.items(matplotlib.rcParams))})
print(numpy.geterr(), numpy.get_printoptions(), any(one[0] == "error" for one in warnings.filters))
print("\\u0141")
"""
RC = "text.usetex: True\naxes.grid: True\nfont.size: 20\nsavefig.dpi: 33\nbackend: tkagg\ntimezone: Asia/Tokyo\n"


def of_a_job(folder, **variables) -> str:
    """What a job has after its start."""
    environment = {key: value for key, value in os.environ.items() if key not in ("MPLBACKEND", "MATPLOTLIBRC")}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(JOB)], cwd=folder, env=environment | variables, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout.decode("utf-8", errors="replace")


def test_a_job_has_the_same_settings_whatever_the_users_are(tmp_path):
    for name in ("plain", "work", "configuration", "site"):
        (tmp_path / name).mkdir()
    for name in ("work", "configuration"):
        (tmp_path / name / "matplotlibrc").write_text(RC, encoding="utf-8")
    early = "import numpy as np\nnp.seterr(all='raise')\nnp.set_printoptions(precision=2)\n"
    (tmp_path / "site" / "sitecustomize.py").write_text(early, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path / "site"), *filter(None, [os.environ.get("PYTHONPATH")])])
    hostile = {
        "MPLBACKEND": "nonsense",
        "MPLCONFIGDIR": str(tmp_path / "configuration"),
        "MATPLOTLIBRC": str(tmp_path / "configuration"),
        "PYTHONWARNINGS": "error",
        "PYTHONPATH": path,
        "PYTHONIOENCODING": "ascii",
        "LC_ALL": "C",
    }
    plain = of_a_job(tmp_path / "plain", PYTHONIOENCODING="utf-8").splitlines()
    found = of_a_job(tmp_path / "work", **hostile).splitlines()
    assert found[:2] == plain[:2]
    assert (plain[2], found[2]) == ("\u0141", "?")


def test_no_library_takes_other_threads_than_the_job_has():
    named = job.variables("2")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
        assert named[name] == "2"
    assert named["OMP_DYNAMIC"] == "false"


def test_a_backend_that_is_none_is_no_fault_of_a_formula(tmp_path):
    asked = "print(undrawable('$\\\\hat{x}$'), undrawable('$\\\\nix$'))"
    code = f"from hierlearn.pipeline.plan.formulas import undrawable; {asked}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"MPLBACKEND": "nonsense"},
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.startswith("None ") and "None None" not in done.stdout


@pytest.mark.parametrize(
    ("folder", "settings", "line"),
    [
        ("a{x}", b"", "error: path of the project: found { and } in '"),
        ("a:b", b"", "error: path of the project: found : in '"),
        ("a", b"font.family: \xff", "error: matplotlibrc: found a file that cannot be read (line 1 is not UTF-8)"),
        ("a b'\"#$HOME*[c]%s-\u00e9", b"", None),
        ("-a", b"font.size: \xc3\xa9\n", None),
    ],
)
def test_what_surrounds_a_run_and_cannot_be_is_one_line(tmp_path, monkeypatch, folder, settings, line):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    (tmp_path / "matplotlibrc").write_bytes(settings)
    if line is None:
        surroundings.put_in_order(tmp_path / folder / "workflow")
        return
    with pytest.raises(SystemExit) as end:
        surroundings.put_in_order(tmp_path / folder / "workflow")
    assert end.value.code.startswith(line) and "\n" not in end.value.code


def test_a_stream_without_an_encoding_is_left_alone(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    process.replace_letters()


@pytest.mark.parametrize(
    "settings", [{"PYTHONOPTIMIZE": "2"}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}]
)
def test_the_command_explains_itself_whatever_the_settings(tmp_path, settings):
    (tmp_path / "random.py").write_text("raise RuntimeError", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "hierlearn.pipeline.command", "ask", "--help"],
        env=os.environ | settings,
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0 and done.stdout.startswith("usage: hierlearn ask"), done.stderr
