"""`hierlearn new`: a component or a study in a folder of a user's own, from a template that works."""

import json
import keyword
import os
import re
from pathlib import Path
from typing import Any

from hierlearn.core import folders, registry
from hierlearn.core.protocols import PROTOCOLS
from hierlearn.core.words import nearest, show
from hierlearn.pipeline.files import load, papers, texts
from hierlearn.pipeline.plan.configuration import LONGEST, NAME, NOT_TAKEN, OWN, ROOT
from hierlearn.pipeline.plan.configuration import taken as taken_by_all

# What a user calls the kinds; templates lie as an own folder does.
KINDS = {one.__name__.lower(): room for room, one in PROTOCOLS.items()}
KINDS |= {"experiment": "experiments", "study": "studies"}
TEMPLATES = folders.PACKAGE.parent / "templates"
COMPONENT = re.compile("[a-z][a-z0-9]*(_[a-z0-9]+)*")
STUDIES = folders.PACKAGE.parents[1] / "config" / "studies"
# The study of a file of one's own.
TABLE = "table"
# What a study that begins as another does not take over: what is judged there, and other sizes.
JUDGED = ("claims", "rivals", "revisions", "presets")


def write(kind: str, name: str, folder: Path, source: str = "") -> Path:
    """The new file. source: the study that a new one begins as, without its claims, a file of data, or the word table.

    Raises ValueError, one line, for a wrong kind, name, folder or source and for a name that is taken.
    """
    if kind not in KINDS:
        raise ValueError(f"kind: found {kind!r}; expected {nearest(kind, KINDS)}")
    room = KINDS[kind]
    allowed, words = (NAME, "hyphens") if kind == "study" else (COMPONENT, "underscores, a letter first")
    if not allowed.fullmatch(name) or len(name) > LONGEST:
        raise ValueError(f"name: found {name!r}; expected at most {LONGEST} small letters, digits and {words}")
    there = load.load(folder / papers.FILE, papers.FILE)[0] if os.path.isfile(folder / papers.FILE) else None
    if kind == "study" and name in {*taken_by_all(), *(there or ())}:
        raise ValueError(f"name: found {name!r}; expected {NOT_TAKEN}")
    if kind != "study" and keyword.iskeyword(_class(name)):
        raise ValueError(f"name: found {name!r}; expected one whose class can be called so, not {_class(name)}")
    at = _resolved(folder)
    if any(ROOT / part in (at, *at.parents) for part in OWN) or at in (ROOT, *ROOT.parents):
        raise ValueError(f"--folder: found {str(folder)!r}, of the project itself; expected a folder of your own")
    if in_the_way := [above for above in (at / room, at, *at.parents) if above.exists() and not above.is_dir()]:
        raise ValueError(f"--folder: found {str(folder)!r}, where {in_the_way[0]} is a file; expected a folder")
    file = folder / room / (f"{name}.yaml" if kind == "study" else f"{name}.py")
    if other := taken(room, name, file):
        raise ValueError(f"name: found {name!r}, which {other} has; expected another")
    text = _from_template(room, name, file.suffix) if not source else _of_table(kind, name, source)
    text = text or _as_another(kind, source, folder)
    texts.put(file, text)
    return file


def _resolved(folder: Path) -> Path:
    """The folder itself, behind links. Raises ValueError, one line, where there can be none."""
    try:
        at = folder.resolve()
        at.exists()
    # A loop of links, a name that is too long, or what no name has in it.
    except (OSError, RuntimeError, ValueError) as error:
        raise ValueError(f"--folder: found {show(str(folder))}, which leads nowhere; expected a folder") from error
    return at


def _class(name: str) -> str:
    """The name of a component's class."""
    return "".join(word.capitalize() for word in name.split("_"))


def _from_template(room: str, name: str, suffix: str, template: str = "template") -> str:
    text = (TEMPLATES / room / f"{template}{suffix}").read_text(encoding="utf-8")
    return text.replace("Template", _class(name)).replace("template", name)


def _of_table(kind: str, name: str, source: str) -> str:
    """The text of a study of a table; "" where the source is neither a file nor the word for one.

    Raises ValueError, one line, for a file that cannot be used.
    """
    if kind != "study" or (source != TABLE and (NAME.fullmatch(source) or not os.path.exists(source))):
        return ""
    text = _from_template("studies", name, ".yaml", TABLE)
    if source == TABLE:
        return text
    given = {"name": TABLE, "file": source}
    # Imported here: it brings numpy.
    rows = registry.build("inputs", given, dimension=1).finite()["training"]
    sizes = sorted({max(rows // part, 2) for part in (4, 2, 1)})
    return text.replace("mine.csv", json.dumps(source)).replace("[50, 100, 200]", str(sizes)).replace("200", str(rows))


def _as_another(kind: str, source: str, folder: Path) -> str:
    """The text of a study with problem, grid, learners and figure of another, of the project or of the folder."""
    files = [STUDIES / f"{source}.yaml", folder / "studies" / f"{source}.yaml"]
    if kind != "study":
        raise ValueError(f"--from: found it for a {kind}; expected it for a study")
    file = next((file for file in files if NAME.fullmatch(source) and file.is_file()), None)
    if file is None:
        raise ValueError(f"--from: found no study {source!r}; expected one of config/studies or of {folder.as_posix()}")
    content, faults = load.load(file, file.as_posix())
    if faults:
        raise ValueError(str(faults[0]))
    kept = _unjudged({key: part for key, part in content.items() if key not in JUDGED})
    return f"# As {source} is at quick, without its claims. config/README.md names every key.\n" + load.drafted(kept)


def _unjudged(content: Any) -> Any:
    """The content without what names claims: `shows` of figures and of their panels."""
    if isinstance(content, dict):
        return {key: _unjudged(part) for key, part in content.items() if key != "shows"}
    return [_unjudged(part) for part in content] if isinstance(content, list) else content


def taken(room: str, name: str, file: Path) -> Path | None:
    """The file that has a name already, of the project or of the folder."""
    others = [STUDIES / file.name]
    if room != "studies":
        # Rooms of a kind share their names; a file of several components has a name that none of them has.
        kind = next(kind for kind in registry.KINDS if room in registry.rooms(kind))
        others = [folders.shelf(folders.PACKAGE, room) / file.name]
        others += [registry.path(kind, name)] if name in registry.available(kind) else []
    return next((other for other in (file, *others) if other.exists()), None)
