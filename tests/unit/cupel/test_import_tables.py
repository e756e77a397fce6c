"""`cupel import` of tables: columns, rows and assertions by option, and large files in several requests."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cupel import imported_suites, upload
from cupel.cli import app
from cupel.client import Client
from cupel.files import read_definition
from cupel.session import Session
from cupel_core.store.settings import Settings
from tests.unit.cupel.api_function import command_of, connect_to_api_function
from tests.unit.cupel.fake_api import Cupel

TABLE = "Nr;Frage;Antwort;Thema\n1;Wer?;Ich;wer\n2;Was?;Das;was\n3;Wo?;Da;wo\n"
OPTIONS = ("--input", "frage", "--answer", "ANTWORT", "--id", "nr")


@pytest.fixture
def client(cloud: Settings) -> Client:
    return connect_to_api_function()


@pytest.fixture
def cupel(client: Client) -> Cupel:
    return command_of(client)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "fragen.csv"
    path.write_text(TABLE)
    return path


@pytest.fixture
def small_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three scenarios are large, and each has a request of its own."""
    monkeypatch.setattr(imported_suites, "MAX_REQUEST_SCENARIOS", 2)
    monkeypatch.setattr(upload, "SCENARIOS_PER_CALL", 1)


def imported(result: Result) -> str:
    assert result.exit_code == 0, result.stderr
    return str(json.loads(result.stdout)["definitions"][0]["id"])


def test_columns_and_rows_are_chosen_by_option(cupel, client: Client, table: Path) -> None:
    result = cupel("import", "csv", table, *OPTIONS, "--offset", "1", "--limit", "1", "--json")
    [scenario] = client.list_scenarios(imported(result))
    assert (scenario["name"], scenario["messages"][0]["content"]) == ("2", "Was?")
    assert scenario["metadata"]["vars"] == {"Nr": "2", "Frage": "Was?", "Antwort": "Das", "Thema": "was"}


def test_unknown_columns_are_listed_with_the_file(cupel, table: Path) -> None:
    result = cupel("import", "csv", table)
    assert result.exit_code == 2
    assert f"{table}: none of the columns is known" in result.stderr
    assert "Nr, Frage, Antwort, Thema" in result.stderr


def test_assertions_of_a_file_use_the_columns(cupel, client: Client, table: Path, tmp_path: Path) -> None:
    (tmp_path / "checks.yaml").write_text("- {type: icontains, value: '{{Thema}}'}\n")
    result = cupel("import", "csv", table, *OPTIONS, "--assert", tmp_path / "checks.yaml", "--json")
    definition = client.get_definition(imported(result))
    assert definition["content"]["assertions"] == [{"type": "icontains", "value": "{{Thema}}"}]


def test_a_file_without_assertions_is_refused(cupel, table: Path, tmp_path: Path) -> None:
    (tmp_path / "checks.yaml").write_text("type: icontains\n")
    result = cupel("import", "csv", table, "--assert", tmp_path / "checks.yaml")
    assert (result.exit_code, "must be a list of assertions" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("checks", "problem"),
    [
        (
            "- {type: icontains, value: a}\n- {type: icontains, valu: b}\n",
            "checks.yaml:2: 1.valu: is not a known field",
        ),
        (
            "assert:\n- {type: icontains, value: '{{Them}}'}\n",
            "checks.yaml:2: assert.0.value: row 1 (line 2) of the table has no",
        ),
        ("assertions: [icontains]\n", "checks.yaml:1: assertions.0: must be an object"),
        (
            "[{type: contains, value: '{{Thema|upper}}'}]\n",
            "checks.yaml:1: 0.value: has {{Thema|upper}}, which is no variable",
        ),
    ],
)
def test_invalid_assertions_are_named_in_their_file(
    cupel, table: Path, tmp_path: Path, checks: str, problem: str
) -> None:
    (tmp_path / "checks.yaml").write_text(checks)
    result = cupel("import", "csv", table, *OPTIONS, "--assert", tmp_path / "checks.yaml")
    assert (result.exit_code, problem in result.stderr) == (2, True), result.stderr
    assert "fragen.csv" not in result.stderr


def test_options_of_tables_are_not_for_promptfoo(cupel, table: Path) -> None:
    assert cupel("import", "promptfoo", table, "--limit", "1").exit_code == 2


