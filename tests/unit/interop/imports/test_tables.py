"""Tables and JSON Lines as people have them: each file in `tables` is read, or the error says what to do."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from cupel_core.domain.definitions.datasets import ColumnMapping, DatasetFormat, DatasetOptions, DatasetScorer
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.interop.imports.datasets import read_dataset
from cupel_core.interop.imports.json_documents import InvalidDocument
from cupel_core.interop.imports.recognition import promptfoo_configuration
from cupel_core.interop.imports.rows import read_csv
from cupel_core.interop.imports.scorers import SCORERS
from cupel_core.interop.imports.table_rows import ANSWERS, IDS, INPUTS, normalize_column
from cupel_core.interop.imports.text_files import decode_text
from tests.in_one_test import in_one_test

FOLDER = Path(__file__).parent / "tables"
DOCS = Path(__file__).parents[4] / "docs" / "interop.md"

READ: dict[str, list[tuple[str, list[str]]]] = {
    "zero.jsonl": [
        ("How many moons has Venus?", ["0"]),
        ("Is water dry?", ["false"]),
        ("2+2?", ["4"]),
        ("x", ["0"]),
    ],
    "null.jsonl": [("Capital of Peru?", ["Lima"]), ("Moons of Venus?", ["0"])],
    "cols_deepeval.csv": [("What is 1+1?", ["2"])],
    "cols_ragas.jsonl": [("What?", ["ref"])],
    "cols_langfuse.csv": [('{"q": "hi"}', ['{"a": 1}'])],
    "cols_hf.jsonl": [("Add", ["3"]), ("Add\n\n1 2", ["3"])],
    "cols_mlflow.jsonl": [("What is it?", ["A thing"])],
    "upper.csv": [("Hi?", ["Yes"])],
    "spaces.csv": [("Hi?", ["Yes"])],
    "semicolon.csv": [("Hi?", ["Yes"])],
    "tab.csv": [("Hi?", ["Yes"])],
    "bom_crlf.csv": [("Hi,\r\nyou?", ["Yes"])],
    "trailing_blank.csv": [("Hi?", ["Yes"])],
    "trailing_comma.csv": [("Hi?", ["Yes"])],
    "utf16.csv": [("Grün?", ["Ja"])],
    "cr_only.csv": [("Hi?", ["Yes"]), ("You?", ["No"])],
    "array.jsonl": [("a", ["b"]), ("c", ["d"])],
    "crlf.jsonl": [("a", ["b"]), ("c", ["d"])],
    "u2028.jsonl": [("a\u2028b", ["c\x85d"])],
    "concat.jsonl": [("a", ["b"]), ("c", ["d"])],
    "utf16.jsonl": [("a", ["b"])],
    "dup_id.jsonl": [("a", ["b"]), ("c", ["d"]), ("e", ["f"])],
    "target_list.jsonl": [("q", ["a", "b"]), ("q", ["1", "2"]), ("q", ['{"k":1}'])],
    "messages.jsonl": [("hi", ["Hello!"]), ("hi", ["x"])],
    "toolmsg.jsonl": [("5", ["5"])],
    "fewshot.jsonl": [("2+2", ["4"])],
    "input_text_list.jsonl": [("hi", ["n"]), ("hi", ["n"])],
    "ideal_num.jsonl": [("q", ["0"]), ("q", ["0", "1.5"]), ("q", ["true"]), ("q", ['{"a":1}'])],
    "no_ideal_choice.jsonl": [("q", ["Y"]), ("q", ["x"])],
    "answer_list.jsonl": [("q", ["Spice Girls", "the Spice Girls"]), ("q", ["x"])],
    "gsm.jsonl": [("2 and 3?", ["He has 2+3=<<2+3=5>>5.\n#### 5"])],
    "lmeval_sample.jsonl": [("Q: q\nA:", ["18"])],
    "inspect_log.json": [("q", ["a"])],
    "inspect_pretty.json": [("q", ["a"])],
    "inspect_single.json": [("q", ["a"])],
    "formula.csv": [("=1+1", ["2"]), ("@sum", ["x"])],
    "numbers.csv": [("007?", ["007"]), ("1e3?", ["1e3"]), ("5?", ["5.0"]), ("?", ["NA"])],
    "empty_answer.csv": [("Hi?", []), ("You?", ["yes"])],
    "placeholders.csv": [("What does {{name}} do?", [r"\{{name}} renders"]), ("a [city] b", ["[city]"])],
    "html.csv": [("<p>Hi</p> &amp; \\n", ["<b>x</b>"])],
    "ctrl.jsonl": [("bell \x07 and nul \x00", ["x"])],
    "id_name.csv": [("Hi?", ["x"]), ("You?", ["y"])],
    "label0.jsonl": [("bad movie", ["0"]), ("good", ["1"])],
    "prompt_null.jsonl": [("p", ["x"])],
    "gz.jsonl.gz": [("a", ["b"])],
    "targets_ws.jsonl": [("q", ["Paris"]), ("q", [])],
    "mixedcase.csv": [("q", ["a"])],
    "metadata_json.csv": [("q", ["a"]), ("q", ["a"]), ("q", ["a"])],
    "othercol_2.csv": [("Was ist 1+1?", ["2"])],
    "semicolon_2.csv": [("Was ist 1+1?", ["2"])],
    "semicolon2_2.csv": [("Was ist 1+1?", ["2"])],
    "tabs_2.csv": [("Was ist 1+1?", ["2"])],
    "trailing_2.csv": [("Was ist 1+1?", ["2"])],
}
"""The prompt and the values of the assertion for each scenario."""
CHOICES = {
    "choices.jsonl": 3,
    "choices_index.jsonl": 1,
    "choices_lower.jsonl": 1,
    "choices_dict.jsonl": 1,
}
"""How many multiple-choice questions, each with the right answer B."""
REFUSED = {
    "extra_comma.csv": "row 1 (line 2) has 3 cells, but the header has 2",
    "ragged_2.csv": "row 1 (line 2) has 1 cell, but the header has 2; an empty cell needs its separator, too",
    "quotes.csv": "line 3 has a quote within a quoted cell; it must be doubled",
    "backslash.csv": 'pandas.read_csv(file, escapechar="\\\\")',
    "unclosed_2.csv": "the row that starts on line 2 has a quote that is never closed; write a quote within",
    "latin1.csv": "line 2 is not UTF-8 text. In Windows-1252 (Latin-1) it reads “Grün?,Ja”",
    "latin_2.csv": "save the file as UTF-8 (`CSV UTF-8` in Excel), or convert it with `iconv -f WINDOWS-1252 -t UTF-8",
    "bin_2.csv": "is a binary file, not text",
    "nul.csv": "line 2 has a NUL character",
    "dup_header.csv": "the columns 2 and 3 are both named answer; rename one of them",
    "dupcol_2.csv": "the columns 2 and 3 are both named answer; rename one of them",
    "blank_2.csv": "row 2 (line 3) has nothing in the column question, so nothing is asked; fill it in, or",
    "foreignhead_2.csv": "Columns found: Frage, Antwort. Name yours with --input COLUMN",
    "no_header.csv": "if the first line is a row, add a line of names",
    "header_only.csv": "the file has no samples",
    "empty.csv": "the file is empty",
    "nan.jsonl": "line 1: NaN is not valid JSON; a missing value is null",
    "trailing_comma.jsonl": "line 1 is not valid JSON",
    "single_quotes.jsonl": "line 1 has single quotes, as Python prints a dict; write it with `json.dumps`",
    "content_null.jsonl": "line 1 has a message whose content is not text or is empty",
    "big.jsonl": "line 1: metadata must not contain integers of more than 64 bits, as in n",
    "surrogate.jsonl": "line 1 contains an unpaired surrogate",
    "git_lfs.jsonl": "is a pointer of Git LFS and not the file itself; get it with `git lfs pull`",
    "registry.yaml": "`cupel import openai-evals my/samples.jsonl` in the folder registry/data",
}
OTHERS = {"choices_many.jsonl", "emoji.csv", "choices_nested_comma.csv"}


def read(
    content: str | bytes,
    kind: DatasetFormat = DatasetFormat.CSV,
    scorer: DatasetScorer | None = None,
    **options: Any,
) -> tuple[Scenario, ...]:
    text = content if isinstance(content, str) else decode_text(content)
    return read_dataset(text, kind, "Rows", scorer, options=DatasetOptions(**options)).drafts[0].scenarios


def read_file(name: str) -> tuple[Scenario, ...]:
    kind = DatasetFormat.CSV if name.endswith(".csv") else DatasetFormat.JSONL
    return read((FOLDER / name).read_bytes(), kind)


def values(scenario: Scenario) -> list[str]:
    found = [assertion.value for assertion in scenario.assertions]
    return [str(each) for value in found for each in (value if isinstance(value, list) else [value])]


def notes(text: str, kind: DatasetFormat = DatasetFormat.CSV, **options: Any) -> list[tuple[str, str]]:
    report = read_dataset(text, kind, "Rows", options=DatasetOptions(**options)).report
    return [(note.where, note.what) for note in (*report.skipped, *report.changed)]


def test_every_file_has_an_expectation() -> None:
    assert {path.name for path in FOLDER.iterdir()} == READ.keys() | CHOICES.keys() | REFUSED.keys() | OTHERS


@in_one_test("name", READ)
def test_a_table_is_read(name: str) -> None:
    assert [(each.messages[-1].content, values(each)) for each in read_file(name)] == READ[name]


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_cannot_be_read_says_what_to_do(name: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        read_file(name)
    assert REFUSED[name] in str(refused.value)


@pytest.mark.parametrize("name", CHOICES)
def test_choices_are_asked_for_by_letter(name: str) -> None:
    assertions = [assertion for scenario in read_file(name) for assertion in scenario.assertions]
    assert [(each.type, each.value["target"]) for each in assertions] == [("choice", "B")] * CHOICES[name]


def test_choices_after_z_are_counted() -> None:
    [scenario] = read_file("choices_many.jsonl")
    assert scenario.messages[0].content.endswith("Z) 25\n1) 26\n2) 27\n3) 28\n4) 29")


def test_every_script_is_read() -> None:
    assert [values(each)[0] for each in read_file("emoji.csv")] == ["東京", "الرياض", "दिल्ली"]


def test_choices_in_a_cell_are_separated_by_commas() -> None:
    [scenario] = read_file("choices_nested_comma.csv")
    assert scenario.messages[0].content.endswith("A) one\nB) two;three")


def test_all_columns_are_variables() -> None:
    [scenario] = read("id,question,answer,topic\n1,Q,4,sums\n")
    assert scenario.variables == {"id": "1", "question": "Q", "answer": "4", "topic": "sums"}
    assert (scenario.name, scenario.metadata["target"]) == ("1", "4")


def test_variables_have_the_values_of_json() -> None:
    [scenario] = read('{"question": "Q", "answer": 0, "hint": null, "n": [1], "e": ""}', DatasetFormat.JSONL)
    assert scenario.variables == {"question": "Q", "answer": 0, "hint": None, "n": [1], "e": ""}


def test_columns_are_named_by_the_author() -> None:
    columns = ColumnMapping(input="frage", answer="ANT WORT", id="Nr")
    [scenario] = read("Nr;Frage;Ant-wort\n7;Wer?;Ich\n", columns=columns)
    assert (scenario.name, scenario.messages[0].content, values(scenario)) == ("7", "Wer?", ["Ich"])


@pytest.mark.parametrize(
    ("text", "kind", "options"),
    [
        ("question,gold\nQ,\n", DatasetFormat.CSV, {}),
        ("question,gold\nP,A\nQ,\n", DatasetFormat.CSV, {"offset": 1}),
        ('{"question": "Q", "gold": null}\n', DatasetFormat.JSONL, {}),
        ('{"question": "Q", "gold": []}\n', DatasetFormat.JSONL, {}),
    ],
)
def test_a_named_column_may_be_empty_in_the_chosen_rows(text: str, kind: DatasetFormat, options: dict) -> None:
    [scenario] = read(text, kind, columns=ColumnMapping(answer="gold"), **options)
    assert (scenario.messages[0].content, scenario.assertions) == ("Q", ())


def test_rows_with_one_id_have_names_of_their_own_and_are_counted() -> None:
    text = "id,question\n1,P\n1,Q\n1 (2),R\n2,S\n1,T\n,U\n,V\n"
    assert [each.name for each in read(text)] == ["1", "1 (2)", "1 (2) (2)", "2", "1 (3)", "", ""]
    assert [what for _, what in notes(text)].count("id") == 1


def test_very_many_rows_with_one_id_are_named_quickly() -> None:
    found = read("id,question\n" + "1,Q\n" * 20_000)
    assert (len({each.name for each in found}), found[-1].name) == (20_000, "1 (20000)")


def test_assertions_name_columns_that_there_are() -> None:
    checks = ({"type": "icontains", "value": "{{Expcted Output}}"},)
    with pytest.raises(
        InvalidDocument, match=r"assertions.0.value: row 1 \(line 2\) of the table has no column Expcted"
    ):
        read("id,question,Expected Output\n7,Q,A\n", assertions=checks)
    right = ({"type": "icontains", "value": "{{Expected Output}}"},)
    assert read("id,question,Expected Output\n7,Q,A\n", assertions=right)[0].variables["Expected Output"] == "A"


def test_an_empty_column_is_not_chosen_by_its_known_name() -> None:
    [scenario] = read("question,answer,target\nQ,,A\n")
    assert values(scenario) == ["A"]


def test_an_unknown_column_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidDocument, match=r"--answer: there is no column gold. Columns found: question, answer"):
        read("question,answer\nQ,A\n", columns=ColumnMapping(answer="gold"))


def test_rows_are_skipped_and_limited() -> None:
    text = "question,answer\n" + "".join(f"Q{number},A\n" for number in range(9))
    assert [each.messages[0].content for each in read(text, offset=2, limit=3)] == ["Q2", "Q3", "Q4"]
    with pytest.raises(InvalidDocument, match="there are no samples after the first 9"):
        read(text, offset=9)


def test_empty_rows_are_counted() -> None:
    assert notes("question,answer\nQ,A\n,\n , \n") == [("row 2 (line 3) and 1 more", "row")]


def test_a_row_is_named_by_its_number_and_by_the_line_on_which_it_starts() -> None:
    with pytest.raises(InvalidDocument, match=r"row 2 \(line 5\) has 3 cells"):
        read('question,answer\n"Q\n\n1",A\nQ,A,B\n')


def test_a_cell_may_have_any_size() -> None:
    [scenario] = read(f"question,answer\n{'x' * 200_000},A\n")
    assert len(scenario.messages[0].content) == 200_000


def test_columns_without_a_name_are_left_out() -> None:
    assert read(",question,answer\n0,Q,A\n")[0].variables == {"question": "Q", "answer": "A"}


def test_excel_names_its_separator() -> None:
    assert read("sep=|\r\nquestion|answer\r\nHi, you; there?|A\r\n")[0].messages[0].content == "Hi, you; there?"


def test_a_table_is_read_whatever_its_format_is_called() -> None:
    assert read('{"question": "Q", "answer": "A"}')[0].messages[0].content == "Q"
    with pytest.raises(InvalidDocument, match=r"`cupel import csv`"):
        read("question,answer\nQ,A\n", DatasetFormat.JSONL)


@pytest.mark.parametrize("scorer", DatasetScorer)
def test_each_scorer_makes_assertions(scorer: DatasetScorer) -> None:
    [scenario] = read("question,answer\nQ,4\n", scorer=scorer)
    assert scenario.assertions
    assert scorer in SCORERS


def test_a_model_compares_facts() -> None:
    [scenario] = read("question,answer\nQ,No {{x}}\n", scorer=DatasetScorer.FACTUALITY)
    assert [(each.type, each.value) for each in scenario.assertions] == [("factuality", r"No \{{x}}")]


def test_long_answers_are_reported_because_they_are_rarely_contained() -> None:
    text = f"question,answer\nQ,{'word ' * 30}\n"
    assert notes(text) == [("row 1 (line 2)", "expected answer")]


def test_the_author_s_assertions_replace_the_comparison() -> None:
    given = ({"type": "llm-rubric", "value": "{{answer}}"},)
    suite = read_dataset("question,answer\nQ,A\n", DatasetFormat.CSV, "R", options=DatasetOptions(assertions=given))
    [draft] = suite.drafts
    assert draft.content == {"maxTurns": 1, "assertions": list(given)}
    assert draft.scenarios[0].assertions == ()
    assert not suite.report.skipped


def test_an_invalid_assertion_of_the_author_is_refused() -> None:
    with pytest.raises(InvalidDocument, match=r"assertions.0.type: unknown type"):
        read("question,answer\nQ,A\n", assertions=({"type": "contians"},))


@pytest.mark.parametrize(
    ("row", "asked", "answer"),
    [
        ('{"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}', ["Hi"], "Hello"),
        ("{\"messages\": \"[{'content': 'Hi', 'role': 'user'}]\", \"gold\": \"x\"}", ["Hi"], "x"),
        ('{"system_prompt": "S", "question": "Q", "label": 2}', ["S", "Q"], "2"),
        ('{"question": "Q", "expectations": {"expected_response": "A"}}', ["Q"], "A"),
        ('{"inputs": {"text": "T"}, "ground_truth": "A"}', ["T"], "A"),
    ],
)
def test_shapes_of_hugging_face_and_others(row: str, asked: list[str], answer: str) -> None:
    [scenario] = read(row, DatasetFormat.JSONL)
    assert [message.content for message in scenario.messages] == asked
    assert values(scenario) == [answer]


def test_a_chat_with_another_expected_answer_is_sent_whole_and_reported() -> None:
    chat = '[{"role": "user", "content": "Q"}, {"role": "assistant", "content": "It is"}]'
    text = f'{{"messages": {chat}, "answer": "4"}}'
    assert len(read(text, DatasetFormat.JSONL)[0].messages) == 2
    assert notes(text, DatasetFormat.JSONL) == [("line 1", "last message")]


@pytest.mark.parametrize("wrapper", ['{{"data": [{}]}}', '{{"rows": [{{"row": {}}}]}}', "[\n{}\n]"])
def test_rows_may_be_in_a_list(wrapper: str) -> None:
    assert read(wrapper.format('{"question": "Q", "answer": "A"}'), DatasetFormat.JSONL)[0].name == ""


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("prompts: [a]\nproviders: [echo]\n", "cupel import promptfoo FILE"),
        ('{"evalId": "x", "results": {}, "config": {"prompts": []}}', "cupel import promptfoo FILE"),
        ("question,__expected\nQ,A\n", "cupel import promptfoo promptfooconfig.yaml"),
        ("name: x\ncontent: {}\nscenarios: []\n", "cupel run FILE"),
        ('{"scenarioId": "s", "runId": "r", "probeIndex": 0}', "cupel rerun RUN"),
        ('{"item": {"input": "Q"}, "sample": {"output": []}}', "cupel import openai-evals"),
    ],
)
def test_a_file_of_another_command_names_it(text: str, command: str) -> None:
    kind = DatasetFormat.JSONL if text.startswith("{") else DatasetFormat.CSV
    with pytest.raises(InvalidDocument) as refused:
        read(text, kind)
    assert command in str(refused.value)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"PAR1\x00\x01", "`cupel import parquet FILE`"),
        (b"PK\x03\x04 xl/workbook.xml", "Excel workbook; save it as `CSV UTF-8`"),
        (b"PK\x03\x04 _journal/start.json", "is a damaged log of Inspect"),
        (b"SQLite format 3\x00", "pandas.read_sql"),
        (b"\x1f\x8b\x08broken", "damaged gzip file"),
    ],
)
def test_a_file_that_is_no_text_is_named(content: bytes, kind: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        decode_text(content)
    assert kind in str(refused.value)


def test_utf_16_needs_no_byte_order_mark() -> None:
    assert decode_text("question,answer".encode("utf-16-le")) == "question,answer"


def test_a_result_file_of_promptfoo_has_its_configuration() -> None:
    assert promptfoo_configuration('{"results": {}, "config": {"prompts": ["a"]}}') == '{"prompts":["a"]}'
    assert promptfoo_configuration("prompts: [a]") == "prompts: [a]"


def test_likelihoods_of_lm_eval_are_refused() -> None:
    row = '{"doc": {"q": 1}, "arguments": [["Q", " a"], ["Q", " b"]], "resps": [], "target": 0}'
    with pytest.raises(InvalidDocument, match="import the dataset of its task"):
        read(row, DatasetFormat.JSONL)


def test_only_the_first_epoch_of_a_log_is_imported() -> None:
    samples = [f'{{"id": 1, "epoch": {n}, "input": "q", "target": "a", "scores": {{}}}}' for n in (1, 2)]
    assert len(read(f'{{"version": 2, "samples": [{", ".join(samples)}]}}', DatasetFormat.INSPECT)) == 1


@pytest.mark.parametrize("names", [INPUTS, ANSWERS, IDS])
def test_known_names_are_distinct_and_documented(names: tuple[str, ...]) -> None:
    assert len({normalize_column(name) for name in names}) == len(names)
    assert ", ".join(f"`{name}`" for name in names) in DOCS.read_text()


@pytest.mark.parametrize(("answer", "message"), [("5", "no choice of 0 to 1"), ('"z"', "one of the letters A to B")])
def test_an_answer_that_is_no_choice_is_refused(answer: str, message: str) -> None:
    with pytest.raises(InvalidDocument, match=message):
        read(f'{{"question": "Q", "choices": ["x", "y"], "answer": {answer}}}', DatasetFormat.JSONL)


@pytest.mark.parametrize(
    "row",
    [
        '{"doc": {"question": "q"}, "arguments": [5], "resps": []}',
        '{"doc": {"question": "q"}, "arguments": {"gen_args_0": true}, "resps": []}',
        '{"question": "q", "choices": {"text": ["a"], "label": 5}, "answer": "no"}',
        '{"question": "q", "answer": "a", "weight": 1' + "0" * 400 + "}",
    ],
)
def test_values_of_an_odd_shape_are_refused(row: str) -> None:
    with pytest.raises(InvalidDocument):
        read(row, DatasetFormat.JSONL)


def test_a_quote_is_no_separator() -> None:
    with pytest.raises(InvalidDocument):
        read('sep="\nquestion,answer\nq,a\n')


def test_any_offset_and_limit_are_possible() -> None:
    text = "question,answer\nq,a\n"
    assert len(read(text, limit=10**30)) == 1
    with pytest.raises(InvalidDocument, match="no samples after the first"):
        read(text, offset=10**30)


BROKEN = {
    '{"input": "a"}\n{"input": "b", "tar': "line 2, the last one, ends in the middle of the row: the file was cut off",
    '{"input": "a"}\n{"input": "b",\n\n': "line 2, the last one, ends in the middle of the row: the file was cut off",
    '{"input": "a"}\n{"input": "b"\n{"input": "c"}\n': 'line 2 ends in the middle of the row: {"input": "b"',
    '{"input": "a"}\n{"input":\n{"input": "c"}\n{"input": "d"}\n': "line 2 ends in the middle of the row",
    '{"input": "a"}\n{"input": "b, "t\n{"input": "c"}\n': "line 2 is not valid JSON",
    '{"input": "a"}\n{"input": "b\n{"input": "c"}\n': "line 2 ends in the middle of a text",
    '{\n "input": "a"\n "target": "b"\n}': "line 2 lacks a comma or a bracket at its end, in the row that",
    '[\n{"input": "a"},\n{"input": "b"': "line 3, the last one, ends in the middle of the row: the file was cut off",
    '[\n{"input": "a"},\n{"input": "b"},\n': "line 3, the last one, ends in the middle of the list",
    '[\n{"input": "a"}\n': "line 2, the last one, ends in the middle of the list, which has no ] at its end",
    '[\n{"input": "a"}\n{"input": "b"}]': "line 2: between the samples 1 and 2, a comma is missing",
    '[{"input": "a"}]\n{"input": "b"}': "line 2 follows the end of the list",
    '[{"input": "a"}, 1]': "sample 2 (line 1) is not an object",
    '{"data": [{"input": "a"}]}\n{}': "line 2 follows an object with a list of rows",
    '{"input": "a"}\n{"input": "b", "n": 1, "n": 2}': "line 2: the key n occurs twice",
    '[{"input": "a"},\n{"input": "b", "m": [{"k": 1, "k": 1}]}]': "line 2: the key k occurs twice",
    '{"input": "a"}\n{"input": "b", "n": {"m": ['
    + "9" * 30
    + "]}}": "line 2 must not contain integers of more than 64 bits, as in n.m.0",
    '{"input": "a"}\n{"input": -'
    + "9" * 5_000
    + "}": "line 2 must not contain integers of more than 64 bits, as in input",
}


@pytest.mark.parametrize("text", BROKEN)
def test_broken_json_is_named_where_it_breaks(text: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        read(text, DatasetFormat.JSONL)
    assert BROKEN[text] in str(refused.value)


def test_broken_json_in_a_long_line_is_shown_where_it_breaks() -> None:
    row = '{"input": "' + "a" * 5_000 + '" "target": "b"}'
    with pytest.raises(InvalidDocument, match=r'line 1 is not valid JSON: .*: …a+" "target": "b"}$'):
        read(row, DatasetFormat.JSONL)


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ('[{"role": "user", "content": "hi"}', "the chat in the column Messages is not valid JSON"),
        ('[{"ro', "the chat in the column Messages is not valid JSON"),
        ("[{'role': 'user'", "the chat in the column Messages is neither JSON nor what Python prints"),
        ('{"role": "user", "content": "hi"}', "the chat in the column Messages must be a list of messages"),
        ('["hi"]', "the chat in the column Messages must be a list of messages"),
        ('[{"role": "user", "content": "a", "content": "b"}]', "the key content occurs twice"),
    ],
)
def test_a_broken_chat_is_refused_with_its_row(cell: str, problem: str) -> None:
    quoted = cell.replace('"', '""')
    with pytest.raises(InvalidDocument) as refused:
        read(f'Messages;gold\nhi;a\n"{quoted}";b\n')
    assert str(refused.value).startswith("row 2 (line 3)")
    assert problem in str(refused.value)


@pytest.mark.parametrize("cell", ["[user] hi", "{name} says hi", "hi"])
def test_text_in_a_column_of_chats_is_a_message(cell: str) -> None:
    [scenario] = read(f"messages,gold\n{cell},b\n")
    assert scenario.messages[0].content == cell


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"question,answer\nQ,A\n{'x' * 500_001},A\n", "row 2 (line 3): the column question must have at most"),
        (f"system_prompt,question\n{'x' * 500_001},Q\n", "row 1 (line 2): the column system_prompt must have at most"),
        (
            '[{"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "' + "x" * 500_001 + '"}]}]',
            "sample 1 (line 1): the column messages (messages.1.content) must have at most",
        ),
        (
            '{"question": "Q", "answer": [' + ", ".join(['"a"'] * 101) + "]}",
            "line 1: the column answer (assertions) must be at most 100",
        ),
    ],
)
def test_what_a_request_may_not_contain_is_named_by_row_and_column(text: str, place: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        read(text, scorer=DatasetScorer.FACTUALITY)
    assert place in str(refused.value)


def inspect_log(samples: list[Any], **parts: str) -> bytes:
    written = BytesIO()
    with ZipFile(written, "w", ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for number, sample in enumerate(samples):
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/"), content)
    return written.getvalue()


def test_the_samples_of_a_log_of_inspect_are_read() -> None:
    logged: dict[str, Any] = {"epoch": 1, "target": "A", "messages": [], "events": [{"n": [[1]] * 10}], "store": {}}
    samples = [
        {**logged, "id": 10, "input": "ten"},
        {**logged, "id": 9, "input": "attachment://a", "attachments": {"a": "nine"}},
        {**logged, "id": 9, "input": "nine", "epoch": 2},
        {**logged, "id": "x", "input": [{"role": "user", "content": "attachment://b"}], "attachments": {"b": "x!"}},
    ]
    found = read(inspect_log(samples), DatasetFormat.INSPECT)
    assert [(each.name, each.messages[0].content) for each in found] == [("9", "nine"), ("10", "ten"), ("x", "x!")]
    assert "events" not in str(found)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (inspect_log([])[:-10], "is a damaged log of Inspect"),
        (inspect_log([], samples__1__json="{"), "the file has no samples"),
        (inspect_log([1]), "samples/0_epoch_1.json is not an object"),
    ],
)
def test_a_broken_log_of_inspect_is_named(content: bytes, problem: str) -> None:
    with pytest.raises(InvalidDocument, match=problem):
        read(content, DatasetFormat.INSPECT)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("question,answer\nQ,A\n,\nquestion,answer\nR,B\n", [("row 2 (line 3)", "row"), ("row 3 (line 4)", "row")]),
        ("question\nquestion\n", [("row 1 (line 2)", "expected answer")]),
    ],
)
def test_a_line_of_names_within_the_table_is_skipped_and_counted(text: str, problem: list[tuple[str, str]]) -> None:
    assert notes(text) == problem


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("question;answer,with,commas\nQ;A\n", {"question": "Q", "answer,with,commas": "A"}),
        ("question,answer,a;b\nQ,A,c;d\nR,B,e;f;g\n", {"question": "Q", "answer": "A", "a;b": "c;d"}),
        ('question, answer\nQ, "A, B"\n', {"question": "Q", "answer": "A, B"}),
        ("question|answer\nQ|A\n", {"question": "Q", "answer": "A"}),
    ],
)
def test_the_separator_is_the_one_that_fits_the_rows(text: str, found: dict[str, str]) -> None:
    assert next(read_csv(text)).fields == found


def test_a_line_before_the_names_is_shown() -> None:
    with pytest.raises(InvalidDocument, match="is the first line, “# exported 2024”, the one of names"):
        read("# exported 2024\nquestion,answer\nQ,A\n")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"question": "Q", "Question": "R"}', "the columns question, Question have one name"),
        ('{"question": "Q", "gold": "A"}\n{"question": "Q", "Gold": "A"}', "the columns gold, Gold have one name"),
        ('{"question": "Q"},\n{"question": "R"}', "line 2 follows a comma behind a row"),
        ('{"question": ["Q", "R"], "answer": ["A", "B"]}', "has columns instead of rows"),
        ('{"columns": ["question"], "index": [0], "data": [["Q"]]}', 'pandas.read_json(file, orient="split")'),
        ('{"question": {"0": "Q"}, "answer": {"0": "A"}}', "has columns instead of rows"),
        ('{"0": {"question": "Q"}, "1": {"question": "R"}}', "has columns instead of rows"),
        ('{"data": []}', "the file has no samples"),
        ('"Q"\n"R"\n', "is not JSON, which begins with { or ["),
    ],
)
def test_other_shapes_of_json_are_named(text: str, problem: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        read(text, DatasetFormat.JSONL)
    assert problem in str(refused.value)


def test_a_column_that_is_not_chosen_may_have_two_spellings() -> None:
    [scenario] = read('{"question": "Q", "note": 1, "Note": 2, "data": []}', DatasetFormat.JSONL)
    assert scenario.variables == {"question": "Q", "note": 1, "Note": 2, "data": []}
