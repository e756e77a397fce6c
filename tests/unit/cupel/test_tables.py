"""Listings on terminals of 60 and 200 columns, and in a pipe: ids are never folded, and nothing is cut."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from typer.testing import CliRunner

from cupel.cli import app
from cupel.session import PlainTextConsole, Session
from cupel.tables import layout, table
from cupel.terminal import in_zone, one_line
from tests.unit.cupel.fake_api import REAL, SIMULATED, Connect, Cupel, FakeApi, a_run, a_transcript

RUN, DEFINITION, SCENARIO = "run_01jd3vqkzj8m2n4p6r8t0w2y4a", "def_01jd3vqkzj8m2n4p6r8t0w2y4b", "scn_w2y4b_000001"
LONG = "An answer of many words. " * 20
MODEL = "custom/a-model-with-a-rather-long-name-as-some-providers-have"

TIME = "2026-01-31T09:30:00.000Z"

type OnTerminal = Callable[..., str]


def further_lists() -> dict[str, list[dict[str, Any]]]:
    """By path. Ids are those of `RUN`, next to texts that need not fit."""
    named = {"id": RUN, "name": LONG, "createdAt": TIME, "updatedAt": TIME}
    firing = {"scheduledTime": TIME, "runId": RUN, "error": None}
    schedule = {"expression": "cron(0 9 ? * MON-FRI *)", "timezone": "Europe/Berlin", "status": "ENABLED"}
    failed = firing | {"runId": None, "error": LONG}
    letter = {"messageId": RUN, "provider": "custom", "runId": RUN, "indexes": [1], "receivedCount": 5, "cause": LONG}
    call = {"type": "run.finished", "runId": RUN, "status": "PENDING", "attempts": 1, "httpStatus": None, "error": LONG}
    overrides = {"judgeModel": MODEL, "assertions": None}
    progress = {"total": 1, "completed": 1, "failed": 0}
    agreement = {"first": "run", "second": RUN, "conversations": 40, "firstPassRate": 0.5, "secondPassRate": 0.5}
    agreement |= {"agreement": 1.0, "kappa": 1.0, "kappaInterval95": [1.0, 1.0], "alpha": 1.0, "note": None}
    return {
        "schedules": [named | schedule | {"firings": [firing]}, named | schedule | {"firings": [failed]}],
        "connectors": [named | {"type": "openai", "baseUrl": f"https://{MODEL}", "headerNames": ["a", "b"]}],
        "evals": [named | {"targets": [{"id": RUN}], "judgeModel": MODEL}],
        "queue/dead-letters": [letter],
        "webhook/deliveries": [call | {"createdAt": TIME, "nextAttemptAt": TIME}],
        f"runs/{RUN}/rescores": [named | {"status": "COMPLETED", "progress": progress, "config": overrides}],
        f"runs/{RUN}/grader-agreement": [agreement],
    }


@pytest.fixture
def filled_api(api: FakeApi) -> FakeApi:
    api.runs = [a_run(id=RUN, definitionId=DEFINITION, name="Release 2", durationMs=3_725_000)]
    api.runs[0] |= {"definitionName": "Value dilemma", "startedBy": {"type": "token", "id": "tok_1", "name": "ci"}}
    api.runs[0]["config"]["models"] = [MODEL, REAL]
    said = {"messages": [{"role": "assistant", "content": LONG}]}
    named = {"scenarioId": SCENARIO, "scenarioName": "Boiling point", "personaName": "Ada", "personaId": "per_1"}
    asked = named | {"variables": {"unit": "°C"}, "content": said}
    api.transcripts = [a_transcript(n, MODEL, "4", repeat=n, **asked) for n in range(2)]
    api.tokens = [
        {"id": RUN, "name": "ci", "role": "admin", "createdAt": "2026-01-31T09:30:00.000Z", "revokedAt": None}
    ]
    api.personas = [{"id": RUN, "name": "Ada", "description": LONG, "headerNames": ["authorization"]}]
    tagged = {"folder": None, "version": 1, "tags": ["eu"], "updatedAt": TIME}
    api.definitions = [{"id": RUN, "name": LONG, **tagged}]
    api.models = [
        {"id": MODEL, "inputUsdPerMillion": 1, "outputUsdPerMillion": 2, "simulated": False, "usable": True}
        | {"contextLength": None, "maxOutputTokens": None, "inputModalities": ["text"], "supportedParameters": ["seed"]}
    ]
    api.lists = further_lists()
    limits = {"maxParallelRequests": 5, "requestsPerMinute": None, "tokensPerMinute": None}
    api.providers = [{"name": "custom", "usable": True, "baseUrl": f"https://{MODEL}", **limits}]
    return api


@pytest.fixture
def on_terminal(connect: Connect) -> OnTerminal:
    def invoke(*arguments: str, width: int) -> str:
        console = PlainTextConsole(width=width, force_terminal=True, color_system=None, highlight=False)
        session = Session(connect=connect, out=console)
        result = CliRunner().invoke(app, list(arguments), obj=session, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    return invoke


LISTINGS = [
    (("runs",), RUN),
    (("show", RUN), MODEL),
    (("transcripts", RUN), MODEL),
    (("transcripts", RUN, "--ids"), SCENARIO),
    (("tokens",), RUN),
    (("personas",), RUN),
    (("models",), MODEL),
    (("providers",), MODEL),
    (("schedules",), RUN),
    (("connectors",), MODEL),
    (("evals",), RUN),
    (("queue", "dead-letters"), RUN),
    (("webhook", "deliveries"), RUN),
    (("rescores", RUN), RUN),
    (("definitions", "list"), RUN),
]


@pytest.mark.usefixtures("filled_api")
@pytest.mark.parametrize(("command", "name"), LISTINGS, ids=lambda value: " ".join(value) if value else "")
@pytest.mark.parametrize("width", [60, 120, 150, 200])
def test_no_id_is_folded_on_a_terminal(on_terminal: OnTerminal, command: tuple[str, ...], name: str, width: int):
    assert name in on_terminal(*command, width=width)


@pytest.mark.usefixtures("filled_api")
@pytest.mark.parametrize(("command", "name"), LISTINGS, ids=lambda value: " ".join(value) if value else "")
def test_in_a_pipe_a_row_is_a_line(cupel: Cupel, command: tuple[str, ...], name: str):
    shown = cupel(*command).stdout
    assert name in shown
    assert "…" not in shown


@pytest.mark.usefixtures("filled_api")
def test_texts_are_whole_in_a_pipe(cupel: Cupel):
    assert shown_rows(cupel("transcripts", RUN).stdout)[0].endswith(LONG.strip())


@pytest.mark.usefixtures("filled_api")
def test_a_listing_in_a_pipe_has_a_line_per_row_and_one_of_headings(cupel: Cupel):
    assert [len(cupel(*command).stdout.splitlines()) for command in (("runs",), ("transcripts", RUN))] == [2, 3]


@pytest.mark.usefixtures("filled_api")
def test_rows_become_blocks_if_the_terminal_is_too_narrow(on_terminal: OnTerminal):
    first, *others = on_terminal("runs", width=60).splitlines()
    assert first == f"run {RUN}"
    assert all(line.startswith("  ") for line in others)
    assert "  name Release 2  definition Value dilemma" in others[0]


def test_texts_fold_before_rows_become_blocks(on_terminal: OnTerminal):
    listing = table("id", "text", texts=["text"])
    listing.add_row(RUN, LONG)
    assert list(layout(listing, 60)) == [listing]
    assert len(list(layout(listing, 40))) > 1


def test_wide_characters_are_aligned_in_a_pipe():
    listing = table("name", "n", right=["n"])
    listing.add_row("全角", "1")
    listing.add_row("[bold]ab[/bold]", "22")
    assert [line.plain for line in layout(listing, None)] == ["name   n", "全角   1", "ab    22"]  # type: ignore[union-attr]


def test_an_id_in_a_text_is_not_folded_on_a_terminal(capsys: pytest.CaptureFixture[str]):
    PlainTextConsole(width=20, force_terminal=True, color_system=None).print(f"deleted {RUN}", markup=False)
    assert capsys.readouterr().out == f"deleted\n  {RUN}\n"


def test_empty_cells_are_left_out_of_a_block():
    listing = table("id", "name", "note", "n")
    listing.add_row("x" * 20, "–", "", "3")
    assert [line.plain for line in layout(listing, 10)] == [f"id {'x' * 20}", "  n 3"]  # type: ignore[union-attr]


def test_times_are_in_the_zone_of_the_user():
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)
    berlin = ZoneInfo("Europe/Berlin")
    assert in_zone(noon, berlin, is_terminal=True) == "2026-01-31 13:00:00"
    assert in_zone(noon, berlin, is_terminal=False) == "2026-01-31T13:00:00+01:00"


@pytest.mark.usefixtures("filled_api")
def test_times_in_a_pipe_have_an_offset(cupel: Cupel):
    (row,) = shown_rows(cupel("runs").stdout)
    created = next(word for word in row.split() if word.startswith("2026-01-31"))
    assert datetime.fromisoformat(created) == datetime(2026, 1, 31, 9, 30, tzinfo=UTC)


def test_a_text_is_cut_to_its_length_on_one_line():
    assert one_line("a\nb  c", 4) == "a b…"


def shown_rows(listing: str) -> list[str]:
    return listing.splitlines()[1:]


@pytest.mark.usefixtures("filled_api")
def test_runs_are_listed_with_names_starter_and_duration(cupel: Cupel):
    (row,) = shown_rows(cupel("runs").stdout)
    for text in ("Release 2", "Value dilemma", "token ci", "1 h 2 min"):
        assert text in row


@pytest.mark.usefixtures("filled_api")
def test_transcripts_are_listed_by_name_and_with_ids_on_request(cupel: Cupel):
    headings, first, second = cupel("transcripts", RUN).stdout.splitlines()
    assert " ".join(headings.split()) == "probe target scenario persona repeat variables decision tokens time answer"
    assert "Boiling point" in first
    assert "unit=°C" in first
    assert ("#2" in first, "#2" in second) == (False, True)
    assert SCENARIO not in first
    assert f"{SCENARIO}  Ada      per_1" in cupel("transcripts", RUN, "--ids").stdout


def test_columns_without_values_are_left_out(api: FakeApi, cupel: Cupel):
    api.transcripts = [a_transcript(0, SIMULATED, None)]
    headings = cupel("transcripts", "run_1").stdout.splitlines()[0].split()
    assert headings == ["probe", "target", "scenario", "tokens", "time", "answer"]


def test_a_conversation_is_headed_by_its_names(filled_api: FakeApi, cupel: Cupel):
    filled_api.transcripts[1]["result"] = {"success": False, "score": None, "reason": "no number"}
    shown = cupel("transcripts", RUN, "--full").stdout
    assert f"probe 1  {MODEL}  Boiling point (Ada) #2\nunit=°C\n" in shown
    assert "failed: no number" in shown
