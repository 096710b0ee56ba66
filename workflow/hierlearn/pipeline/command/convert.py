"""`hierlearn convert`: study files of the form before `test`, `only`, `rival` and `at`, written as they are now, and
components that import modules by the names of before.

Comments, anchors and the way of writing stay where they can. A file is replaced only where the present form says the
same at every preset.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from hierlearn.core import registry
from hierlearn.pipeline.command import moved, older_claims, yaml_text
from hierlearn.pipeline.command.older import Older, same
from hierlearn.pipeline.command.yaml_text import drop, node_of, pairs, plain, put
from hierlearn.pipeline.files import papers, texts
from hierlearn.pipeline.files.load import load
from hierlearn.pipeline.files.load import value as value_of
from hierlearn.pipeline.files.schema_errors import schema_faults
from hierlearn.pipeline.plan.presets import bodies

RECORDS = "revisions.yaml"
HEAD = "# What changed in every design that was judged, and why, by study and preset: one line for each number.\n"


def convert(file: Path) -> dict[str, list[str]]:
    """Rewrite a study's file and return the history of its revisions by preset, which it has no more.

    Raises ValueError where the file cannot be read, is in the present form, or would say something else.
    """
    before, faults = load(file, file.as_posix())
    if faults:
        raise ValueError("\n".join(map(str, faults)))
    if not Older.is_one(before):
        raise ValueError(f"{file.as_posix()}: found the present form; expected an older one, with `rule` or `skip`")
    try:
        history, written = _converted(file, before)
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        # The older form is not checked any more.
        found = f"what no study of the older form says ({type(error).__name__}: {error})"
        raise ValueError(f"{file.as_posix()}: found {found}; expected a study that ran before") from error
    except ValueError as error:
        raise ValueError(f"{file.as_posix()}: {error}") from error
    texts.put(file, written)
    return history


def _converted(file: Path, before: Mapping[str, Any]) -> tuple[dict[str, list[str]], str]:
    """The history of a study's revisions, and its text in the present form."""
    root = yaml_text.parse(file.read_text(encoding="utf-8-sig"))
    history = _revisions(root)
    paper = before.get("paper", "")
    older_claims.rewrite(root, papers.hypotheses(paper), papers.places(paper))
    _places(root, before)
    written = yaml_text.write(root)
    now = value_of(written)
    faults = [fault for _, body in bodies(now) for fault in schema_faults("", body, papers.schema_of("study"))]
    if faults:
        raise ValueError(str(min(faults)).removeprefix(": "))
    if difference := same(before, now):
        raise ValueError(f"found {difference}; expected the same study; convert this part by hand")
    return history, written


def _revisions(root: yaml.MappingNode) -> dict[str, list[str]]:
    """Leave the numbers of the revisions, and return what they say."""
    node = yaml_text.at(root, "revisions")
    history = plain(node) if node else {}
    for preset, reasons in history.items():
        put(node, preset, len(reasons))
    return history


def _places(root: yaml.MappingNode, before: Mapping[str, Any]) -> None:
    """`only` in the place of `skip`, and where what a preset takes over would say something else."""
    older = Older(before)
    for (preset, name), wanted in older.places.items():
        path = (*(() if preset == "quick" else ("presets", preset)), "learners", name)
        node = yaml_text.at(root, *path)
        for i, (key, _) in enumerate(node.value if isinstance(node, yaml.MappingNode) else ()):
            if key.value == "skip":
                new = node_of("only")
                new.above, new.behind = key.above if hasattr(key, "above") else [], getattr(key, "behind", "")
                node.value[i] = new, node_of(wanted)
    now = dict(bodies(_learners(root), derive=False))
    for (preset, name), wanted in older.places.items():
        if not older.agrees(now, preset, name):
            _overlay(root, preset, name).value.append((node_of("only"), node_of(wanted)))
            now = dict(bodies(_learners(root), derive=False))


def _learners(root: yaml.MappingNode) -> dict[str, Any]:
    """What a study says of its learners, and which presets it states."""
    return {key: plain(node) for key, (_, node) in pairs(root).items() if key in ("learners", "presets")}


def _overlay(root: yaml.MappingNode, preset: str, learner: str) -> yaml.MappingNode:
    """The mapping in which a preset says something of a learner, as one of its own."""
    node = root
    for key in ("presets", preset, "learners", learner) if preset != "quick" else ("learners", learner):
        here = {name.value: value for name, value in node.value}
        below = yaml_text.at(node, key)
        shared = below is not None and (key not in here or _uses(root, below) > 1)
        if below is None or shared:
            below_new = yaml.MappingNode("tag:yaml.org,2002:map", [], flow_style=False)
            if shared:
                below.anchor = getattr(below, "anchor", key)
                merge = yaml.ScalarNode(yaml_text.MERGE, "<<")
                merge.source = "<<"
                below_new.value = [(merge, below)]
            put(node, key, below_new)
            below = below_new
        node = below
    if any(key.value == "only" for key, _ in node.value):
        drop(node, "only")
    return node


def _uses(root: yaml.Node, wanted: yaml.Node) -> int:
    return sum(part is wanted for node in yaml_text.nodes(root) for part in yaml_text.below(node))


def convert_all(paths: Sequence[Path], project: Path) -> Iterator[str]:
    """Convert the older studies and components among some files and folders, and say of each what was done.

    project: the folder whose history goes to docs/records; that of a folder of your own goes to its `records`.
    """
    folders = [path for path in paths if path.is_dir()]
    named = [path for path in paths if not path.is_dir()]
    components = [file for path in folders for file in sorted(path.glob("*/*.py"))]
    studies = [file for path in folders for file in sorted(path.glob("**/studies/*.yaml"))]
    if not named + components + studies:
        raise ValueError(f"{paths[0].as_posix()}: found no study; expected a study file, or a folder with `studies`")
    renamed = [file for file in named + components + studies if moved.update(file)]
    yield from (f"{file.as_posix()}: names of modules rewritten" for file in renamed)
    for file in [file for file in named if file.suffix != ".py"] + studies:
        alone = file in named and len(paths) == 1 and file not in renamed
        if not alone and not Older.is_one(load(file, file.as_posix())[0] or {}):
            continue
        own = file.absolute().parents[1]
        is_project = own == project / "config"
        registry.use([] if is_project else [own])
        history = convert(file)
        yield f"{file.as_posix()}: converted"
        if history:
            _record((project / "docs" if is_project else own) / "records" / RECORDS, file.stem, history)


def _record(file: Path, study: str, history: Mapping[str, list[str]]) -> None:
    """Add the history of a study's revisions to those of a folder."""
    known = load(file, file.as_posix())[0] if file.is_file() else {}
    whole = dict(sorted({**known, study: history}.items()))
    file.parent.mkdir(parents=True, exist_ok=True)
    texts.put(file, HEAD + yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=10**6))
