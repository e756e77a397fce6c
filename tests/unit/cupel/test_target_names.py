"""Agents are shown by name, in the live view and in tables."""

import httpx
import pytest
from typer.testing import CliRunner

from cupel.cli import app
from cupel.client import Client
from cupel.errors import ApiProblem
from cupel.session import PlainTextConsole, Session
from cupel.target_names import TargetNames
from tests.unit.cupel.fake_api import (
    Connect,
    Cupel,
    FakeApi,
    a_progress,
    a_run,
    a_target,
    a_transcript,
    an_error,
    column_fields,
)

AGENT, MODEL = "connector/con_1", "openai/gpt-5-mini"
CONNECTOR = {"id": "con_1", "name": "Booking bot"}


@pytest.fixture
def api() -> FakeApi:
    run = a_run(config=a_run()["config"] | {"models": [AGENT, MODEL]})
    return FakeApi(documents={"connectors/con_1": CONNECTOR}, runs=[run])


def test_an_agent_is_called_by_its_name_which_is_read_once(api: FakeApi, client: Client) -> None:
    names = TargetNames(client)
    shown = names.named([column_fields(each) for each in (AGENT, MODEL, AGENT)])
    assert [each["column"] for each in shown] == ["connector/Booking bot", MODEL, "connector/Booking bot"]
    assert len(api.requests) == 1


def test_a_deleted_agent_is_called_by_its_id(client: Client) -> None:
    assert TargetNames(client).of("connector/con_2") == "connector/con_2"


def test_a_name_that_cannot_be_read_is_an_error(api: FakeApi, client: Client) -> None:
    api.refusals = [httpx.Response(403, json={"title": "Forbidden"})]
    with pytest.raises(ApiProblem):
        TargetNames(client).of(AGENT)


@pytest.mark.parametrize("command", [("runs",), ("show", "run_1"), ("transcripts", "run_1"), ("probes", "run_1")])
def test_tables_show_names_and_json_ids(api: FakeApi, cupel: Cupel, command: tuple[str, ...]) -> None:
    api.transcripts = [a_transcript(0, AGENT, "5")]
    api.errors = [{"id": "run_1-1"} | an_error(1, AGENT)]
    assert "connector/Booking bot" in cupel(*command).stdout
    as_json = cupel(*command, "--json").stdout
    assert (AGENT in as_json, "Booking bot" in as_json) == (True, False)


def test_ids_are_shown_on_request(api: FakeApi, cupel: Cupel) -> None:
    api.transcripts = [a_transcript(0, AGENT, "5")]
    assert AGENT in cupel("transcripts", "run_1", "--ids").stdout


def test_the_live_view_shows_names(api: FakeApi, connect: Connect) -> None:
    api.progress = [a_progress(a_target(AGENT, 2, 1, 1), status="COMPLETED")]
    session = Session(connect=connect, err=PlainTextConsole(stderr=True, force_terminal=True, width=120))
    shown = CliRunner().invoke(app, ["watch", "run_1"], obj=session).stderr
    assert ("connector/Booking bot" in shown, AGENT in shown) == (True, False)


def test_a_comparison_names_agents_in_tables_and_sentences(client: Client) -> None:
    column = column_fields(AGENT)
    row = {"baseline": [column], "comparison": [column], "sentence": f"{AGENT} rates higher than in the baseline."}
    named = TargetNames(client).in_figures({"rows": [row], "overall": None})
    [shown] = named["rows"]
    assert shown["sentence"] == "connector/Booking bot rates higher than in the baseline."
    assert shown["comparison"][0]["targetId"] == "connector/Booking bot"
