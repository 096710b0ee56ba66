"""Claims of the older form, written as they are now: one test, one place, and what changes at presets beside it."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import yaml

from hierlearn.core.aliases import present_rule
from hierlearn.core.words import nearest
from hierlearn.pipeline.claims.rules import SIGNS
from hierlearn.pipeline.command import yaml_text
from hierlearn.pipeline.command.yaml_text import drop, node_of, pairs, plain, put
from hierlearn.pipeline.files import papers
from hierlearn.pipeline.plan import tests
from hierlearn.pipeline.plan.presets import PRESETS

# Words that no name is made of.
SMALL = ("the", "a", "an", "of", "at", "in", "on", "with", "its", "as", "that", "to", "for", "same")
# Keys of a claim, in the order in which they are written.
ORDER = (
    "place",
    "statement",
    "kind",
    "rank",
    "asked_after",
    "limit_from",
    "withdrawn",
    "regime",
    "beyond",
    "proof",
    "quantity",
    "test",
    "printed",
    "rival",
    "remark",
)
RULE = ("rule", "predicted", "slack", "side")
SIGN_OF = {rule: sign for sign, (rule, *_) in SIGNS.items() if sign != "<"}
OLDER = (*ORDER[: ORDER.index("quantity") + 1], *RULE, "control", "remark")
LARGER = PRESETS[1:]
Entry = tuple[yaml.Node, yaml.Node]


def rewrite(root: yaml.MappingNode, hypotheses: Mapping[str, Mapping[str, Any]], places: Collection[str] = ()) -> None:
    """Every claim in one place, with what changes at presets."""
    overlays = {preset: yaml_text.at(root, "presets", preset, "claims") for preset in LARGER}
    overlays = {preset: pairs(node) for preset, node in overlays.items() if node}
    body = yaml_text.at(root, "claims")
    own = pairs(body) if body else {}
    names = _in_order([list(own), *(list(claims) for claims in overlays.values())])
    rivals = _Rivals(root, [own, *overlays.values()])
    entries = []
    for name in names:
        versions = {preset: claims[name] for preset, claims in overlays.items() if name in claims}
        _unscope([node for _, node in filter(None, (own.get(name), *versions.values()))], places)
        key, written = _claim(own.get(name), versions, rivals, hypotheses)
        entries.append((key, written))
    for preset in LARGER:
        drop(yaml_text.at(root, "presets", preset), "claims")
    if not entries:
        return
    if body is None:
        put(root, "claims", node_of({}, flow=False))
        body = yaml_text.at(root, "claims")
    body.value, body.flow_style = entries, False
    if rivals.named:
        put(root, "rivals", node_of(rivals.named, flow=False))
        at = [key.value for key, _ in root.value].index("claims")
        root.value.insert(at, root.value.pop())
        root.value[at][0].above = [""]


def _in_order(lists: Sequence[Sequence[str]]) -> list[str]:
    """One order of names that agrees with all of some orders, as far as they agree with each other."""
    first, *others = lists
    found: list[str] = []
    for names in ([name for name in other if name not in first] for other in others):
        for i, name in enumerate(names):
            if name not in found:
                later = [found.index(other) for other in names[i:] if other in found]
                found.insert(found.index(names[i - 1]) + 1 if i else min(later, default=len(found)), name)
    return [*first, *found]


def _claim(
    body: Entry | None, versions: Mapping[str, Entry], rivals: "_Rivals", hypotheses: Mapping[str, Mapping[str, Any]]
) -> Entry:
    """The written form of a claim from its body and what presets say of it."""
    key = (body or next(iter(versions.values())))[0]
    said = {preset: pairs(node) for preset, (_, node) in versions.items()}
    for entries in (*said.values(), pairs(body[1]) if body else {}):
        if unknown := entries.keys() - {*OLDER}:
            found = min(unknown)
            raise ValueError(f"claims.{key.value}.{found}: found an unknown key; expected {nearest(found, OLDER)}")
    for _, node in versions.values():
        # What was shared as a whole is shared by its only part.
        if hasattr(node, "anchor") and len(node.value) == 1 and not hasattr(node.value[0][1], "anchor"):
            node.value[0][1].anchor = node.anchor
    common = pairs(body[1]) if body else _common(list(said.values()))
    if not body:
        said = {preset: _beside(common, entries) for preset, entries in said.items()}
    own = _written(common, common, rivals, hypotheses)
    entries = list(own.values())
    if not body:
        entries.append((_key("presets"), node_of(list(versions))))
    changes = _changes(
        {
            preset: (versions[preset][0], list(_written(one, common | one, rivals, hypotheses).values()))
            for preset, one in said.items()
            if one
        }
    )
    if changes:
        entries.append((_key("at"), yaml.MappingNode("tag:yaml.org,2002:map", changes, flow_style=False)))
    return key, yaml.MappingNode("tag:yaml.org,2002:map", entries, flow_style=False)


def _changes(said: Mapping[str, tuple[yaml.Node, list[Entry]]]) -> list[Entry]:
    """The entries of `at`: what presets change alike stands once."""
    alike: dict[str, list[tuple[list[str], Entry]]] = {}
    for preset, (_, entries) in said.items():
        for entry in entries:
            values = alike.setdefault(entry[0].value, [])
            same = [names for names, other in values if plain(other[1]) == plain(entry[1])]
            same[0].append(preset) if same else values.append(([preset], entry))
    groups: dict[tuple[str, ...], list[Entry]] = {}
    for names, entry in (one for values in alike.values() for one in values):
        groups.setdefault(tuple(names), []).append(entry)
    found = []
    for names, entries in sorted(groups.items(), key=lambda group: [LARGER.index(name) for name in group[0]]):
        is_short = not any(_is_text(value) or getattr(key, "above", None) for key, value in entries)
        new = _key(" ".join(names))
        new.above = [line for line in getattr(said[names[0]][0], "above", []) if line]
        found.append((new, yaml.MappingNode("tag:yaml.org,2002:map", entries, flow_style=is_short)))
    return found


def _is_text(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and len(node.value) > 60


def _plain(entries: Sequence[Entry]) -> dict[str, Any]:
    return {key.value: plain(value) for key, value in entries}


def _key(word: str) -> yaml.ScalarNode:
    return node_of(word)


def _common(said: Sequence[Mapping[str, Entry]]) -> dict[str, Entry]:
    """What a claim that is in larger presets alone says: what all of them say something of, as the first has it."""
    found = _shared(said)
    rules = [{key: plain(one[key][1]) for key in RULE if key in one} for one in said]
    if any(rule != rules[0] for rule in rules):
        # A test is written as a whole, and is not taken away again.
        described = any(rule["rule"] == "descriptive" for rule in rules)
        found = {key: entry for key, entry in found.items() if key not in RULE and (key != "kind" or not described)}
        found |= {} if described else {key: said[0][key] for key in RULE if key in said[0]}
    return found


def _shared(said: Sequence[Mapping[str, Entry]]) -> dict[str, Entry]:
    """The entries of the first mapping that all of some mappings have, of mappings in them the same."""
    found = {}
    for key, (name, value) in said[0].items():
        if not all(key in other for other in said):
            continue
        values = [plain(other[key][1]) for other in said]
        if any(one != values[0] for one in values) and _are_alike(values):
            below = _shared([pairs(other[key][1]) for other in said])
            value = yaml.MappingNode(value.tag, list(below.values()), flow_style=value.flow_style)
        if not isinstance(value, yaml.MappingNode) or value.value:
            found[key] = name, value
    return found


def _beside(common: Mapping[str, Entry], entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """What a preset says beside what a claim says, of mappings the part that is other."""
    found = {}
    is_ruled = any(key in entries and plain(common[key][1]) != plain(entries[key][1]) for key in RULE if key in common)
    is_ruled |= any(key in entries and key not in common for key in RULE)
    for key, (name, value) in entries.items():
        if key not in common or (is_ruled and key in RULE):
            found[key] = name, value
        elif plain(common[key][1]) != (own := plain(value)):
            if _are_alike([plain(common[key][1]), own]):
                below = _beside(pairs(common[key][1]), pairs(value))
                value = yaml.MappingNode(value.tag, list(below.values()), flow_style=value.flow_style)
            found[key] = name, value
    return found


def _are_alike(values: Sequence[Any]) -> bool:
    """Whether values are mappings of one component, or of one rival, which an overlay changes in part."""
    if not all(isinstance(one, dict) for one in values):
        return False
    return all(one.get(word) == values[0].get(word) for one in values for word in ("name", "rival"))


def _unscope(nodes: Sequence[yaml.Node], places: Collection[str]) -> None:
    """Take out of a claim and its changes the scope that is computed now. places: those whose hypotheses are listed."""
    said = [pairs(node) for node in nodes]
    if any("place" in one and one["place"][1].value in places for one in said):
        for node in nodes:
            for key in ("regime", "beyond"):
                drop(node, key)


def _written(
    said: Mapping[str, Entry], whole: Mapping[str, Entry], rivals: "_Rivals", hypotheses: Mapping[str, Any]
) -> dict[str, Entry]:
    """The entries of a claim, or of what changes in it, in the present form. whole: with what stands below a change."""
    found = {key: said[key] for key in ORDER if key in said}
    for key in ("kind", "regime"):
        if key in found and found[key][1].value in ("description", "beyond"):
            del found[key]
    if "beyond" in said:
        found["beyond"] = said["beyond"][0], _broken(said["beyond"][1], hypotheses)
    ruled = [key for key in RULE if key in said]
    if ruled and whole["rule"][1].value != "descriptive":
        key = _key("test")
        key.above = [line for one in ruled for line in getattr(said[one][0], "above", [])]
        key.behind = next(filter(None, (getattr(said[one][0], "behind", "") for one in ruled)), "")
        found["test"] = key, _test(whole)
    elif "predicted" in said:
        found["printed"] = _key("printed"), said["predicted"][1]
    if "control" in said:
        key = _key("rival")
        key.above, key.behind = getattr(said["control"][0], "above", []), getattr(said["control"][0], "behind", "")
        found["rival"] = key, rivals.written(said["control"][1])
    return {key: found[key] for key in ORDER if key in found}


def _test(claim: Mapping[str, Entry]) -> yaml.ScalarNode:
    """The test of a claim's rule, in quotes, with its numbers as they were written."""
    values = {key: plain(claim[key][1]) for key in RULE if key in claim}
    rule = values["rule"] = present_rule(values["rule"])
    sign = "<" if rule == "ordering" and values.get("side") == "below" else SIGN_OF.get(rule, rule)
    words = [str(sign)]
    for key, before in (("predicted", ""), ("slack", SIGNS.get(sign, ("", ""))[1])):
        if key in values:
            source = claim[key][1].source.split()[-1]
            words += [
                *filter(None, [before]),
                source if re.fullmatch(f"-?{tests.NUMBER}", source) else str(values[key]),
            ]
    text = " ".join(words)
    try:
        tests.read(text)
    except ValueError as error:
        said = ", ".join(f"{key}: {value}" for key, value in values.items())
        raise ValueError(f"found {said}; expected a rule that can be written as {error}") from error
    node = node_of(text)
    node.source = text if text == rule else f'"{text}"'
    return node


