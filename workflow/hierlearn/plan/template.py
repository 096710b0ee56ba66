"""`make new`: a component or a study in a folder of a user's own, from a template that works."""

import re
import sys
from pathlib import Path

from hierlearn.core import folders, registry
from hierlearn.plan.configuration import LONGEST, NAME, ROOT

# What a user calls the kinds; templates lie as an own folder does.
KINDS = {
    **{"input": "inputs", "teacher": "teachers", "representation": "representations", "learner": "learners"},
    **{"kernel": "kernels", "probe": "probes", "experiment": "experiments", "quantity": "quantities"},
    **{"figure": "figures", "study": "studies"},
}
TEMPLATES = folders.PACKAGE.parent / "templates"
COMPONENT = re.compile("[a-z][a-z0-9]*(_[a-z0-9]+)*")
STUDIES = folders.PACKAGE.parents[1] / "config" / "studies"


def write(kind: str, name: str, folder: Path) -> Path:
    """The new file. Raises ValueError, one line, for a wrong kind, name or folder and for a name that is taken."""
    if kind not in KINDS:
        raise ValueError(f"kind: found {kind!r}; expected one of {', '.join(KINDS)}")
    room = KINDS[kind]
    allowed, words = (NAME, "hyphens") if kind == "study" else (COMPONENT, "underscores, a letter first")
    if not allowed.fullmatch(name) or len(name) > LONGEST:
        raise ValueError(f"name: found {name!r}; expected at most {LONGEST} small letters, digits and {words}")
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"folder: found {str(folder)!r}, where a file is; expected a folder")
    at = folder.resolve()
    if any(part in (at, *at.parents) for part in (ROOT / "workflow", ROOT / "config")) or at in (ROOT, *ROOT.parents):
        raise ValueError(f"folder: found {str(folder)!r}, of the project itself; expected a folder of your own")
    file = folder / room / (f"{name}.yaml" if kind == "study" else f"{name}.py")
    if other := taken(room, name, file):
        raise ValueError(f"name: found {name!r}, which {other} has; expected another")
    text = (TEMPLATES / room / f"template{file.suffix}").read_text(encoding="utf-8")
    text = text.replace("Template", "".join(word.capitalize() for word in name.split("_"))).replace("template", name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def taken(room: str, name: str, file: Path) -> Path | None:
    """The file that has a name already, of the project or of the folder."""
    if room == "studies":
        others = [STUDIES / file.name]
    else:
        others = [root / other / file.name for root in folders.roots() for other in _rooms(room)]
    return next((other for other in (file, *others) if other.exists()), None)


def _rooms(room: str) -> tuple[str, ...]:
    """The rooms whose components share their names."""
    return next((rooms for rooms in registry.ROOMS.values() if room in rooms), (room,))


def main(words: list[str]) -> None:
    """Writes the file that words such as kind=learner ask for, and says how to go on."""
    given = dict(word.split("=", 1) for word in words)
    if missing := [key for key in ("kind", "name", "folder") if not given.get(key)]:
        sys.exit(f"error: {missing[0]}: found none; expected make new kind=learner name=mine folder=../mine")
    folder = Path(given["folder"])
    try:
        file = write(given["kind"], given["name"], folder)
    except ValueError as error:
        sys.exit(f"error: {error}")
    print(f"{file.as_posix()}: change it, then make check name={given['name']} folder={folder.as_posix()}")


if __name__ == "__main__":
    main(sys.argv[1:])