def test_a_judged_comparison_names_its_judge(table: Path, tmp_path: Path) -> None:
    arguments = ["import", "csv", str(table), *OPTIONS, "--scorer", "factuality", "--output", str(tmp_path / "a.yaml")]
    result = CliRunner().invoke(app, arguments, obj=Session())
    assert result.stdout.endswith("--models provider/model --judge-model provider/model --in-process\n")
    scenarios = read_definition(tmp_path / "a.yaml").scenarios or []
    assert scenarios[0]["assertions"] == [{"type": "factuality", "value": "Ich"}]


def test_a_variable_may_be_null_in_a_definition_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"question": "Q", "answer": 0, "hint": null}')
    arguments = ["import", "jsonl", str(tmp_path / "a.jsonl"), "--output", str(tmp_path / "a.yaml")]
    CliRunner().invoke(app, arguments, obj=Session())
    [scenario] = read_definition(tmp_path / "a.yaml").scenarios or []
    assert scenario["metadata"]["vars"] == {"question": "Q", "answer": 0, "hint": None}


@pytest.mark.usefixtures("small_requests")
def test_a_large_table_is_uploaded_in_several_requests(cupel, client: Client, table: Path) -> None:
    definition_id = imported(cupel("import", "csv", table, *OPTIONS, "--folder", "f", "--json"))
    assert [each["name"] for each in client.list_scenarios(definition_id)] == ["1", "2", "3"]
    definition = client.get_definition(definition_id)
    assert (definition["tags"], definition["folder"], definition["version"]) == (["csv"], "f", 3)


@pytest.mark.usefixtures("small_requests")
def test_a_large_promptfoo_suite_is_uploaded_in_several_requests(cupel, client: Client, tmp_path: Path) -> None:
    config = {
        "prompts": [{"id": "say", "raw": "Say {{word}}"}, {"id": "spell", "raw": "Spell {{word}}"}],
        "providers": [
            {"id": "openai:gpt-6.1-terra", "prompts": ["say"]},
            {"id": "mistral:mistral-large-latest", "prompts": ["spell"]},
        ],
        "tests": "file://words.csv",
    }
    (tmp_path / "promptfooconfig.yaml").write_text(json.dumps(config))
    (tmp_path / "words.csv").write_text("word,__expected\nred,icontains:red\nblue,icontains:blue\n")
    result = cupel("import", "promptfoo", tmp_path / "promptfooconfig.yaml", "--json")
    imported(result)
    ids = [each["id"] for each in json.loads(result.stdout)["definitions"]]
    asked = [[each["messages"][0]["content"] for each in client.list_scenarios(each_id)] for each_id in ids]
    assert asked == [["Say red", "Say blue"], ["Spell red", "Spell blue"]]
    assert [tag for each_id in ids for tag in client.get_definition(each_id)["tags"] if "import" in tag] == []


@pytest.mark.usefixtures("small_requests")
def test_a_dry_run_of_a_large_table_uploads_nothing(cupel, client: Client, table: Path) -> None:
    assert "would create  fragen: 3 scenarios" in cupel("import", "csv", table, *OPTIONS, "--dry-run").stdout
    assert list(client.list_definitions()) == []


@pytest.mark.usefixtures("small_requests")
@pytest.mark.parametrize("is_reply_lost", [True, False])
def test_an_interrupted_upload_is_continued_without_duplicates(
    cupel, client: Client, table: Path, monkeypatch: pytest.MonkeyPatch, is_reply_lost: bool
) -> None:
    create = client.create_scenarios

    def interrupted(definition_id: str, items: list) -> dict:
        if is_reply_lost:
            create(definition_id, items)
        raise KeyboardInterrupt

    monkeypatch.setattr(client, "create_scenarios", interrupted)
    stopped = cupel("import", "csv", table, *OPTIONS)
    assert (stopped.exit_code, "the same command continues it" in stopped.stderr) == (130, True)
    monkeypatch.setattr(client, "create_scenarios", create)
    definition_id = imported(cupel("import", "csv", table, *OPTIONS, "--json"))
    assert [each["name"] for each in client.list_scenarios(definition_id)] == ["1", "2", "3"]
    assert len(list(client.list_definitions())) == 1
    assert imported(cupel("import", "csv", table, *OPTIONS, "--json")) != definition_id


@pytest.mark.usefixtures("small_requests")
def test_an_upload_whose_scenarios_others_change_is_refused(
    cupel, client: Client, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = client.create_scenarios
    monkeypatch.setattr(client, "create_scenarios", lambda definition_id, items: create(definition_id, items * 2))
    result = cupel("import", "csv", table, *OPTIONS)
    assert (result.exit_code, "were changed during the upload" in result.stderr) == (1, True)
