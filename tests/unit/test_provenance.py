"""A change of code changes the hash of exactly those jobs that run it."""

import ast
import shutil
import subprocess
import sys

import pytest

from hierlearn.core import provenance
from hierlearn.core.provenance import PACKAGE, attributes, canonical, closure, code_hash

SCRIPTS = PACKAGE.parent / "scripts"
HASHES = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from hierlearn.core.provenance import code_hash
for script in sorted((Path(sys.argv[1]) / "scripts").glob("*.py")):
    print(script.stem, code_hash([script]))
"""


def hashes(workflow):
    """Hash of every script of a tree, from a fresh interpreter: hashes are kept for the length of a run."""
    done = subprocess.run([sys.executable, "-c", HASHES, str(workflow)], text=True, capture_output=True, check=True)
    return dict(line.split() for line in done.stdout.splitlines())


@pytest.fixture(scope="module")
def workflow(tmp_path_factory):
    folder = tmp_path_factory.mktemp("copy") / "workflow"
    return shutil.copytree(PACKAGE.parent, folder, ignore=shutil.ignore_patterns("__pycache__", ".*"))


@pytest.fixture(scope="module")
def before(workflow):
    return hashes(workflow)


@pytest.fixture(scope="module")
def loaded():
    """Modules that each script loads, found by running its imports instead of reading them."""
    code = (
        "import sys, runpy; sys.path.insert(0, sys.argv[1]);"
        "runpy.run_path(sys.argv[2], run_name='imported');"
        "print(*[name for name in sys.modules if name.startswith('hierlearn')])"
    )
    found = {}
    for script in SCRIPTS.glob("*.py"):
        words = [sys.executable, "-c", code, str(PACKAGE.parent), str(script)]
        found[script.stem] = set(subprocess.run(words, text=True, capture_output=True, check=True).stdout.split())
    return found


@pytest.mark.parametrize(
    "module",
    ["pipeline.run.sample_sizes", "pipeline.files.scores", "pipeline.claims.page.index", "statistics.features"],
)
def test_a_changed_module_changes_the_hash_of_the_scripts_that_import_it(workflow, before, loaded, module):
    file = (workflow / "hierlearn").joinpath(*module.split(".")).with_suffix(".py")
    text = file.read_text()
    file.write_text(text + "\n# changed\n")
    after = hashes(workflow)
    file.write_text(text)
    assert {name for name in before if before[name] != after[name]} == {
        script for script, modules in loaded.items() if f"hierlearn.{module}" in modules
    }


def test_the_hash_does_not_depend_on_where_the_checkout_lies(before):
    assert before == hashes(PACKAGE.parent)


def test_the_closure_holds_what_importing_a_script_loads():
    """Reading imports finds at least what running them loads."""
    code = (
        "import sys; import hierlearn.learners.taylor;"
        "print(*[m.__file__ for n, m in sys.modules.items() if n.startswith('hierlearn')])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=PACKAGE.parent, text=True, capture_output=True, check=True)
    read = {str(file) for file in closure(PACKAGE / "learners" / "taylor.py")}
    assert set(done.stdout.split()) <= read


def test_imports_inside_functions_count():
    inside = []
    for file in PACKAGE.rglob("*.py"):
        for function in ast.walk(ast.parse(file.read_text())):
            if isinstance(function, ast.FunctionDef):
                inside += [
                    (file, node.module)
                    for node in ast.walk(function)
                    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hierlearn.")
                ]
    for file, module in inside:
        wanted = PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
        assert wanted in closure(file) or not wanted.exists()


def test_a_file_that_is_no_python_is_named(tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("def one(:\n")
    with pytest.raises(provenance.BrokenSource, match=rf"^{broken}:1: SyntaxError: invalid syntax$"):
        provenance.syntax_tree(broken)


def test_what_is_imported_for_annotations_alone_is_not_read(tmp_path):
    source = tmp_path / "one.py"
    source.write_text(
        "if TYPE_CHECKING:\n    from hierlearn.core.problem import Problem\nimport hierlearn.core.streams\n"
    )
    read = {file.name for file in closure(source)}
    assert "streams.py" in read and "problem.py" not in read


def test_a_changed_style_of_the_pages_changes_the_hash_of_what_writes_them_alone(workflow, before):
    file = workflow / "hierlearn" / "pipeline" / "claims" / "page" / "style.css"
    text = file.read_text()
    file.write_text(text + "p {}")
    after = hashes(workflow)
    file.write_text(text)
    assert {name for name in before if before[name] != after[name]} == {"ledger", "page"}


def test_a_hash_covers_the_components_that_are_named():
    script = SCRIPTS / "train.py"
    assert code_hash([script]) != code_hash([script, PACKAGE / "kernels" / "rbf.py"])
    assert code_hash([script, script]) == code_hash([script])


@pytest.mark.parametrize(
    ("library", "touched"),
    [
        ("scipy", {"judge", "page", "taylor"}),
        ("matplotlib", {"contact_sheet", "figure"}),
        ("Jinja2", {"ledger", "page"}),
        ("tqdm", set()),
    ],
)
def test_another_version_of_a_library_changes_the_hash_of_what_imports_it(library, touched, monkeypatch):
    files = [*SCRIPTS.glob("*.py"), PACKAGE / "learners" / "taylor.py"]
    known = provenance.version

    def hashed():
        provenance._library.cache_clear()
        provenance._read.cache_clear()
        return {file.stem: code_hash([file]) for file in files}

    before = hashed()
    monkeypatch.setattr(provenance, "version", lambda name: "0.0" if name.lower() == library.lower() else known(name))
    after = hashed()
    provenance._library.cache_clear()
    provenance._read.cache_clear()
    assert {name for name in before if before[name] != after[name]} == touched


def test_a_module_of_a_distribution_of_another_name_has_its_version(monkeypatch):
    monkeypatch.setattr(provenance, "_distributions", lambda: {"PIL": ["pillow"], "shared": ["xarray", "numpy"] * 2})
    found = provenance._library.__wrapped__
    assert found("PIL") == f"PIL {provenance.version('pillow')}"
    assert found("shared") == f"shared {provenance.version('numpy')}, {provenance.version('xarray')}"
    assert found("unheard") == ""


def test_every_installed_module_is_known_by_its_distribution():
    assert provenance._library("PIL") == f"PIL {provenance.version('pillow')}"


def test_equal_parameters_have_one_text():
    assert canonical({"b": 1, "a": [1, 2.5]}) == canonical({"a": [1, 2.5], "b": 1}) == '{"a":[1,2.5],"b":1}'


def test_attributes_name_versions_and_no_place():
    found = attributes("abc", {"x": 1})
    assert found["code_hash"] == "abc"
    assert found["parameters_hash"] != attributes("abc", {"x": 2})["parameters_hash"]
    assert set(found) == {"code_hash", "parameters_hash", "versions"}
    assert "xarray" in found["versions"] and "matplotlib" in found["versions"]
    assert str(PACKAGE) not in str(found)


@pytest.mark.parametrize(
    ("source", "line"), [("x = 1\ndef (\n", ":2: SyntaxError: invalid syntax"), ("if x:\ny", ":2: IndentationError: ")]
)
def test_a_file_that_is_no_python_is_said_in_one_line(source, line, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(source)
    with pytest.raises(provenance.BrokenSource) as outside:
        provenance.syntax_tree(tmp_path / "mine.py")
    assert str(outside.value).startswith(f"{tmp_path}/mine.py{line}")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(provenance.BrokenSource, match=f"^mine.py{line}"):
        provenance.syntax_tree(tmp_path / "mine.py")


def test_a_broken_source_ends_the_program_before_any_job():
    @provenance.ends_in_one_line
    def read():
        raise provenance.BrokenSource("mine.py:3: no")

    with pytest.raises(SystemExit, match=r"^error: mine\.py:3: no$"):
        read()


def test_the_lines_of_the_package_say_all_that_its_syntax_trees_import():
    files = list(provenance.PACKAGE.parent.rglob("*.py"))
    assert len(files) > 200
    for file in files:
        lines, tree = provenance._modules(file), provenance._names_in_tree(file)
        # A docstring may show how the package itself is imported.
        more = {name for name in lines - tree if name.partition(".")[0] != provenance.PACKAGE.name}
        assert tree <= lines and not more, file


@pytest.mark.parametrize(
    "statement",
    [
        "import json\n",
        "from json import (\n    dumps,  # why\n    loads as read,\n)\n",
        "def f():\n    from json import loads\n",
        "if True: import json\n",
        "import os; import json\n",
        "from json import \\\n    loads\n",
        "import json\n\nif TYPE_CHECKING:\n    import csv\n\n    from csv import reader\n",
    ],
)
def test_an_import_of_the_package_is_found_however_it_is_written(statement, tmp_path, monkeypatch):
    file = tmp_path / "hierlearn" / "one.py"
    file.parent.mkdir()
    file.write_text(statement)
    monkeypatch.setattr(provenance, "PACKAGE", file.parent)
    found = provenance._modules.__wrapped__(file)
    assert {name.split(".")[0] for name in found} - {"os", "typing"} == {"json"}
    assert found == provenance._names_in_tree(file)
