import pytest

from cupel_core.interop.imports.json_documents import InvalidDocument
from cupel_core.interop.imports.promptfoo.tabular_tests import parse_assertion, read_rows, row_to_test

row_to_test.__test__ = False  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("cell", "assertion"),
    [
        ("blue", {"type": "equals", "value": "blue"}),
        ("contains: blue", {"type": "contains", "value": "blue"}),
        ("not-icontains: blue", {"type": "not-icontains", "value": "blue"}),
        ('contains-any: a, "b, c",d', {"type": "contains-any", "value": ["a", "b, c", "d"]}),
        (r'contains-all: "a ""b""", "\"c\\"', {"type": "contains-all", "value": ['a "b"', '"c\\']}),
        ("is-json", {"type": "is-json"}),
        ('is-json: {"type": "object"}', {"type": "is-json", "value": ' {"type": "object"}'}),
        ("levenshtein(3): blue", {"type": "levenshtein", "value": "blue", "threshold": 3}),
        ("similar: blue", {"type": "similar", "value": "blue", "threshold": 0.8}),
        ("similar(0.5): blue", {"type": "similar", "value": "blue", "threshold": 0.5}),
        ("latency(500)", {"type": "latency", "threshold": 500}),
        ("cost", {"type": "cost", "threshold": 0.75}),
        ("rouge-n: blue", {"type": "rouge-n", "value": "blue", "threshold": 0.75}),
        ("grade: is kind", {"type": "llm-rubric", "value": " is kind"}),
        ("fn: output == 1", {"type": "javascript", "value": "output == 1"}),
        ("eval:x", {"type": "javascript", "value": "x"}),
        ("python: x", {"type": "python", "value": "x"}),
        ("file://check.py:f", {"type": "python", "value": "file://check.py:f"}),
        ("file://check.mjs", {"type": "javascript", "value": "file://check.mjs"}),
        ("containsx: a", {"type": "equals", "value": "containsx: a"}),
        ("regex: a\nb", {"type": "regex", "value": "a\nb"}),
    ],
)
def test_a_cell_is_an_assertion(cell: str, assertion: dict[str, object]) -> None:
    assert parse_assertion(cell) == assertion


def test_a_quoted_text_must_be_closed() -> None:
    with pytest.raises(InvalidDocument, match="quoted"):
        parse_assertion('contains-any: "a')


def test_the_columns_with_two_underscores_are_not_variables() -> None:
    row = {
        "x": "1",
        "__expected": "a",
        "__expected2": " ",
        "__expected3": "contains: b",
        "__prefix": "<",
        "__suffix": ">",
        "__description": "d",
        "__metric": "m",
        "__threshold": "0.5",
        "__metadata:k": "v",
        "__metadata:l[]": r"a, b\,c",
        "__config:__expected2:threshold": "0.25",
    }
    assert row_to_test(row) == {
        "vars": {"x": "1"},
        "assert": [
            {"type": "equals", "value": "a", "metric": "m"},
            {"type": "contains", "value": "b", "metric": "m", "threshold": 0.25},
        ],
        "options": {"prefix": "<", "suffix": ">"},
        "metadata": {"k": "v", "l": ["a", "b,c"]},
        "description": "d",
        "threshold": 0.5,
    }


@pytest.mark.parametrize("column", ["__config:__expected0:threshold", "__config:__expected:weight", "__config:x"])
def test_a_config_column_is_for_thresholds(column: str) -> None:
    with pytest.raises(InvalidDocument, match="__config"):
        row_to_test({column: "1"})


def test_a_row_is_told_by_the_line_it_begins_on() -> None:
    assert list(read_rows('\ufeffa,b\n"1\n2",3\n4,5\n', "t.csv")) == [
        (2, {"a": "1\n2", "b": "3"}),
        (4, {"a": "4", "b": "5"}),
    ]


def test_a_row_of_another_length_is_told() -> None:
    with pytest.raises(InvalidDocument, match="line 3 has 1 cells"):
        list(read_rows("a,b\n1,2\n3\n", "t.csv"))
