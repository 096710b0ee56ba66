"""`hierlearn check mine --folder ../mine`: what a component or a study of one's own lacks, in words.

A component is asked what every component of its kind is asked in tests/contract; a study is read as a run reads it.
"""

import contextlib
import os
import re
import sys
from pathlib import Path

import pytest

from hierlearn.core import folders, process, registry
from hierlearn.core.provenance import BrokenSource
from hierlearn.pipeline.plan import checking
from hierlearn.pipeline.plan.configuration import ROOT, configure

HERE = Path(__file__).parent
FILES = {"representations": "representation", "quantities": "quantity"}


class Only:
    """The tests that are about one component; what they lack, a line each."""

    def __init__(self, kind: str, name: str, file: str):
        self.kind, self.name, self.file, self.lacks, self.count = kind, name, file, [], 0

    def pytest_collection_modifyitems(self, items):
        """Leaves out what is about others."""
        items[:] = [item for item in items if self._about(item)]
        self.count = len(items)

    def _about(self, item) -> bool:
        values = getattr(item, "callspec", None)
        found = values.params if values else {}
        names = [one[0] if isinstance(one, tuple) else one for one in found.values()]
        # An array is compared entry by entry.
        named = any(isinstance(one, str) and one == self.name for one in names)
        return named and found.get("kind", self.kind) == self.kind

    def pytest_runtest_logreport(self, report):
        """Keeps the test's name, which is a sentence, and the line of what went wrong."""
        if report.failed:
            words = re.sub(r"\[.*", "", report.nodeid.split("::")[-1]).removeprefix("test_").replace("_", " ")
            crash = getattr(report.longrepr, "reprcrash", None)
            said = next((line for line in crash.message.splitlines() if line.strip()), "") if crash else ""
            line = f"{self.file}: it lacks: {words}" + (f" ({said})" if said else "")
            self.lacks += [line] if line not in self.lacks else []


def of_component(kind: str, name: str, folder: Path) -> list[str]:
    """What a component lacks, a line each."""
    registry.use([folder])
    registry.implementation(kind, name)
    room = registry.path(kind, name).parent.name
    singular = FILES.get(kind, kind.removesuffix("s"))
    files = ["test_every_component.py", "test_protocols_are_whole.py", f"test_every_{singular}.py"]
    tests = [str(HERE / "contract" / file) for file in files if (HERE / "contract" / file).exists()]
    only = Only(kind, name, f"{room}/{name}.py")
    words = ["-q", "--tb=short", "-p", "no:cacheprovider", "--rootdir", str(ROOT), *tests]
    with open(os.devnull, "w", encoding="utf-8") as nothing, contextlib.redirect_stdout(nothing):
        code = pytest.main(words, [only])
    if code not in (0, 1) or not only.count:
        return [f"the tests of its contract ended with {code!r}"]
    print(f"{only.file}: {only.count} questions of its contract, {len(only.lacks)} without the right answer")
    return only.lacks


def of_study(name: str, folder: Path) -> list[str]:
    """The warnings about a study that is read as a run reads it; ends the program where it has faults at any preset."""
    plan = configure({"own": str(folder), "studies": [name]}, Path("no-config.yaml"), ROOT / "config" / "studies")
    file = folder / "studies" / f"{name}.yaml"
    if faults := checking.study(file, file.as_posix(), "quick")[1]:
        sys.exit("\n".join(f"error: {fault}" for fault in faults))
    claims = plan.studies[name].claims
    print(f"studies/{name}.yaml: {len(plan.studies[name].learners)} learners, {len(claims)} claims, no fault")
    return [*plan.warnings, *(f"it lacks a file: {fault}" for fault in plan.absent)]


def main(words: list[str]) -> None:
    """Answers words such as name=mine and folder=../mine."""
    process.replace_letters()
    if sys.flags.optimize:
        # The checks are assertions, which Python leaves out then.
        sys.exit(f"error: PYTHONOPTIMIZE: found {sys.flags.optimize}; expected none")
    given = dict(word.split("=", 1) for word in words)
    if missing := [key for key in ("name", "folder") if not given.get(key)]:
        sys.exit(f"error: {missing[0]}: found none; expected name=mine folder=../mine")
    folder, name = Path(given["folder"]), given["name"]
    if not folder.is_dir():
        sys.exit(f"error: folder: found {given['folder']!r}, which is no folder; expected one of your own")
    kinds = [room for room in folders.ROOMS if (folder / room / f"{name}.py").is_file()]
    try:
        if (folder / "studies" / f"{name}.yaml").is_file():
            lines = of_study(name, folder)
        elif kinds:
            kind = next((kind for kind, rooms in registry.ROOMS.items() if kinds[0] in rooms), kinds[0])
            lines = of_component(kind, name, folder)
        else:
            found = f"found no component and no study {name!r} in {given['folder']}"
            sys.exit(f"error: name: {found}; expected a file such as learners/{name}.py")
    except BrokenSource as error:
        sys.exit(f"error: {error}")
    print(*lines, sep="\n", end="\n" if lines else "")
    sys.exit(int(any("it lacks" in line for line in lines)))


if __name__ == "__main__":
    main(sys.argv[1:])
