"""Definition files whose scenarios are a table, texts, or prompts without a content."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cupel
from cupel.cli import app
from cupel.errors import UsageError
from cupel.files import definition_from_mapping, read_definition, read_definitions
from tests.documented_blocks import blocks_of

DOCS = Path(__file__).parents[3] / "docs" / "interop.md"

TABLE = "Nr;Frage;Antwort\n1;Wer?;Ich\n2;Was?;Das\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "support.csv").write_text("id,question,answer\n1,Who?,Me\n2,What?,That\n")
    (tmp_path / "fragen.csv").write_text(TABLE)
    return tmp_path


def scenarios(folder: Path, text: str) -> list[dict]:
    (folder / "eval.yaml").write_text(f"name: Support\n{text}\n")
    return read_definition(folder / "eval.yaml").scenarios or []


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(UsageError) as refused:
        scenarios(folder, text)
    return str(refused.value)


def test_scenarios_may_be_a_table(folder: Path) -> None:
    [first, _] = scenarios(folder, "scenarios: support.csv")
    assert (first["name"], first["prompt"]) == ("1", "Who?")
    assert first["metadata"] == {"vars": {"id": "1", "question": "Who?", "answer": "Me"}, "target": "Me"}
    assert first["assertions"] == [{"type": "icontains-any", "value": ["Me"]}]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rows.csv", "question,answer\nWho?,Me\nWhat?,That\n"),
        ("rows.csv", "question\nWho?\nWhat?\n"),
        ("rows.jsonl", '{"question": "Who?"}\n{"question": "What?"}\n'),
        ("rows.jsonl", '[{"question": "Who?"}, {"question": "What?"}]'),
    ],
)
def test_scenarios_of_a_table_without_an_id_have_no_name(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    found = scenarios(folder, f"content: {{assertions: [{{type: icontains, value: e}}]}}\nscenarios: {name}")
    assert [(each["name"], each["prompt"]) for each in found] == [("", "Who?"), ("", "What?")]
    evaluation = cupel.evaluate(folder / "eval.yaml", ["sim/echo"])
    assert [result.messages[0].content for result in evaluation.results] == ["Who?", "What?"]


def test_a_row_without_an_answer_is_a_warning_unless_something_else_checks_it(folder: Path) -> None:
    (folder / "rows.csv").write_text("question,answer\nWho?,Me\nWhat?,\n")
    file = folder / "eval.yaml"
    file.write_text("name: Support\nscenarios: rows.csv\n")
    with pytest.warns(UserWarning, match=r"^rows.csv row 2 \(line 3\): expected answer: there is none"):
        cupel.evaluate(file, ["sim/echo"])
    for checks in ("assertions: [{type: icontains, value: e}]", "decision: {pattern: '([1-5])'}"):
        file.write_text(f"name: Support\ncontent: {{{checks}}}\nscenarios: rows.csv\n")
        cupel.evaluate(file, ["sim/echo"])


def test_json_lines_are_a_table_too(folder: Path) -> None:
    (folder / "rows.jsonl").write_text('{"question": "Q", "answer": 0}\n')
    assert scenarios(folder, "scenarios: rows.jsonl")[0]["assertions"][0]["value"] == ["0"]


def test_columns_rows_and_the_scorer_are_fields(folder: Path) -> None:
    table = "{file: fragen.csv, input: frage, answer: antwort, id: nr, scorer: factuality, offset: 1, limit: 1}"
    [only] = scenarios(folder, f"scenarios: {table}")
    assert (only["name"], only["prompt"]) == ("2", "Was?")
    assert only["assertions"] == [{"type": "factuality", "value": "Das"}]


def test_assertions_of_the_content_replace_the_comparison(folder: Path) -> None:
    content = "content: {assertions: [{type: factuality, value: '{{answer}}'}]}\n"
    assert "assertions" not in scenarios(folder, f"{content}scenarios: support.csv")[0]
    assert "assertions" in scenarios(folder, f"{content}scenarios: {{file: support.csv, scorer: exact}}")[0]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("{}", "scenarios"),
        ("{input: question}", "eval.yaml:2: scenarios.file: is required, and must be the path of a table"),
        ("{file: support.csv, inptu: x}", "scenarios.inptu: is not a known field (did you mean input?)"),
        ("{file: support.csv, limit: 0}", "scenarios.limit: must be a whole number from 1"),
        ("{file: support.csv, offset: -1}", "scenarios.offset: must be a whole number from 0"),
        (
            "{file: support.csv, scorer: fuzz}",
            "scenarios.scorer: must be one of includes, match, exact, numeric, fuzzy",
        ),
        ("{file: support.csv, offset: 1000000000000000000}", "there are no samples after the first 1,000,000,000,"),
        ("/dev/zero", "scenarios.file: /dev/zero: is not an ordinary file"),
        ('"a\\0b.csv"', "embedded null"),
        ("{file: support.csv, answer: gold}", "support.csv: answer: there is no column gold"),
        ("nowhere.csv", "nowhere.csv: No such file"),
        ("fragen.csv", "Name yours with `input: COLUMN`, and with `answer: COLUMN` the expected answer"),
    ],
)
def test_what_is_wrong_with_a_table_is_named(folder: Path, table: str, message: str) -> None:
    assert message in refusal(folder, f"scenarios: {table}")


def test_a_scenario_may_be_a_text(folder: Path) -> None:
    assert scenarios(folder, "scenarios: [Hello, {prompt: Hi}]") == [{"prompt": "Hello"}, {"prompt": "Hi"}]


def test_content_is_optional_with_scenarios(folder: Path) -> None:
    (folder / "eval.yaml").write_text("name: Support\nscenarios: [Hello]\n")
    assert read_definition(folder / "eval.yaml").definition["content"] == {}
    assert "content: is required, and must be a mapping" in refusal(folder, "generate: {mode: matrix}")


def test_files_with_one_table_are_the_prompts_of_one_definition(folder: Path) -> None:
    for name in ("plain", "strict"):
        (folder / f"{name}.yaml").write_text(f"name: {name}\ncontent: {{system: {name}}}\nscenarios: support.csv\n")
    joined = read_definitions([folder / "plain.yaml", folder / "strict.yaml"])
    assert [prompt["id"] for prompt in joined.definition["content"]["prompts"]] == ["plain", "strict"]


def test_a_table_is_evaluated_in_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    evaluation = cupel.evaluate({"scenarios": "support.csv"}, ["sim/echo"])
    assert len(evaluation.completed) == 2
    assert definition_from_mapping({"scenarios": ["Hello"]}).scenarios == [{"prompt": "Hello"}]


def test_columns_are_placeholders_of_prompts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    prompts = [{"id": "p", "template": "[Question] It is [answer]!"}]
    evaluation = cupel.evaluate({"content": {"prompts": prompts}, "scenarios": "support.csv"}, ["sim/echo"])
    answers = [probe.transcript.conversation.messages[-1].content for probe in evaluation.completed if probe.transcript]
    assert sorted(answers) == ["What? It is That!", "Who? It is Me!"]


@pytest.mark.parametrize(
    ("content", "field", "shown"),
    [
        ("system: 'About {{Question}}'", "system", "{{Question}}"),
        ("prompts: [{id: a, system: 'In {{ answer | upper }}'}]", "prompts.0.system", "{{ answer | upper }}"),
        ("prompts: [{id: a, template: '[question]'}, {id: b, template: '{{id}}'}]", "prompts.1", "{{id}}"),
    ],
)
def test_columns_in_braces_are_refused_in_prompts(folder: Path, content: str, field: str, shown: str) -> None:
    message = refusal(folder, f"content: {{{content}}}\nscenarios: support.csv")
    assert f"eval.yaml:2: content.{field}: {shown} would be sent as it is written" in message


def test_other_words_in_braces_are_sent_as_they_are(folder: Path) -> None:
    content = "content: {system: 'Write {{user|e}} for the name, and {{}} for nothing'}\n"
    assert len(scenarios(folder, f"{content}scenarios: support.csv")) == 2


def test_a_row_without_a_value_is_named_in_its_table(folder: Path) -> None:
    (folder / "rows.jsonl").write_text('{"question": "Q", "topic": "t"}\n\n{"question": "R"}\n')
    content = "content: {prompts: [{id: a, template: 'On [topic]: [question]'}]}\n"
    message = refusal(folder, f"{content}scenarios: rows.jsonl")
    assert message.endswith(
        "eval.yaml:3: rows.jsonl line 3: the prompt a needs a value for [topic], which the scenario does not have"
    )


def test_a_text_with_brackets_in_braces_is_explained(folder: Path) -> None:
    assert "a text with brackets needs quotes" in refusal(folder, "content: {system: It is [topic].}\nscenarios: [a]")


@pytest.fixture
def support(tmp_path: Path) -> Path:
    """The definition file of the documentation, beside a table with 200 rows."""
    [block] = [each for each in blocks_of(DOCS) if each.title == "support.yaml"]
    (tmp_path / "support.yaml").write_text(block.text)
    rows = (f'T-{number},"Question {number}, please?",Answer {number}.,topic {number % 3}\n' for number in range(200))
    (tmp_path / "support.csv").write_text("".join(["id,question,answer,topic\n", *rows]))
    return tmp_path / "support.yaml"


def test_a_table_is_a_judged_comparison_of_prompts_and_models(support: Path) -> None:
    models = ["--models", "sim/steady,sim/bold", "--judge-model", "sim/steady"]
    result = CliRunner().invoke(app, ["run", str(support), *models, "--in-process", "--seed", "1", "--json"])
    assert result.exit_code == 0, result.stderr
    printed = json.loads(result.stdout)
    columns = [(each["model"], each["prompt"], each["completed"]) for each in printed["results"]]
    assert columns == [(model, prompt, 200) for model in ("sim/steady", "sim/bold") for prompt in ("plain", "strict")]
    assert all(each["passRate"]["judged"] == 200 for each in printed["results"])


def test_the_prompts_and_models_of_a_table_are_compared_in_process(support: Path) -> None:
    steady, bold = (
        cupel.evaluate(support, [model], judge_model="sim/steady", seed=1) for model in ("sim/steady", "sim/bold")
    )
    figures = cupel.compare_results(steady, bold)
    assert figures.common_scenarios == 200
    prompts = [(row.baseline[0].column.prompt_id, row.comparison[0].column.prompt_id) for row in figures.rows]
    assert [first == second for first, second in prompts] == [True, True]


@pytest.mark.parametrize(
    ("name", "text", "advice"),
    [
        ("support.csv", "question,answer\n", "Run a file with `scenarios: support.csv` and a name beside it"),
        ("rows.jsonl", "{}", "`cupel import jsonl "),
        ("rows.json", '[{"question": "Q"}]', "`cupel import jsonl "),
        ("rows.parquet", "PAR1", "`cupel import parquet "),
        ("log.eval", "PK", "`cupel import inspect "),
        ("log.json", '{"eval": {}, "samples": []}', "`cupel import inspect "),
        ("results.json", '{"results": {}, "versions": {}}', "--log_samples"),
        ("task.py", "import os", "is Python, not a definition file"),
        ("page.yaml", "<!DOCTYPE html>", "is a web page"),
        ("picture", "GIF89a", "is an image"),
        ("promptfooconfig.yaml", "prompts: [a]\nproviders: [echo]\ntests: []\n", "`cupel import promptfoo "),
        ("results.json", '{"results": {}, "config": {"prompts": ["a"]}}', "is a result file of promptfoo"),
    ],
)
def test_a_file_that_is_no_definition_says_what_to_do(tmp_path: Path, name: str, text: str, advice: str) -> None:
    (tmp_path / name).write_text(text)
    result = CliRunner().invoke(app, ["run", str(tmp_path / name), "--models", "sim/echo", "--in-process"])
    assert result.exit_code == 2
    assert advice in result.stderr


@pytest.mark.parametrize("name", ["support.csv", "promptfooconfig.yaml"])
def test_no_stack_is_needed_to_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("prompts: [a]\nproviders: [echo]\n")
    for options in ([], ["--in-process"], ["--models", "sim/echo"]):
        result = CliRunner().invoke(app, ["run", name, *options])
        assert (result.exit_code, "cupel import" in result.stderr) == (2, True)


@pytest.mark.parametrize(("command", "advice"), [("init", "cupel run FILE"), ("view", "cupel open")])
def test_commands_of_other_tools_are_answered(command: str, advice: str) -> None:
    result = CliRunner().invoke(app, [command])
    assert (result.exit_code, advice in result.stderr) == (2, True)
