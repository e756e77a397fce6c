"""Tables of tests, with quotes as promptfoo's parser reads them; a table is read whole or the import is refused."""

import json
from pathlib import Path

import pytest

from cupel import local_files
from cupel.local_files import FolderFiles
from cupel_core.domain.codec import encode
from cupel_core.interop.imports.json_documents import InvalidDocument
from cupel_core.interop.imports.promptfoo import read_config
from cupel_core.interop.imports.promptfoo.tabular_tests import read_records
from tests.unit.interop.imports.cases import config_path
from tests.unit.interop.imports.reading import last_messages, scenarios, skipped

ONE_PROMPT = {"prompts": ["{{a}}|{{b}}"], "providers": ["echo"], "tests": "file://t.csv"}
QUOTES = [
    ('a,b\n"un"quoted,2\n3,"2 ""q"""\n', [['"un"quoted', "2"], ["3", '2 "q"']]),
    ('a,b\n"x" y "z",2\n', [['"x" y "z"', "2"]]),
    ('a,b\n"say "hi"",2\n', [['"say "hi""', "2"]]),
    ('a,b\n"a""b"c,2\n', [['"a"b"c', "2"]]),
    ('a,b\n"l1\nl2"x,2\n5,6\n', [['"l1\nl2"x', "2"], ["5", "6"]]),
    ('a,b\n "x","y" \n', [[' "x"', '"y" ']]),
    ('a,b\r\n"1\n2",\r\n"",""', [["1\n2", ""], ["", ""]]),
    ("a,b\r1,2\r\r3,4", [["1", "2"], ["3", "4"]]),
    ("a,b\n1,2\r\n", [["1", "2\r"]]),
]
"""Compared with csv-parse 6, as promptfoo 0.123 calls it."""


@pytest.mark.parametrize(("text", "rows"), QUOTES)
def test_quotes_that_are_not_doubled_are_text(text: str, rows: list[list[str]]) -> None:
    assert [record.cells for record in read_records(text, "t.csv")][1:] == rows


def test_records_are_told_by_the_line_they_begin_on() -> None:
    text = '\ufeffa,b\n\n"1\n2",3\n4,5'
    assert [(record.line, record.cells[0]) for record in read_records(text, "t")] == [(1, "a"), (3, "1\n2"), (5, "4")]


def test_a_table_of_one_column_has_no_blank_rows_but_empty_ones() -> None:
    assert [record.cells for record in read_records('a\n\n""\nb\n', "t")] == [["a"], [""], ["b"]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('a,b\n1,2\n"open,3\n4,5\n', "t.csv line 3 has a quote that is never closed"),
        ("a,b\n1,2\n3\n", "t.csv line 3 has 1 cells, but the header has 2"),
        ("a,b\n1,2\n3,4,5\n", "t.csv line 3 has 3 cells, but the header has 2"),
        ("a,__expected,__expected\n1,x,y\n", "t.csv has two columns that are named __expected"),
        ("a,__config:__expected:threshold\n1,\n", "the column __config:__expected:threshold must be named"),
    ],
)
def test_a_table_that_breaks_in_the_middle_is_refused_with_its_row(text: str, why: str) -> None:
    with pytest.raises(InvalidDocument, match=why):
        scenarios(ONE_PROMPT, t__csv=text)


@pytest.mark.parametrize("name", ["broken.yaml", "broken.json", "broken.jsonl"])
def test_other_files_of_tests_are_read_whole_or_not_at_all(name: str) -> None:
    content = '{"vars": {"a": 1, "b": 2}}\n{"vars": ' if name.endswith("l") else "[{vars: {a: 1, b: 2}}, {"
    config = {**ONE_PROMPT, "tests": ["file://t.csv", f"file://{name}"]}
    with pytest.raises(InvalidDocument, match="broken"):
        scenarios(config, t__csv="a,b\n1,2\n", **{name.replace(".", "__"): content})


def read_case(name: str) -> list[str]:
    path = config_path(name)
    suite = read_config(path.read_text(), FolderFiles(path.parent))
    return [scenario.messages[-1].content for draft in suite.drafts for scenario in draft.scenarios]


