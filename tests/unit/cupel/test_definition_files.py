"""Definition files: errors name the file and the field."""

from pathlib import Path

import pytest

from cupel.definition_texts import scenario_fields
from cupel.errors import RefusedField, UsageError
from cupel.files import read_definition
from cupel.source_files import SourceFile

GOOD = "name: Facts\nfolder: demo\ntags: [a]\ncontent: {system: x}\nscenarios: [{prompt: one}]\n"


def read(tmp_path: Path, text: str):
    path = tmp_path / "d.yaml"
    path.write_text(text)
    return read_definition(path)


def test_the_parts_of_a_file(tmp_path: Path):
    file = read(tmp_path, GOOD)
    assert file.definition == {"name": "Facts", "folder": "demo", "tags": ["a"], "content": {"system": "x"}}
    assert file.scenarios == [{"prompt": "one"}]
    assert (file.generate, file.id) == (None, None)


@pytest.mark.parametrize(
    ("changed", "is_same"),
    [
        (GOOD + "# a comment\n", True),
        (GOOD.replace("Facts", "Other"), True),
        (GOOD.replace("one", "two"), False),
        (GOOD.replace("system: x", "system: y"), False),
    ],
)
def test_the_digest_follows_content_and_scenarios_only(tmp_path: Path, changed: str, is_same: bool):
    assert (read(tmp_path, GOOD).digest == read(tmp_path, changed).digest) is is_same


def test_dates_stay_text(tmp_path: Path):
    assert read(tmp_path, GOOD.replace("one", "2026-01-31")).scenarios == [{"prompt": "2026-01-31"}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: [", r":1:8: "),
        (GOOD + "name: Fiction\n", r":6:1: name: this key occurs twice"),
        (GOOD.replace("{system: x}", '{system: x, "system": y}'), r":4:22: system: this key occurs twice"),
        ("just text", "is a text or a number; a definition file has fields"),
        ("", "is empty; a definition file has fields"),
        (GOOD + "sceanrios: []", r":6: sceanrios: is not a known field \(did you mean scenarios\?\)"),
        (GOOD + "asertions: []", r":6: asertions: is not a known field \(did you mean content\.assertions\?\)"),
        (GOOD + "system: x", r":6: system: is not a known field \(did you mean content\.system\?\)"),
        (GOOD + "xyz: 1", r"xyz: is not a known field; known fields: id, name"),
        (GOOD.replace("name: Facts\n", ""), "name: is required, and must be non-empty text"),
        (GOOD.replace("Facts", ""), "name: is required, and must be non-empty text"),
        (GOOD.replace("Facts", "' '"), "name: must be non-empty text"),
        (GOOD.replace("[a]", "a"), "tags: must be a list"),
        (GOOD.replace("[a]", "[a, 1]"), r"tags\.1: must be text"),
        (GOOD.replace("{system: x}", "hello"), "content: must be a mapping"),
        (GOOD.replace("{system: x}", ""), r":4: content: is required, and must be a mapping"),
        (GOOD + "personas: [{description: impatient}]", r":6: personas\.0\.name: is required, and must be"),
        (GOOD + "connectors: [{name: bot, baseUrl: 'https://a'}]", r"connectors\.0\.type: is required$"),
        (GOOD.replace("prompt: one", "messages: [{role: user}]"), r"scenarios\.0\.messages\.0\.content: is required$"),
        (GOOD.replace("system: x", "assertions: [{value: x}]"), r"content\.assertions\.0\.type: is required, and must"),
        (GOOD.replace("[{prompt: one}]", "[]"), "scenarios: must not be empty"),
        (GOOD.replace("{prompt: one}", "{prompt: one}, 2"), r"scenarios\.1: must be a text or a mapping"),
        (GOOD.replace("scenarios: [{prompt: one}]", ""), "exactly one of scenarios and generate is required, but none"),
        (GOOD + "generate: {mode: matrix}", "exactly one of scenarios and generate is required, but both"),
        (GOOD.replace("scenarios: [{prompt: one}]", "generate: matrix"), "generate: must be a mapping"),
        (GOOD.replace("scenarios: [{prompt: one}]", "generate: {options: first}"), r":5: generate\.mode: is required"),
        (GOOD.replace("one", ".nan"), "a value that JSON cannot represent"),
        (GOOD.replace("{prompt: one}", "&a {prompt: *a}"), "a value that JSON cannot represent"),
        (GOOD.replace("one", "1"), r":5: scenarios\.0\.prompt: must be text, not 1; put it in quotes"),
        (GOOD.replace("system: x", "sytem: x"), r":4: content\.sytem: is not a known field \(did you mean system\?\)"),
        ("!!python/object:os.system {}", "is a tag, which is not accepted"),
    ],
)
def test_errors_name_the_file_and_the_field(tmp_path: Path, text: str, message: str):
    with pytest.raises(UsageError, match=message) as caught:
        read(tmp_path, text)
    assert str(tmp_path / "d.yaml") in str(caught.value)


