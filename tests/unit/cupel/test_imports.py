"""`cupel import`, against the real API function on moto."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cupel import local_files
from cupel.cli import app
from cupel.client import Client
from cupel.files import read_definition
from cupel.local_files import FolderFiles
from cupel.session import Session
from cupel_core.store.settings import Settings
from tests.unit.cupel.api_function import command_of, connect_to_api_function
from tests.unit.cupel.fake_api import Cupel

CONFIG = """
description: Colours
prompts: [file://prompts/*.txt]
providers: [openai:chat:gpt-5-mini, {id: echo, config: {temperature: 0.5}}]
evaluateOptions: {repeat: 3}
tests: tests.csv
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "say.txt").write_text("Say {{x}}")
    (tmp_path / "tests.csv").write_text("x,__expected\nblue,contains: blue\nred,fn: true\n")
    (tmp_path / "promptfooconfig.yaml").write_text(CONFIG)
    (tmp_path / "unrelated.txt").write_text("not sent")
    return tmp_path


@pytest.fixture
def client(cloud: Settings) -> Client:
    return connect_to_api_function()


@pytest.fixture
def cupel(client: Client) -> Cupel:
    return command_of(client)


def test_a_configuration_is_imported_with_its_files(cupel, client: Client, folder: Path) -> None:
    result = cupel("import", "promptfoo", folder / "promptfooconfig.yaml", "--json")
    assert result.exit_code == 0, result.stderr
    [created] = json.loads(result.stdout)["definitions"]
    assert [scenario["messages"][0]["content"] for scenario in client.list_scenarios(created["id"])] == [
        "Say blue",
        "Say red",
    ]


def test_the_report_is_followed_by_the_next_command(cupel, folder: Path) -> None:
    result = cupel("import", "promptfoo", folder / "promptfooconfig.yaml")
    assert "imported 2 models, 1 assertion, 2 scenarios, 1 prompt\n" in result.stdout
    assert "tests.csv line 3.assert.0" in result.stdout
    last = result.stdout.strip().splitlines()[-1]
    assert last.startswith("next     cupel run def_") or "run def_" in last
    targets = [{"model": "openai/gpt-5-mini"}, {"model": "sim/echo", "params": {"temperature": 0.5}}]
    assert last.endswith(f"--targets '{json.dumps(targets)}' --repeats 3 --watch")


def test_a_dry_run_creates_no_definition(cupel, client: Client, folder: Path) -> None:
    result = cupel("import", "promptfoo", folder / "promptfooconfig.yaml", "--dry-run")
    assert "would create  Colours: 2 scenarios" in result.stdout
    assert list(client.list_definitions()) == []


def test_a_definition_file_is_written_without_a_stack(tmp_path: Path, folder: Path) -> None:
    output = tmp_path / "out" / "colours.yaml"
    arguments = ["import", "promptfoo", str(folder / "promptfooconfig.yaml"), "--output", str(output)]
    result = CliRunner().invoke(app, arguments, obj=Session())
    assert result.exit_code == 0, result.stderr
    assert "--in-process --allow-code" in result.stdout.splitlines()[-1]
    written = read_definition(output, allow_code=True)
    assert [scenario["prompt"] for scenario in written.scenarios or []] == ["Say blue", "Say red"]
    assert written.scenarios
    assert written.scenarios[1]["assertions"] == [{"type": "javascript", "value": "true"}]


def test_each_definition_has_a_file_of_its_own(tmp_path: Path, folder: Path) -> None:
    (folder / "prompts" / "sing.txt").write_text("Sing {{x}}")
    (folder / "tests.csv").write_text("x\nblue\n")
    config = CONFIG.replace("{id: echo,", "{id: echo, prompts: ['prompts/say.txt*'],")
    (folder / "promptfooconfig.yaml").write_text(config)
    arguments = ["import", "promptfoo", str(folder / "promptfooconfig.yaml"), "--json", "--output"]
    result = CliRunner().invoke(app, [*arguments, str(tmp_path / "a.yaml")], obj=Session())
    files = [tmp_path / "a.yaml", tmp_path / "a-2.yaml"]
    assert [definition["file"] for definition in json.loads(result.stdout)["definitions"]] == list(map(str, files))
    again = CliRunner().invoke(app, [*arguments, str(tmp_path / "a.yaml")], obj=Session())
    assert (again.exit_code, "exists already" in again.stderr) == (2, True)


def test_samples_become_a_definition_file(tmp_path: Path) -> None:
    (tmp_path / "sums.csv").write_text("input,target\n1+1,2\n")
    arguments = ["import", "csv", str(tmp_path / "sums.csv"), "--output", str(tmp_path / "sums.yaml")]
    result = CliRunner().invoke(app, arguments, obj=Session())
    assert result.stdout.endswith("sums.yaml --models provider/model --in-process\n")
    assert read_definition(tmp_path / "sums.yaml").definition["name"] == "sums"


