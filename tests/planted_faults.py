"""Plants each fault of planted_faults.yaml in a copy of the tree and runs tests of `make test` until one fails.

    python tests/planted_faults.py [words]     those faults alone whose description has all the words

Prints a line for each fault: caught, and by which test; missed; or not planted, where its old text does not stand in
exactly one place. Ends with 1 unless all are caught.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
FAULTS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())
# What no test reads, or what only tests of the tests do.
LEFT_OUT = (".git", ".venv", ".snakemake", "results", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache")
# Those that run no workflow take a few minutes; the others follow if none of them fails.
ROOMS = (("unit", "contract"), ("fuzz", "workflow"))
# What says of the text alone that it is another.
OF_THE_TEXT = ("tests/unit/test_planted_faults.py", "tests/workflow/test_tidiness.py")


def sources(tree: Path) -> dict[Path, str]:
    """What stands in the files of a tree's workflow."""
    files = [file for kind in ("*.py", "*.smk") for file in sorted((tree / "workflow").rglob(kind))]
    return {file: file.read_text() for file in files}


def place(texts: dict[Path, str], old: str) -> Path:
    """The file of the `sources` in which a text stands. Raises LookupError unless it stands in one place."""
    found = [file for file, text in texts.items() for _ in range(text.count(old))]
    if len(found) != 1:
        where = ", ".join(file.name for file in found) or "nowhere"
        raise LookupError(f"{old!r} stands in {len(found)} places of workflow/ ({where}); expected one")
    return found[0]


def first_failure(tree: Path, words: list[str]) -> str | None:
    """The first test that fails or cannot be collected, None if there is none."""
    # Bytes of a module would be taken for those of a change within the same second.
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "STRESS_SEED": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-m", "not slow", "-p", "no:cacheprovider", "--tb=no", "-rfE"]
    command += [f"--ignore={file}" for file in OF_THE_TEXT]
    done = subprocess.run([*command, *words], cwd=tree, env=environment, text=True, stdout=-1, stderr=-2, check=False)
    lines = [line.split(" - ")[0] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode not in (0, 1) and not lines:
        raise RuntimeError(f"pytest ended with {done.returncode}:\n{done.stdout}")
    return lines[0].split(" ", 1)[1] if lines else None


def caught(tree: Path, fault: dict) -> str | None:
    """The test that sees a fault: of those that it names, else of all."""
    texts = sources(tree)
    file = place(texts, fault["old"])
    whole = texts[file]
    file.write_text(whole.replace(fault["old"], fault["new"]))
    try:
        likely = [str(path) for name in fault["tests"] for path in sorted((tree / "tests").rglob(name))]
        turns = [likely] * bool(likely) + [[f"tests/{room}" for room in rooms] for rooms in ROOMS]
        return next(filter(None, (first_failure(tree, words) for words in turns)), None)
    finally:
        file.write_text(whole)


def main(words: list[str]) -> int:
    chosen = [fault for fault in FAULTS if all(word in fault["fault"] for word in words)]
    count = 0
    with tempfile.TemporaryDirectory(prefix="planted-faults-") as folder:
        tree = Path(shutil.copytree(ROOT, Path(folder) / "tree", ignore=shutil.ignore_patterns(*LEFT_OUT)))
        for fault in chosen:
            try:
                test = caught(tree, fault)
            except LookupError as error:
                print(f"NOT PLANTED  {fault['fault']}: {error}", flush=True)
                continue
            count += test is not None
            print(f"caught       {fault['fault']}: {test}" if test else f"MISSED       {fault['fault']}", flush=True)
    print(f"{count} of {len(chosen)} faults caught")
    return int(count < len(chosen))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
