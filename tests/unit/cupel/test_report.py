"""`cupel report`, against the real API function."""

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from analyze import app as analyze
from cupel.client import Client
from cupel.commands.report import print_text
from cupel.session import PlainTextConsole, Session
from cupel_core.base.clock import utc_now
from cupel_core.base.messages import RunRef
from cupel_core.domain.reports.records import ReportFormat
from cupel_core.domain.runs.run import Run, RunFailure
from cupel_core.store import jobs, reports, run_items
from cupel_core.store.settings import Settings
from tests.answered_runs import AnsweredRun
from tests.lambda_context import Context
from tests.unit.cupel.api_function import command_of, connect_to_api_function
from tests.unit.cupel.fake_api import Cupel


@pytest.fixture
def client(cloud: Settings) -> Client:
    return connect_to_api_function()


@pytest.fixture
def cupel(client: Client) -> Cupel:
    return command_of(client)


@pytest.fixture
def run(client: Client) -> Run:
    """A completed run with a report."""
    run = AnsweredRun(answer=lambda index: f"\x1b[31manswer {index}", workspace="acme").completed()
    client.create_report(run.id)
    bodies = [each.request.model_dump_json(by_alias=True) for each in jobs.list_open()]
    analyze.handler({"Records": [{"messageId": "1", "body": body} for body in bodies]}, Context())
    return run


def test_a_report_is_printed_as_markdown(cupel: Cupel, run: Run) -> None:
    answer = cupel("report", run.id)
    assert answer.exit_code == 0, answer.stderr
    assert answer.stdout.startswith("# Report: ")
    assert "\x1b" not in answer.stdout


def test_a_report_is_written_as_html(cupel: Cupel, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    answer = cupel("report", run.id, "--format", "html", "--output", str(path))
    assert (answer.exit_code, answer.stdout) == (0, "")
    assert path.read_text().startswith("<!DOCTYPE html>")
    assert str(path) in answer.stderr.replace("\n", "")


def test_a_report_is_printed_as_json(cupel: Cupel, run: Run, client: Client) -> None:
    printed = json.loads(cupel("report", run.id, "--format", "json").stdout)
    assert printed == client.get_run_report(run.id)
    assert list(client.list_report_conversations(run.id, printed["id"])) == printed["content"]["conversations"]
    assert [each["id"] for each in client.list_reports(run.id)] == [printed["id"]]


def test_an_output_that_cannot_be_written_is_named(cupel: Cupel, run: Run, tmp_path: Path) -> None:
    answer = cupel("report", run.id, "--output", str(tmp_path / "missing" / "report.md"))
    assert (answer.exit_code, "--output" in answer.stderr) == (2, True)


def test_watching_a_run_that_makes_a_report_ends_with_it(cupel: Cupel, run: Run) -> None:
    run_items.to_item(replace(run, report=True)).save()
    printed = cupel("watch", run.id).stdout
    assert "# Report: " in printed
    assert printed.index("# Report: ") < printed.index("next   ")


def test_watching_a_run_that_asked_for_a_trial_waits_for_its_start(cupel: Cupel, run: Run) -> None:
    run_items.to_item(replace(run, report=True, trial=True)).save()
    [record] = reports.list_all(RunRef("acme", run.id))
    reports.refuse_trial(record, "it has no summary")
    assert "It did not start" in cupel("watch", run.id).stdout


def test_watching_a_run_without_a_report_makes_none(cupel: Cupel, run: Run) -> None:
    assert "# Report: " not in cupel("watch", run.id).stdout


def test_a_failed_report_is_mentioned_below_the_results(cupel: Cupel, run: Run, client: Client) -> None:
    run_items.to_item(replace(run, report=True)).save()
    ref = RunRef("acme", run.id)
    [record] = reports.list_all(ref)
    reports.end(record.failed(RunFailure("measuring", "nothing to measure"), utc_now()))
    client.create_report = lambda *_: client.get_report(run.id, record.id)  # type: ignore[method-assign]
    answer = cupel("watch", run.id)
    assert "the report failed: nothing to measure" in answer.stderr
    assert "next   " in answer.stdout


def test_on_a_terminal_markdown_is_rendered_and_in_a_pipe_it_is_not() -> None:
    markdown = "# Report: Facts\n\nRun run\\_01m8-0: \\$0.34.\n\n| target | passed |\n|---|---:|\n| sim/a | 12 |\n"
    assert printed(markdown, is_terminal=False) == markdown
    shown = printed(markdown, is_terminal=True)
    assert "run_01m8-0: $0.34." in shown
    assert "|" not in shown
    assert "\\" not in shown


def printed(text: str, *, is_terminal: bool) -> str:
    file = StringIO()
    out = PlainTextConsole(file=file, force_terminal=is_terminal, width=80, color_system=None, highlight=False)
    print_text(Session(out=out), text, ReportFormat.MARKDOWN)
    return file.getvalue()