@pytest.mark.parametrize("option", ["--dry-run", "--folder=x"])
def test_options_of_a_stack_have_no_effect_on_a_file(tmp_path: Path, option: str) -> None:
    arguments = ["import", "csv", "a.csv", "--output", str(tmp_path / "a.yaml"), option]
    assert CliRunner().invoke(app, arguments, obj=Session()).exit_code == 2


def test_importing_nothing_fails(cupel, tmp_path: Path) -> None:
    (tmp_path / "promptfooconfig.yaml").write_text("prompts: [file://p.py]\nproviders: [echo]\n")
    (tmp_path / "p.py").write_text("")
    result = cupel("import", "promptfoo", tmp_path / "promptfooconfig.yaml")
    assert result.exit_code == 1
    assert "p.py is code, which is not executed" in result.stderr


@pytest.mark.parametrize(
    ("source_format", "name", "content"),
    [
        ("inspect", "sums.json", '[{"input": "1+1", "target": "2"}]'),
        ("openai-evals", "sums.jsonl", '{"input": "1+1", "ideal": "2"}\n'),
        ("csv", "sums.csv", "input,target\n1+1,2\n"),
        ("jsonl", "sums.jsonl", '{"input": "1+1", "target": "2"}\n'),
    ],
)
def test_samples_are_named_after_their_file(cupel, tmp_path: Path, source_format: str, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    result = cupel("import", source_format, tmp_path / name, "--json")
    assert [created["name"] for created in json.loads(result.stdout)["definitions"]] == ["sums"]


@pytest.mark.parametrize("arguments", [("xlsx", "a.xlsx"), ("promptfoo", "nowhere.yaml"), ("csv", "bad.csv")])
def test_a_file_that_cannot_be_imported_is_a_usage_error(cupel, tmp_path: Path, arguments: tuple[str, str]) -> None:
    (tmp_path / "bad.csv").write_bytes(b"input\n\xff\n")
    source_format, name = arguments
    assert cupel("import", source_format, tmp_path / name).exit_code == 2


def test_only_text_files_inside_the_folder_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_files, "MAX_FOLDER_FILE_BYTES", 1_000)
    folder = tmp_path / "inside"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "binary.txt").write_bytes(b"\0")
    (folder / "large.txt").write_text("x" * 1_001)
    (folder / "text.txt").write_text("text")
    files = FolderFiles(folder)
    paths = ("../secret.txt", "link.txt", "binary.txt", "large.txt", "nowhere.txt", str(tmp_path / "secret.txt"))
    assert [files.read(path) for path in paths] == [None] * 6
    assert files.read("text.txt") == "text"
    assert files.contents == {"text.txt": "text"}


def test_hidden_files_are_not_listed(tmp_path: Path) -> None:
    for name in ("a.txt", ".env", "node_modules/b.txt", ".git/c.txt", "d/e.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert FolderFiles(tmp_path).list_paths() == ["a.txt", "d/e.txt"]


HTTP_CONFIG = """
prompts: ["{{x}}"]
providers:
- id: https://agent.example/chat
  label: Agent
  config: {body: {q: "{{prompt}}"}, headers: {Authorization: "Bearer {{env.AGENT_TOKEN}}"}}
tests: [{vars: {x: Hi}}]
"""


def test_agents_are_listed_with_the_headers_to_set(cupel, tmp_path: Path) -> None:
    (tmp_path / "promptfooconfig.yaml").write_text(HTTP_CONFIG)
    result = cupel("import", "promptfoo", tmp_path / "promptfooconfig.yaml")
    assert "connector  Agent: https://agent.example/chat; headers: Authorization\n" in result.stdout
    assert "--models 'connector/<id of Agent>'" in result.stdout


def test_a_definition_file_contains_its_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "promptfooconfig.yaml").write_text(HTTP_CONFIG)
    output = tmp_path / "agent.yaml"
    arguments = ["import", "promptfoo", str(tmp_path / "promptfooconfig.yaml"), "--output", str(output)]
    result = CliRunner().invoke(app, arguments, obj=Session())
    assert result.stdout.endswith("agent.yaml --models connector/Agent --in-process\n")
    monkeypatch.setenv("AGENT_TOKEN", "t-1")
    [connector] = read_definition(output).connectors
    assert connector["headers"] == {"Authorization": "Bearer t-1"}
    assert connector["config"] == {"method": "POST", "request": '{"q": message}', "reply": "@"}