def _broken(node: yaml.ScalarNode, hypotheses: Mapping[str, Mapping[str, Any]]) -> yaml.Node:
    """The ids of the hypotheses that a text names, or the text."""
    known = {papers.sentence(one): name for name, one in hypotheses.items()}
    found = _ids(node.value.split("; "), known)
    return node_of(found) if found else node


def _ids(parts: Sequence[str], known: Mapping[str, str]) -> list[str] | None:
    """The ids of sentences, some of which may have the separator inside."""
    if not parts:
        return []
    for count in range(1, len(parts) + 1):
        if (name := known.get("; ".join(parts[:count]))) and (rest := _ids(parts[count:], known)) is not None:
            return [name, *rest]
    return None


class _Rivals:
    """Rivals that several claims have, by a name; others stand in their claims."""

    def __init__(self, root: yaml.MappingNode, claims: Sequence[Mapping[str, Entry]]):
        self.named: dict[str, yaml.Node] = {}
        self._names: dict[str, str] = {}
        counts: dict[str, list[yaml.Node]] = {}
        for node in (one for entries in claims for _, one in entries.values()):
            control = yaml_text.at(node, "control")
            if control is not None and {"rival", "quantity"} <= set(pairs(control)):
                counts.setdefault(repr(plain(control)), []).append(control)
        for content, nodes in counts.items():
            if len(nodes) > 1:
                name = self._name(nodes)
                self._names[content], self.named[name] = name, self._whole(nodes[0])

    def _name(self, nodes: Sequence[yaml.Node]) -> str:
        anchors = (getattr(node, "anchor", "") for node in nodes)
        quantity = plain(yaml_text.at(nodes[0], "quantity"))
        text = plain(yaml_text.at(nodes[0], "rival"))
        wanted = next(filter(None, anchors), None) or quantity.get("learner") or text
        words = re.sub("[^a-z0-9]+", "-", str(wanted).lower().replace("'s", "")).strip("-").split("-")
        words = [word for word in words if word not in SMALL] or words
        name = "-".join(words[:3])
        number = 1
        while name in self.named:
            number += 1
            name = f"{'-'.join(words[:3])}-{number}"
        return name

    def written(self, control: yaml.MappingNode) -> yaml.Node:
        """The name of a rival, or what it is."""
        name = self._names.get(repr(plain(control)))
        return node_of(name) if name else self._whole(control)

    def _whole(self, control: yaml.MappingNode) -> yaml.MappingNode:
        entries = [(_key("is") if key == "rival" else name, value) for key, (name, value) in pairs(control).items()]
        return yaml.MappingNode(control.tag, entries, flow_style=control.flow_style)