SCORED = GOOD.replace(
    "[{prompt: one}]", "[{name: a, prompt: one, metadata: {vars: {fact: x, deep: {y: 1}}}}, {prompt: b}]"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            SCORED.replace("name: a,", "name: a, assertions: [{type: equals, value: '{{fcat}}'}],"),
            r"scenarios\.0\.assertions\.0\.value: the scenario has no variable \{\{fcat\}\}",
        ),
        (
            SCORED.replace("{system: x}", "{system: x, assertions: [{type: contains-all, value: ['{{fact}}', z]}]}"),
            r"content\.assertions\.0\.value: scenario 2 has no variable \{\{fact\}\}",
        ),
        (
            SCORED.replace("{system: x}", "{prompts: [{id: p, template: 'Say [fact]'}]}"),
            r"scenarios\.1: the prompt p needs a value for \[fact\], which the scenario does not have",
        ),
        (
            SCORED.replace("{prompt: b}", "{name: a, prompt: b}"),
            r"scenarios\.1\.name: scenario 1 has the name a, too",
        ),
    ],
)
def test_scenarios_that_could_not_be_asked_scored_or_told_apart_are_refused(tmp_path: Path, text: str, message: str):
    with pytest.raises(UsageError, match=message):
        read(tmp_path, text)


def test_variables_that_have_values_or_are_escaped_are_accepted(tmp_path: Path):
    values = r"['{{fact}}', '{{deep.y}}', '\{{other}}']"
    own = "name: a, assertions: [{type: contains-all, value: " + values + "}],"
    assert read(tmp_path, SCORED.replace("name: a,", own)).scenarios is not None


def test_a_merged_key_may_be_overridden(tmp_path: Path):
    scenarios = "scenarios: [{metadata: {a: &a {<<: &b {prompt: one}, prompt: two}}, <<: *a, prompt: three}]"
    assert read(tmp_path, GOOD.replace("scenarios: [{prompt: one}]", scenarios)).scenarios == [
        {"metadata": {"a": {"prompt": "two"}}, "prompt": "three"}
    ]


def test_all_problems_are_reported_at_once_with_their_lines(tmp_path: Path):
    text = """name: Facts
asertions: []
content:
  template: About [topic].
  assertions: [{type: contians, value: x}]
scenarios:
  - prompt: one
  - name: two
    promt: two
    assertions:
      - type: equals
connectors:
  - {name: a, type: ftp, baseUrl: nowhere}
"""
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    first, *lines = str(caught.value).splitlines()
    places = [line.removeprefix(f"  {tmp_path}/d.yaml:").split(": ")[:2] for line in lines]
    assert first == f"{len(lines)} problems"
    assert places == [
        ["2", "asertions"],
        ["4", "content.template"],
        ["5", "content.assertions.0.type"],
        ["9", "scenarios.1.promt"],
        ["13", "connectors.0.baseUrl"],
        ["13", "connectors.0.type"],
    ]


def test_a_key_with_dots_is_found(tmp_path: Path):
    source = SourceFile("x", None, b"a.b:\n  c: 1\n  d:\n  - 1\n  - 2\n")
    assert str(source.refusal([RefusedField("a.b.d.1", "wrong")])) == "x:5: a.b.d.1: wrong"


def test_many_problems_are_cut(tmp_path: Path):
    refusal = SourceFile("x", None).refusal(RefusedField(f"f{number}", "wrong") for number in range(60))
    assert str(refusal).splitlines()[0::51] == ["60 problems", "  and 10 more"]


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(UsageError, match=r"nope\.yaml: No such file"):
        read_definition(tmp_path / "nope.yaml")


def test_a_file_that_is_not_text_is_named(tmp_path: Path):
    (tmp_path / "d.yaml").write_bytes(b"name: \xff\xfe")
    with pytest.raises(UsageError, match=r"d\.yaml: line 1 is not UTF-8 text"):
        read_definition(tmp_path / "d.yaml")


def test_empty_values_of_assertions_are_written_to_a_file() -> None:
    assertions = [{"type": "equals", "value": []}, {"type": "equals", "value": {"tags": [], "city": None}}]
    scenario = {"messages": [{"role": "user", "content": "one"}], "assertions": assertions, "followUps": []}
    assert scenario_fields(scenario) == {"prompt": "one", "assertions": assertions}


@pytest.mark.parametrize("digits", [19, 20, 5_000])
def test_integers_that_other_programs_cannot_read_are_named(tmp_path: Path, digits: int) -> None:
    number = "9" * digits
    (tmp_path / "d.yaml").write_text(f"name: a\nscenarios:\n- prompt: b\n  metadata: {{vars: {{n: [1, -{number}]}}}}\n")
    with pytest.raises(UsageError, match=r"d\.yaml:4:28: scenarios\.0\.metadata\.vars\.n\.1: must not be an integer"):
        read_definition(tmp_path / "d.yaml")


@pytest.mark.parametrize(
    "text", ['{"name": "a",\n "scenarios": [{"prompt": "b"}', '{"name": "a",\n "scenarios": ["b",\n\n']
)
def test_a_json_file_that_was_cut_off_is_named_where_it_ends(tmp_path: Path, text: str) -> None:
    (tmp_path / "d.json").write_text(text)
    with pytest.raises(UsageError, match=r"d\.json:2(:\d+)?: the file ends too early"):
        read_definition(tmp_path / "d.json")
