"""YAML text as a tree that can be changed and written again, with its comments, anchors and ways of writing."""

import json
import re
from collections.abc import Iterator
from typing import Any

import yaml

WIDTH = 120
MERGE = "tag:yaml.org,2002:merge"


class _Loader(yaml.SafeLoader):
    """Keeps the name of every anchor."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        anchor = None if self.check_event(yaml.AliasEvent) else self.peek_event().anchor
        node = super().compose_node(parent, index)
        if anchor is not None:
            node.anchor = anchor
        return node


def parse(text: str) -> yaml.MappingNode:
    """Return the tree of a mapping's text, with the comments above and behind each entry, and the root's at the end."""
    root = _Loader(text).get_single_node()
    lines = text.splitlines()
    inside: set[int] = set()
    for node in nodes(root):
        if isinstance(node, yaml.ScalarNode):
            # What a text of several lines has is no comment.
            height = text[node.start_mark.index : node.end_mark.index].rstrip().count("\n")
            inside |= set(range(node.start_mark.line + 1, node.start_mark.line + height + 1))
            node.source = text[node.start_mark.index : node.end_mark.index]
    taken: set[int] = set()
    for first, value in _entries(root):
        node = first or value
        taken |= (above := _above(lines, node.start_mark.line, inside | taken))
        node.above = [lines[i].strip() for i in sorted(above)]
        node.width = len(lines[value.start_mark.line]) if value.start_mark.line == value.end_mark.line else 0
        node.behind = _behind(text, first, value)
    root.end = [lines[i].strip() for i in sorted(_above(lines, len(lines), inside | taken))]
    return root


def nodes(root: yaml.Node) -> Iterator[yaml.Node]:
    """Every node once."""
    seen, waiting = set(), [root]
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting += below(node)


def below(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for entry in node.value for part in entry]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _entries(root: yaml.Node) -> list[tuple[yaml.Node | None, yaml.Node]]:
    """(key, value) of block mappings and (None, item) of block lists, in the order of the text."""
    found = []
    for node in nodes(root):
        if isinstance(node, yaml.MappingNode) and not node.flow_style:
            found += node.value
        elif isinstance(node, yaml.SequenceNode) and not node.flow_style:
            found += [(None, item) for item in node.value]
    return sorted(found, key=lambda entry: (entry[0] or entry[1]).start_mark.index)


def _behind(text: str, key: yaml.Node | None, value: yaml.Node) -> str:
    """The comment behind an entry, or behind the key of one that stands below it."""
    is_below = isinstance(value, yaml.CollectionNode) and not value.flow_style
    if key is None and is_below:
        return ""
    end = key.end_mark.index if is_below else value.end_mark.index
    # A text of several lines ends where the next line begins.
    rest = "" if text[end - 1] == "\n" else text[end:].partition("\n")[0]
    return re.sub(r"^:?[^#]*?(\s#.*)?$", r"\1", rest).strip()


def _above(lines: list[str], line: int, taken: set[int]) -> set[int]:
    """The comments and the empty lines right above a line."""
    found = set()
    while line > 0 and line - 1 not in taken and not lines[line - 1].strip(" \t").partition("#")[0]:
        line -= 1
        found.add(line)
    return found


def pairs(node: yaml.MappingNode) -> dict[str, tuple[yaml.Node, yaml.Node]]:
    """The entries of a mapping by key, those that it takes over by << included."""
    found: dict[str, tuple[yaml.Node, yaml.Node]] = {}
    own = {}
    for key, value in node.value:
        if key.tag != MERGE:
            own[key.value] = key, value
            continue
        for part in reversed(value.value if isinstance(value, yaml.SequenceNode) else [value]):
            found |= pairs(part)
    return found | own


def at(node: yaml.Node | None, *path: str) -> yaml.Node | None:
    """What stands at a path, None if nothing does."""
    for key in path:
        known = pairs(node) if isinstance(node, yaml.MappingNode) else {}
        node = known[key][1] if key in known else None
    return node


def plain(node: yaml.Node) -> Any:
    """The value of a node, merged mappings written out."""
    if isinstance(node, yaml.MappingNode):
        return {key: plain(value) for key, (_, value) in pairs(node).items()}
    if isinstance(node, yaml.SequenceNode):
        return [plain(item) for item in node.value]
    return yaml.SafeLoader("").construct_object(node)


def node_of(value: Any, flow: bool = True) -> yaml.Node:
    """Return a new node for plain values."""
    if isinstance(value, yaml.Node):
        return value
    if isinstance(value, dict):
        entries = [(node_of(key), node_of(part)) for key, part in value.items()]
        return yaml.MappingNode("tag:yaml.org,2002:map", entries, flow_style=flow)
    if isinstance(value, list):
        return yaml.SequenceNode("tag:yaml.org,2002:seq", [node_of(part) for part in value], flow_style=True)
    source = yaml.safe_dump(value, width=10**6, allow_unicode=True).removesuffix("...\n").rstrip()
    node = yaml.compose(source)
    node.source = source
    return node


def put(node: yaml.MappingNode, key: str, value: Any, like: yaml.Node | None = None) -> None:
    """Add or replace an entry. like: the key whose comments the new one takes over."""
    new = node_of(key)
    new.above, new.behind = getattr(like, "above", []), getattr(like, "behind", "")
    for i, (known, _) in enumerate(node.value):
        if known.value == key:
            node.value[i] = known, node_of(value)
            return
    node.value.append((new, node_of(value)))


def drop(node: yaml.Node | None, key: str) -> None:
    if isinstance(node, yaml.MappingNode):
        node.value = [entry for entry in node.value if entry[0].value != key]


def write(root: yaml.MappingNode) -> str:
    """Return the text of a tree."""
    return "\n".join([*_Writer(root).block(root, 0), *root.end]) + "\n"


class _Writer:
    """Writes nodes; one that is met again is an alias."""

    def __init__(self, root: yaml.Node):
        self.known: set[int] = set()
        counts: dict[int, int] = {}
        for node in nodes(root):
            for part in below(node):
                counts[id(part)] = counts.get(id(part), 0) + 1
        self.names: dict[int, str] = {}
        for node in nodes(root):
            # What has no name is written again.
            if counts.get(id(node), 0) > 1 and hasattr(node, "anchor"):
                name = wanted = node.anchor
                number = 1
                while name in self.names.values():
                    number += 1
                    name = f"{wanted}-{number}"
                self.names[id(node)] = name

    def block(self, node: yaml.Node, indent: int) -> list[str]:
        """The lines of a mapping or a list, one entry below the other."""
        lines, space = [], " " * indent
        for entry in node.value:
            key, value = entry if isinstance(node, yaml.MappingNode) else (None, entry)
            first = key or value
            lines += [f"{space}{line}" if line else "" for line in getattr(first, "above", ())]
            head = f"{space}-" if key is None else f"{space}{self.scalar(key)}:"
            written = self.entry(head, value, indent, max(WIDTH, getattr(first, "width", 0)))
            if behind := getattr(first, "behind", ""):
                written[0] += f"  {behind}"
            lines += written
        return lines

    def entry(self, head: str, value: yaml.Node, indent: int, width: int) -> list[str]:
        """The lines of one entry. head: its key, or the dash of a list; width: of a line that may stay one."""
        if id(value) in self.known:
            return [f"{head} *{self.names[id(value)]}"]
        head += self.anchor(value)
        if isinstance(value, yaml.ScalarNode):
            line = f"{head} {self.scalar(value)}"
            fits = "\n" not in line and (len(line) <= width or not _folds(value))
            return [line] if fits else self.folded(head, value, indent)
        if value.flow_style or not value.value:
            before = set(self.known)
            line = f"{head} {self.inner(value)}"
            if len(line) <= width and "\n" not in line:
                return [line]
            self.known = before
        is_list = isinstance(value, yaml.SequenceNode) and value.flow_style
        if is_list and all(isinstance(part, yaml.ScalarNode) for part in value.value):
            return self.wrapped(f"{head} [", value, indent)
        lines = self.block(value, indent + 2)
        if head.lstrip() == "-" and isinstance(value, yaml.MappingNode):
            return [f"{head} {lines[0].strip()}", *lines[1:]]
        return [head, *lines]

    def anchor(self, node: yaml.Node) -> str:
        """The anchor of a node that is met again later."""
        if id(node) not in self.names:
            return ""
        self.known.add(id(node))
        return f" &{self.names[id(node)]}"

    def wrapped(self, head: str, node: yaml.Node, indent: int) -> list[str]:
        """A long list in several lines."""
        lines, words = [head], [self.flow(part) for part in node.value]
        for i, word in enumerate(words):
            text = word + ("," if i < len(words) - 1 else "]")
            if len(lines[-1]) + len(text) + 1 > WIDTH:
                lines.append(" " * (indent + 2) + text)
            else:
                lines[-1] += text if lines[-1].endswith("[") else f" {text}"
        return lines

    def folded(self, head: str, node: yaml.ScalarNode, indent: int) -> list[str]:
        """A text of several lines."""
        if node.style in ("|", ">"):
            style, _, body = node.source.rstrip().partition("\n")
            inner = body.split("\n")
            least = min((len(line) - len(line.lstrip()) for line in inner if line.strip()), default=0)
            lines = [(" " * (indent + 2) + line[least:]).rstrip() for line in inner]
            if not _folds(node) or max(map(len, lines)) <= WIDTH + 10:
                return [f"{head} {self.clean(style)}", *lines]
        lines = [" " * (indent + 1)]
        for word in node.value.split(" "):
            if len(lines[-1]) + len(word) + 1 > WIDTH:
                lines.append(" " * (indent + 1))
            lines[-1] += f" {word}"
        return [f"{head} >-", *lines]

    def flow(self, node: yaml.Node) -> str:
        """A node in one line; a text of several keeps them."""
        if id(node) in self.known:
            return f"*{self.names[id(node)]}"
        return f"{self.anchor(node)} {self.inner(node)}".lstrip()

    def inner(self, node: yaml.Node) -> str:
        """The same without its anchor."""
        if isinstance(node, yaml.ScalarNode):
            # A text of several lines is quoted, in one.
            return self.scalar(node) if node.style not in ("|", ">") else json.dumps(node.value, ensure_ascii=False)
        if isinstance(node, yaml.SequenceNode):
            return f"[{', '.join(self.flow(part) for part in node.value)}]"
        return f"{{{', '.join(f'{self.scalar(key)}: {self.flow(value)}' for key, value in node.value)}}}"

    def scalar(self, node: yaml.ScalarNode) -> str:
        """A scalar as it was written, without its anchor."""
        return self.clean(node.source)

    def clean(self, source: str) -> str:
        return re.sub(r"^&\S+\s+", "", source).rstrip()


def _folds(node: yaml.Node) -> bool:
    """Whether a text may stand in lines that break between words."""
    return bool(re.fullmatch(r"\S+( \S+)*", node.value)) and node.tag.endswith("str")
