"""Reading YAML, listing faults, filling defaults, merging presets."""

import os
import re

import pytest

from hierlearn.core.words import nearest, show
from hierlearn.pipeline.files.errors import Fault
from hierlearn.pipeline.files.load import load
from hierlearn.pipeline.files.load import value as value_of
from hierlearn.pipeline.files.schema_errors import fill_defaults, schema_faults
from hierlearn.pipeline.plan.presets import merge


def read(tmp_path, text):
    file = tmp_path / "study.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(file, "studies/study.yaml")


def test_a_mapping_is_read(tmp_path):
    assert read(tmp_path, "one: 1\ntwo: [a, b]\n") == ({"one": 1, "two": ["a", "b"]}, [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "studies/study.yaml: found nothing; expected a mapping of keys to values"),
        ("# a comment\n---\n", "found nothing; expected a mapping of keys to values"),
        ("a: 1\n---\na: 2\n", "line 2: found another document; expected a single document"),
        ("a: &b 1\nc: &b 2\n", "line 2: found duplicate anchor 'b'; expected valid YAML"),
        ("a: {<<: {b: 1}, <<: {c: 2}}\n", "line 1: found duplicate key '<<'; expected valid YAML"),
        ("a: [1\nb: 2\n", "line 2: found something else; expected valid YAML, here ',' or ']'"),
        ("- a\n", "found ['a']; expected a mapping"),
        ("a: 1\nb: 2\na: 3\n", "line 3: found duplicate key 'a'; expected valid YAML"),
        ("a: {b: 1, b: 2}\n", "line 1: found duplicate key 'b'"),
        ("a: [1\n", "line 2: found"),
        ("a: b\n\tc: 1\n", "line 2: found a tab character that violates indentation"),
        ("? [a, b]\n: 1\n", "is not a word"),
        ("a: !!python/object/apply:os.getcwd []\n", "a: found the tag !!python/object/apply:os.getcwd; expected"),
        ("a: 1\nb: !secret 2\n", "b: found the tag !secret; expected values without a tag"),
        ("a: !!set {b, c}\n", "a: found the tag !!set; expected values without a tag"),
        ("a: [{b: !!binary aGVsbG8=}]\n", "a[0].b: found the tag !!binary; expected values without a tag"),
        ("? !secret a\n: 1\n", "line 1: found key the tag !secret is not a word; expected words as keys"),
        ("a: !!map 2\n", "line 1: found '2', which is no map; expected valid YAML"),
        ("a: !!int [2]\n", "line 1: found sequence; expected a scalar node"),
        ("a: {b: [010]}\n", "a.b[0]: found 010, which YAML reads as 8; expected a number to base ten"),
        ("a: -010\n", "a: found -010, which YAML reads as -8; expected a number to base ten"),
        ("a: 1:30\n", "a: found 1:30, which YAML reads as 90; expected a number to base ten"),
        ("a: 1:30.5\n", "a: found 1:30.5, which YAML reads as 90.5; expected a number to base ten"),
        ('a: "b\\0c"\n', r"a: found 'b\x00c'; expected a text without U+0000"),
        ('a: ["b\\u202ec"]\n', r"a[0]: found 'b\u202ec'; expected a text without U+202E"),
        ('a: {"b\\tc": 1}\n', r"a.b\tc: found this key; expected a key without U+0009"),
        ("a: {b: [1, .inf]}\n", "a.b[1]: found inf; expected a finite number"),
        ("a: .nan\n", "a: found nan; expected a finite number"),
        (
            b"a: 1\nb: \xff\xfe\n",
            "found a file that cannot be read (line 2 is not UTF-8); expected a readable YAML file",
        ),
        ("a: 2026-13-45\n", "a: found 2026-13-45, which YAML reads as a date; expected quotes around a text"),
        ("a: 2026-01-02 10:00:00\n", "which YAML reads as a date; expected quotes"),
        ("b: 1\na: !!bool five\n", "line 2: found 'five', which is no bool"),
        ("a: !!int\n", "line 1: found '', which is no int"),
        ("a: !!float ''\n", "line 1: found '', which is no float"),
        ("a: !!timestamp x\n", "a: found x, which YAML reads as a date; expected quotes"),
        ("a: !!int 'x'\n", "line 1: found 'x', which is no int"),
        ("? !!bool x\n: 1\n", "line 1: found 'x', which is no bool"),
        (f"a: [{'9' * 400}]\n", "expected a number between -1e+18 and 1e+18"),
        (f"a: {-(10**18) - 1}\n", "a: found -1000000000000000001; expected a number between -1e+18 and 1e+18"),
        ("a: {b: *c}\n", "a.b: found undefined alias 'c'; expected an anchor &c above it"),
        ("a: {<<: *b, c: 1}\n", "a: found undefined alias 'b'; expected an anchor &b above it"),
        ("a: &a 1\nb: {<<: *a, c: 1}\n", "b: found <<: 1; expected a mapping behind <<"),
        ("a: &a 1\nb: {<<: [{d: 1}, {<<: *a}], c: 1}\n", "b: found <<: 1; expected a mapping behind <<"),
        ("a: 1.0e+308\n", "a: found 1e+308; expected a number between -1e+100 and 1e+100"),
    ],
)
def test_unusable_text_is_one_fault_of_one_line(tmp_path, text, message):
    _, (fault,) = read(tmp_path, text)
    assert message in str(fault)
    assert "\n" not in str(fault)


