"""Definition files: errors name the file and the field."""

from pathlib import Path

import pytest

from cupel.errors import UsageError
from cupel.files import read_definition

GOOD = "name: Facts\nfolder: demo\ntags: [a]\ncontent: {system: x}\nscenarios: [{prompt: one}]\n"


def read(tmp_path: Path, text: str):
    path = tmp_path / "d.yaml"
    path.write_text(text)
    return read_definition(path)


def test_the_parts_of_a_file(tmp_path: Path):
    file = read(tmp_path, GOOD)
    assert file.definition == {"name": "Facts", "folder": "demo", "tags": ["a", file.tag], "content": {"system": "x"}}
    assert file.scenarios == [{"prompt": "one"}]
    assert file.generate is None


def test_the_tag_follows_the_content(tmp_path: Path):
    assert read(tmp_path, GOOD).tag == read(tmp_path, GOOD).tag
    assert read(tmp_path, GOOD).tag != read(tmp_path, GOOD + "\n").tag
    assert read(tmp_path, GOOD).tag.startswith("sha:")
    assert len(read(tmp_path, GOOD).tag) == len("sha:") + 12


def test_dates_stay_text(tmp_path: Path):
    assert read(tmp_path, GOOD.replace("one", "2026-01-31")).scenarios == [{"prompt": "2026-01-31"}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: [", r":1:8: "),
        (GOOD + "name: Fiction\n", r":6:1: name: this key occurs twice"),
        (GOOD.replace("{system: x}", '{system: x, "system": y}'), r":4:22: system: this key occurs twice"),
        ("just text", "must be a mapping"),
        ("", "must be a mapping"),
        (GOOD + "sceanrios: []", "sceanrios: unknown field"),
        (GOOD.replace("name: Facts\n", ""), "name: must be non-empty text"),
        (GOOD.replace("Facts", "' '"), "name: must be non-empty text"),
        (GOOD.replace("[a]", "a"), "tags: must be a list"),
        (GOOD.replace("[a]", "[a, 1]"), r"tags\.1: must be text"),
        (GOOD.replace("{system: x}", "hello"), "content: must be a mapping"),
        (GOOD.replace("[{prompt: one}]", "[]"), "scenarios: must not be empty"),
        (GOOD.replace("{prompt: one}", "{prompt: one}, two"), r"scenarios\.1: must be a mapping"),
        (GOOD.replace("scenarios: [{prompt: one}]", ""), "either scenarios or generate"),
        (GOOD + "generate: {mode: matrix}", "either scenarios or generate"),
        (GOOD.replace("scenarios: [{prompt: one}]", "generate: matrix"), "generate: must be a mapping"),
        (GOOD.replace("one", ".nan"), "a value that JSON cannot represent"),
        (GOOD.replace("{prompt: one}", "&a {prompt: *a}"), "a value that JSON cannot represent"),
        ("!!python/object:os.system {}", "could not determine a constructor"),
    ],
)
def test_errors_name_the_file_and_the_field(tmp_path: Path, text: str, message: str):
    with pytest.raises(UsageError, match=message) as caught:
        read(tmp_path, text)
    assert str(tmp_path / "d.yaml") in str(caught.value)


def test_a_merged_key_may_be_overridden(tmp_path: Path):
    scenarios = "scenarios: [{a: &a {<<: &b {prompt: one}, prompt: two}, <<: *a, prompt: three}]"
    assert read(tmp_path, GOOD.replace("scenarios: [{prompt: one}]", scenarios)).scenarios == [
        {"a": {"prompt": "two"}, "prompt": "three"}
    ]


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(UsageError, match=r"nope\.yaml: No such file"):
        read_definition(tmp_path / "nope.yaml")


def test_a_file_that_is_not_text_is_named(tmp_path: Path):
    (tmp_path / "d.yaml").write_bytes(b"name: \xff\xfe")
    with pytest.raises(UsageError, match=r"d\.yaml: is not valid YAML text"):
        read_definition(tmp_path / "d.yaml")
