"""Every operation of the API can be reached by a command, or is named here with the reason why not."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from cupel.cli import app
from cupel.client import Client
from cupel.commands.resources import CALLED_METHODS
from tests.conftest import ROOT

WITHOUT_A_COMMAND = {
    "list_turn_events": "`cupel chat` follows a turn by `follow_turn`, which lists them",
    "complete_file": "`cupel files upload` completes what it uploads",
    "create_file": "`cupel files upload` announces what it uploads",
    "create_event_ticket": "for a browser's EventSource; the command sends its token",
    "redeem_login_code": "`cupel open` opens the page that redeems the code",
    "get_session": "for the web page; the command knows its token",
    "generate_persona_message": "for programs that lead a conversation themselves; `cupel try` leads one",
    "get_health": "`cupel status`, and every other command, says whether the API can be reached",
    "get_open_api_document": "for generators of clients",
    "plan_comparison": "`cupel plan` computes the same, which needs no stack",
    "get_provider": "`cupel providers` shows all of them",
    "list_run_analyses": "for programs that keep a history; `cupel analyze` shows the newest analysis",
    "get_branch_artifact": "for programs that read one; `cupel chat` lists all of a branch with `/artifacts`",
    "list_report_conversations": "for programs that read all of them; `cupel transcripts` lists them",
    "get_transcript": "`cupel transcripts --full` shows those of a run",
    "get_label_set": "`cupel labels sets` shows all of a run",
    "list_label_set_items": "for programs in which people label; `cupel labels import` takes their labels",
    "reveal_verdict": "for programs in which people label; `cupel judges show` lists disagreements",
    "get_case_names": "for the page's matrix; `cupel show --matrix` names them",
    "get_case_texts": "for the page's results; `cupel transcripts --full` shows inputs",
    "get_probe_columns": "for the page's matrix; `cupel show --matrix` reads transcripts",
    "list_probe_excerpts": "for the page's matrix; `cupel transcripts` shows them in full",
    "list_served_models": "for the page's forms; `cupel providers` asks a server when it is set",
    "find_probe_matches": "for the page's matrix; `cupel transcripts --full` prints what can be searched",
    "read_decisions": "for the page's editor of definitions; runs read decisions themselves",
    "judge_conversation": "for programs that lead a conversation themselves; `cupel rescore` judges stored ones",
}


def operations() -> set[str]:
    """The names of the client's methods, which another test compares with the operations."""
    paths = json.loads((ROOT / "docs/openapi.json").read_text())["paths"]
    ids = (operation["operationId"] for methods in paths.values() for operation in methods.values())
    return {re.sub("(?=[A-Z])", "_", each).lower() for each in ids}


def used_by_commands() -> set[str]:
    library = ("client.py", "operation_methods.py", "processor.py")
    typer.main.get_command(app)  # which imports all commands
    paths = (path for path in (ROOT / "cupel").rglob("*.py") if path.name not in library)
    return {name for path in paths for name in attributes(path)} | CALLED_METHODS


def attributes(path: Path) -> Iterator[str]:
    return (node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute))


def test_commands_of_resources_call_methods_of_the_client() -> None:
    typer.main.get_command(app)
    assert CALLED_METHODS
    assert set(dir(Client)) >= CALLED_METHODS


def test_every_operation_has_a_command_or_a_reason() -> None:
    assert operations() - used_by_commands() == WITHOUT_A_COMMAND.keys()


@pytest.mark.parametrize("reason", WITHOUT_A_COMMAND.values())
def test_commands_that_reasons_name_exist(reason: str) -> None:
    commands = typer.main.get_command(app)
    assert isinstance(commands, TyperGroup)
    assert set(re.findall(r"`cupel (\w+)", reason)) <= commands.commands.keys()