def test_what_reads_as_it_is_written_is_taken(tmp_path):
    text = (
        "a: [0, -0, 0.5, 0x10, 0b11, 1_000, 1.0e-3]\nb: ['010', '1:30', '2026-01-02', =, <<, \"caf\\u00e9\\u00a0x\"]\n"
    )
    content, faults = read(tmp_path, f"{text}c: |\n  one\n  two\nd: \u06cc\u200c\u0627\n")
    assert faults == []
    assert content["a"] == [0, 0, 0.5, 16, 3, 1000, 0.001]
    assert content["b"] == ["010", "1:30", "2026-01-02", "=", "<<", "café\u00a0x"]
    assert (content["c"], content["d"]) == ("one\ntwo\n", "\u06cc\u200c\u0627")


def test_a_file_that_is_too_long_is_that_even_where_its_last_letter_is_cut(tmp_path):
    _, (fault,) = read(tmp_path, "#" * 999_999 + "é" * 9)
    assert "found a file of more than 1,000,000 bytes" in str(fault)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("*b", "undefined alias 'b'; expected an anchor"),
        ("2026-01-01", "which YAML reads as a date; expected quotes"),
        ("010", "which YAML reads as 8; expected a number to base ten"),
        (".nan", "nan; expected a finite number"),
        ('"b\\0"', "expected a text without U+0000"),
        ("[" * 5000, "expected a value as YAML has it"),
        ("!!set {a}", "the tag !!set; expected values without a tag"),
        ("9" * 6000, "expected a value as YAML has it"),
    ],
)
def test_a_word_of_the_command_line_is_a_value_that_can_be_used(text, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        value_of(text)


def test_a_missing_file_is_a_fault(tmp_path):
    _, (fault,) = load(tmp_path / "absent.yaml", "absent.yaml")
    assert "absent.yaml: found a file that cannot be read (no such file or directory)" in str(fault)


def test_a_pipe_is_refused_before_anyone_writes_into_it(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    _, (fault,) = load(tmp_path / "pipe.yaml", "pipe.yaml")
    assert "no regular file" in str(fault)


def test_the_largest_numbers_that_can_be_computed_with_are_taken(tmp_path):
    assert read(tmp_path, f"a: [{10**18}, -1.0e+100]\n")[1] == []


def test_entries_are_compared_as_json_has_it():
    against = {"items": {}, "uniqueItems": True}
    for sound in ([1, True, "1", [1], [True]], ["True", True], [{"a": 1}, {"a": True}, {"b": 1}]):
        assert not list(schema_faults("f", sound, against))
    for twice in ([1, 1.0], [{"a": 1, "b": [2]}, {"b": [2], "a": 1}], ["x", 2, "x"]):
        (fault,) = schema_faults("f", twice, against)
        assert fault.allowed == "no entry twice"


def test_a_number_that_yaml_reads_as_text_is_explained():
    (fault,) = schema_faults("s.yaml", {"ridge": "1e-3"}, {"properties": {"ridge": {"type": "number"}}})
    assert str(fault) == (
        "s.yaml: ridge: found '1e-3'; expected number (YAML reads this as text: write 1.0e-3 for 1e-3, and no quotes)"
    )


@pytest.mark.parametrize("text", ["NaN", "Infinity", "\uff11", "two"])
def test_what_is_no_number_of_yaml_gets_no_hint_of_one(text):
    (fault,) = schema_faults("s.yaml", {"ridge": text}, {"properties": {"ridge": {"type": "number"}}})
    assert str(fault) == f"s.yaml: ridge: found {text!r}; expected number"


def test_an_integer_with_a_decimal_point_and_a_yes_are_no_integers():
    against = {"properties": {"seeds": {"type": "integer"}}}
    for value in (5.0, True):
        (fault,) = schema_faults("s.yaml", {"seeds": value}, against)
        assert f"found {value}; expected integer" in str(fault)


def test_every_kind_of_violation_says_what_is_allowed():
    against = {
        "type": "object",
        "additionalProperties": False,
        "required": ["needed"],
        "properties": {
            "needed": {"description": "The needed one."},
            "word": {"enum": ["quick", "full"]},
            "count": {"type": "integer", "minimum": 2, "maximum": 9},
            "size": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            "list": {"type": "array", "minItems": 2, "uniqueItems": True},
            "text": {"type": "string", "pattern": "^a", "maxLength": 3},
            "names": {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}},
        },
    }
    content = {"words": 1, "word": "quik", "count": 1, "size": 0, "list": [1], "text": "b", "names": {"B1": 2}}
    found = {fault.field: str(fault) for fault in schema_faults("f", content, against)}
    assert found == {
        "words": "f: words: found an unknown key; expected one of count, list, names, needed, size, text, word "
        "(nearest: word)",
        "needed": "f: needed: found nothing; expected this required key: The needed one.",
        "word": "f: word: found 'quik'; expected one of full, quick (nearest: quick)",
        "count": "f: count: found 1; expected at least 2",
        "size": "f: size: found 0; expected more than 0",
        "list": "f: list: found [1]; expected at least 2 entries",
        "text": "f: text: found 'b'; expected text of the form ^a",
        "names": "f: names: found the name 'B1'; expected a name, text of the form ^[a-z]+$",
    }
    over = {"needed": 0, "count": 10, "size": 1, "list": [1, 1], "text": "abcd"}
    found = {fault.field: fault.allowed for fault in schema_faults("f", over, against)}
    assert found == {
        "count": "at most 9",
        "size": "less than 1",
        "list": "no entry twice",
        "text": "at most 3 characters",
    }


def test_long_values_are_cut_and_stay_on_one_line():
    text = show({"a": "x\n" * 200})
    assert len(text) <= 80
    assert text.endswith("...")
    assert "\n" not in text


def test_places_and_names_read_as_in_the_file():
    assert Fault("f", ("learners", "quad", "ridge", 0, "x"), "", "").field == "learners.quad.ridge[0].x"
    assert nearest("spher", ["sphere", "gaussian"]) == "one of gaussian, sphere (nearest: sphere)"
    assert nearest("zzz", ["sphere"]) == "one of sphere"
    assert nearest("zzz", []) == "nothing here"


def test_faults_sort_by_file_and_place():
    faults = [Fault("b", ("a",), "", ""), Fault("a", ("b",), "", ""), Fault("a", ("a", 2), "", "")]
    assert [(f.file, f.field) for f in sorted(faults)] == [("a", "a[2]"), ("a", "b"), ("b", "a")]


def test_defaults_are_filled_at_every_depth():
    against = {
        "properties": {
            "points": {"properties": {"test": {"default": 5}}, "default": {}},
            "learners": {"additionalProperties": {"$ref": "#/$defs/learner"}, "default": {}},
            "title": {},
        },
        "$defs": {"learner": {"properties": {"select": {"default": {}}}}},
    }
    filled = fill_defaults({"learners": {"a": {"x": 1}, "b": {"select": {"r": [1]}}}}, against)
    assert filled == {"points": {"test": 5}, "learners": {"a": {"x": 1, "select": {}}, "b": {"select": {"r": [1]}}}}


def test_an_overlay_merges_mappings_and_replaces_the_rest():
    body = {"axes": {"dimension": [6, 8], "degree": [4]}, "seeds": 5, "learners": {"a": {"cap": 1}}}
    merged = merge(body, {"axes": {"dimension": [4]}, "learners": {"a": {"cap": 2}, "b": {}}})
    assert merged == {
        "axes": {"dimension": [4], "degree": [4]},
        "seeds": 5,
        "learners": {"a": {"cap": 2}, "b": {}},
    }
    assert body["axes"]["dimension"] == [6, 8]


def test_a_component_of_another_name_keeps_no_parameter_of_the_replaced_one():
    body = {"kernel": {"name": "rbf", "bandwidth": 2}}
    assert merge(body, {"kernel": {"name": "ntk", "depth": 3}}) == {"kernel": {"name": "ntk", "depth": 3}}
    assert merge(body, {"kernel": {"name": "rbf", "x": 1}}) == {"kernel": {"name": "rbf", "bandwidth": 2, "x": 1}}
