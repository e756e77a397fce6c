"""What the lines of an imported text hold."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.definitions.scenario_files import ImportFormat, ImportLine, parse_lines


def csv_lines(text: str, *dimensions: str) -> list[ImportLine]:
    return list(parse_lines(text, ImportFormat.CSV, dimensions))


def jsonl_lines(text: str) -> list[ImportLine]:
    return list(parse_lines(text, ImportFormat.JSONL))


def only(lines: list[ImportLine]) -> Any:
    assert [line.problem for line in lines] == [None]
    return lines[0].item


def test_a_row_of_every_column() -> None:
    text = "prompt,name,dimension:risk,Benefit Size,metadata:source\nHello,first,1.5,2,book\n"
    assert only(csv_lines(text, "risk", "benefit_size")) == {
        "prompt": "Hello",
        "name": "first",
        "dimensions": {"risk": 1.5, "benefit_size": 2},
        "metadata": {"source": "book"},
    }


def test_messages_are_json_in_a_cell() -> None:
    messages = [{"role": "user", "content": 'say "hi", please'}]
    cell = json.dumps(messages).replace('"', '""')
    assert only(csv_lines(f'messages\n"{cell}"\n')) == {"messages": messages}


def test_an_empty_cell_is_an_omitted_field() -> None:
    assert only(csv_lines("prompt,name,dimension:risk\nHello,,\n")) == {"prompt": "Hello"}


def test_a_byte_order_mark_is_not_part_of_the_header() -> None:
    assert only(csv_lines("\ufeffprompt\nHello\n")) == {"prompt": "Hello"}


def test_a_row_is_identified_by_the_line_it_starts_on() -> None:
    lines = csv_lines('prompt,dimension:risk\n"two\nlines",1\n\nthird,much\n')
    assert [(line.number, line.problem) for line in lines] == [
        (2, None),
        (5, "the score of dimension risk must be a number, not much"),
    ]


@pytest.mark.parametrize("cell", ["much", "nan", "inf", "1,5", "--1"])
def test_a_score_must_be_a_number(cell: str) -> None:
    [line] = csv_lines(f'prompt,dimension:risk\nHello,"{cell}"\n')
    assert "must be a number" in (line.problem or "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "prompt, messages or instructions"),
        ("name\nx\n", "prompt, messages or instructions"),
        ("prompt,colour\nx,red\n", "unknown column colour"),
        ("prompt,\nx,y\n", "(without a name)"),
        ("prompt,prompt\nx,y\n", "duplicate column prompt"),
        ("prompt,risk,dimension:Risk\nx,1,2\n", "duplicate column dimension:Risk"),
    ],
)
def test_a_bad_header_is_the_only_problem(text: str, problem: str) -> None:
    [line] = csv_lines(text, "risk")
    assert line.number == 1
    assert problem in (line.problem or "")


def test_a_row_with_a_cell_too_many_is_refused() -> None:
    assert [line.problem for line in csv_lines("prompt\nx,y\nz\n")] == ["has 2 cells, but the header has 1", None]


def test_an_open_quote_is_refused() -> None:
    lines = csv_lines('prompt\nfine\n"never closed\n')
    assert (lines[-1].number, lines[-1].item) == (3, None)
    assert "not valid CSV" in (lines[-1].problem or "")


def test_bad_json_in_a_cell_is_refused() -> None:
    [line] = csv_lines("messages\n[{]\n")
    assert "messages must be valid JSON" in (line.problem or "")


def test_jsonl_has_an_object_per_line_and_may_have_blank_lines() -> None:
    lines = jsonl_lines('{"prompt": "one"}\r\n\n{"prompt": "two"}')
    assert [(line.number, line.item) for line in lines] == [(1, {"prompt": "one"}), (3, {"prompt": "two"})]


@pytest.mark.parametrize("content", ["{", "[1]", "7", "nonsense", "[" * 100_000])
def test_a_line_that_is_no_object_is_refused_and_the_others_are_read(content: str) -> None:
    lines = jsonl_lines(f'{content}\n{{"prompt": "two"}}')
    assert [line.item for line in lines] == [None, {"prompt": "two"}]


@given(st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=20), min_size=1), max_size=5))
def test_any_json_object_is_read_from_its_line(items: list[dict[str, str]]) -> None:
    text = "\n".join(json.dumps(item, ensure_ascii=False) for item in items)
    assert [line.item for line in jsonl_lines(text)] == items


@given(st.text(max_size=200))
def test_every_line_of_any_text_has_an_item_or_a_problem(text: str) -> None:
    for text_format in ImportFormat:
        assert all((line.item is None) != (line.problem is None) for line in parse_lines(text, text_format))


def test_a_cell_may_have_any_size() -> None:
    [line] = parse_lines(f"prompt\n{'x' * 200_000}\n", ImportFormat.CSV)
    assert line.item == {"prompt": "x" * 200_000}