def test_undoubled_quotes_of_a_real_table() -> None:
    assert read_case("undoubled_quotes") == ["1 2", '"un"quoted 2', '3 2 "q"']


def test_ragged_rows_of_a_real_table() -> None:
    with pytest.raises(InvalidDocument, match=r"t\.csv line 3 has 1 cells, but the header has 3"):
        read_case("ragged_rows")


def test_a_cell_may_have_any_length() -> None:
    assert last_messages(ONE_PROMPT, t__csv=f"a,b\n{'lorem ipsum ' * 15_000},{'x' * 140_000}\n") == [
        f"{'lorem ipsum ' * 15_000}|{'x' * 140_000}"
    ]


def test_prompts_of_a_table_may_have_any_length() -> None:
    config = {"prompts": ["file://p.csv"], "providers": ["echo"], "tests": [{"vars": {"a": "b"}}]}
    table = f'prompt,label\n"{"long " * 40_000}{{{{a}}}}",one\n "Say "hi" {{{{a}}}}" , two\n'
    assert [len(text) for text in messages_by_prompt(config, table)] == [200_001, len('"Say "hi" b"')]


def messages_by_prompt(config: dict[str, object], table: str) -> list[str]:
    [scenario] = scenarios(config, p__csv=table)
    return [messages[-1].content for messages in scenario.messages_by_prompt.values()]


def test_byte_order_marks_are_no_part_of_a_text() -> None:
    path = config_path("byte_order_marks")
    suite = read_config(path.read_text(), FolderFiles(path.parent))
    assert "\ufeff" not in json.dumps(encode(suite), ensure_ascii=False)
    [draft] = suite.drafts
    first = draft.scenarios[0].messages_by_prompt
    assert [messages[0].content for messages in first.values()][:3] == [
        "[x \r\n y]",
        "first x \r\n y",
        "second x \r\n y",
    ]


@pytest.mark.parametrize("name", ["v.txt", "v.md", "v.json", "v.yaml"])
def test_a_byte_order_mark_is_trimmed_from_each_kind_of_file(name: str) -> None:
    config = {"prompts": ["file://p.md"], "providers": ["echo"], "tests": [{"vars": {"a": f"file://{name}"}}]}
    files = {"p__md": "\ufeffSay {{a}}", name.replace(".", "__"): '\ufeff"x"'}
    [text] = last_messages(config, **files)
    assert text == 'Say "x"'


def test_why_a_file_is_not_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_files, "MAX_FOLDER_FILE_BYTES", 2_000_000)
    (tmp_path / "u16.csv").write_bytes("a,b\ngrün,2\n".encode("utf-16"))
    (tmp_path / "latin.csv").write_bytes("a,b\ngrün,2\n".encode("cp1252"))
    (tmp_path / "zeros.csv").write_bytes(b"a,b\0\n")
    (tmp_path / "big.csv").write_text("a,b\n" + "x,y\n" * 600_000)
    tests = [f"file://{name}.csv" for name in ("u16", "latin", "zeros", "big", "none")]
    report = read_config(json.dumps({**ONE_PROMPT, "tests": tests}), FolderFiles(tmp_path)).report
    assert [note.why for note in report.skipped][:5] == [
        "u16.csv is not text in UTF-8, but in UTF-16; save it as UTF-8",
        "latin.csv is not text in UTF-8, but perhaps in Windows-1252; save it as UTF-8",
        "zeros.csv is not text in UTF-8, but binary; save it as UTF-8",
        "big.csv has 2.4 MB, and an imported file may have at most 2 MB",
        "none.csv does not exist or is not a text file",
    ]


def test_files_in_other_encodings_of_a_real_configuration() -> None:
    path = config_path("other_encodings")
    report = read_config(path.read_text(), FolderFiles(path.parent)).report
    assert ["UTF-8" in note.why for note in report.skipped] == [True, True, False]


def test_a_test_is_skipped_for_a_variable_in_an_unreadable_file() -> None:
    config = {"prompts": ["{{a}}"], "tests": [{"vars": {"a": "file://none.txt"}}]}
    assert "does not exist" in skipped(config)[0].why
