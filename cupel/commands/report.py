from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cupel.commands.confirmation import start_confirmed
from cupel.commands.options import CallUnpriced, RunId, StartAnyway, command_name, parse_usd
from cupel.commands.suggestions import complete_model
from cupel.commands.written_files import check_text_file, write_text_file
from cupel.counts import count_of
from cupel.errors import UsageError
from cupel.json_types import Json, without_none
from cupel.price_texts import format_cost_interval
from cupel.printable import printable, printable_json
from cupel.session import Session
from cupel.watch import watch
from cupel_core.domain.reports.records import ReportFormat
from cupel_core.domain.runs.run import TERMINAL
from cupel_core.domain.text.figures import format_points_apart

if TYPE_CHECKING:
    from cupel.client import Client

_POLL_SECONDS = 1.0
_OVER = ("COMPLETED", "FAILED")
Format = Annotated[ReportFormat, typer.Option("--format", help="How it is written.")]
Output = Annotated[Path | None, typer.Option("--output", help="File to write; default: standard output.")]
Summarizer = Annotated[
    str | None,
    typer.Option(
        "--summarizer-model",
        autocompletion=complete_model,
        help="Model that writes the summary; default: the run's or workspace's, or the judge.",
    ),
]
WritesSummary = Annotated[bool, typer.Option("--summary/--no-summary", help="Whether a model writes a summary.")]
Trial = Annotated[
    bool, typer.Option("--trial", help="Try the revised prompt against the original on the same scenarios, both anew.")
]
TrialScenarios = Annotated[
    int | None, typer.Option(min=1, help="Scenarios of the trial; default: enough for a difference of 10 points.")
]
TrialRepeats = Annotated[int | None, typer.Option(min=1, max=100, help="Conversations of the trial per scenario.")]
TrialBudget = Annotated[
    float | None,
    typer.Option("--budget", parser=parse_usd, metavar="USD", help="What the trial may cost; default: no limit."),
]
_TRIAL_POLL_SECONDS = 1.0
_MAX_TRIAL_POLLS = 60
"""Limits the wait for the start of a trial, which follows the end of the report within seconds."""
_INTERRUPTED = 130


def report(
    ctx: typer.Context,
    run_id: RunId,
    report_format: Format = ReportFormat.MARKDOWN,
    output: Output = None,
    summarizer: Summarizer = None,
    summary: WritesSummary = True,
    trial: Trial = False,
    trial_scenarios: TrialScenarios = None,
    trial_repeats: TrialRepeats = None,
    budget: TrialBudget = None,
    allow_unpriced: CallUnpriced = False,
    yes: StartAnyway = False,
) -> None:
    """Write the report of a run that has ended; it is made first if there is none of its outcomes."""
    session = ctx.ensure_object(Session)
    terms = without_none(maxBudgetUsd=budget, scenarios=trial_scenarios, repeats=trial_repeats)
    if terms and not trial:
        raise UsageError("--budget, --trial-scenarios and --trial-repeats: only with --trial")
    if output is not None:
        check_text_file(output, "--output")
    allowed = without_none(allowUnpriced=allow_unpriced or None)
    with session.connect() as client:
        wanted = _options(summarizer, summary) | allowed
        made = wait_for_report(session, client, client.create_report(run_id, wanted))
        if made["status"] != "COMPLETED":
            session.remark(f"the report failed: {made['failure']['why']}")
            raise typer.Exit(1)
        if trial:
            try_revised_prompt(session, client, made, terms | allowed, yes=yes)
        text = _read(client, run_id, report_format)
    if output is None:
        print_text(session, text, report_format)
        return
    write_text_file(output, text)
    session.remark(f"report {made['id']} in {output}")


def print_report(session: Session, client: "Client", run: Json) -> None:
    """Print the report that a completed run makes, as Markdown; a failed one is only mentioned.

    The result of the trial that the run asked for is included.
    """
    run_id = run["id"]
    try:
        made = wait_for_report(session, client, _find_or_create(client, run_id))
        if run["trial"] and made["status"] == "COMPLETED":
            wait_for_requested_trial(session, client, made)
    except KeyboardInterrupt:
        session.remark(f"the report is being made; show it with: {command_name()} report {run_id}")
        return
    if made["status"] != "COMPLETED":
        session.remark(f"the report failed: {made['failure']['why']}")
        return
    session.out.print()
    print_text(session, _read(client, run_id, ReportFormat.MARKDOWN), ReportFormat.MARKDOWN)


def _find_or_create(client: "Client", run_id: str) -> Json:
    """Return the report that the run itself has requested, or create one. One without its summary is not made again."""
    current = (each for each in client.list_reports(run_id) if not each["isStale"])
    wanted = {"allowUnpriced": True}  # The start of the run has asked about unknown prices.
    return next(current, None) or client.create_report(run_id, wanted)


def print_text(session: Session, text: str, report_format: ReportFormat) -> None:
    """Print a report; on a terminal, Markdown is rendered, so that ids can be copied and columns are aligned."""
    if session.out.is_terminal and report_format is ReportFormat.MARKDOWN:
        from rich.markdown import Markdown

        session.out.print(Markdown(printable(text), hyperlinks=False))
        return
    session.out.print(printable(text), markup=False, highlight=False, soft_wrap=True, end="")


def _options(summarizer: str | None, summary: bool) -> Json:
    if summarizer is not None and not summary:
        raise UsageError("--no-summary: has no summarizer; omit --summarizer-model")
    return {} if summary and summarizer is None else {"summarizerModel": summarizer}


def wait_for_report(session: Session, client: "Client", made: Json) -> Json:
    while made["status"] not in _OVER:
        session.sleep(_POLL_SECONDS)
        made = client.get_report(made["runId"], made["id"])
    return made


def _read(client: "Client", run_id: str, report_format: ReportFormat) -> str:
    if report_format is ReportFormat.JSON:
        return printable_json(client.get_run_report(run_id), indent=2) + "\n"
    return client.get_run_report_text(run_id, report_format)


def try_revised_prompt(session: Session, client: "Client", report: Json, options: Json, *, yes: bool) -> None:
    """Start the trial of a report, unless it has one, and wait for its result, which the report then has."""
    run_id, report_id = report["runId"], report["id"]
    if report["trial"] is None:
        _announce_trial(session, client.estimate_trial(run_id, report_id, options))
    trial = start_confirmed(session, lambda agreed: client.create_trial(run_id, report_id, options | agreed), yes=yes)
    _wait_for_trial(session, client, report, trial)


def wait_for_requested_trial(session: Session, client: "Client", report: Json) -> None:
    """Wait for the result of the trial that follows a report by itself, unless it could not start."""
    for _ in range(_MAX_TRIAL_POLLS):
        report = client.get_report(report["runId"], report["id"])
        if report["trial"] is not None or report["trialRefusal"] is not None:
            break
        session.sleep(_TRIAL_POLL_SECONDS)
    if report["trial"] is not None:
        _wait_for_trial(session, client, report, report["trial"])


def _wait_for_trial(session: Session, client: "Client", report: Json, trial: Json) -> None:
    run_id, report_id = report["runId"], report["id"]
    try:
        for arm in ("originalRunId", "revisedRunId"):
            if trial["status"] == "RUNNING":
                _wait_for_run(session, client, trial[arm])
        while trial["status"] == "RUNNING":
            session.sleep(_TRIAL_POLL_SECONDS)
            trial = client.get_trial(run_id, report_id)
    except KeyboardInterrupt:
        session.remark(f"the trial continues; its result: {command_name()} report {run_id} --trial")
        raise typer.Exit(_INTERRUPTED) from None
    if trial["status"] == "FAILED":
        session.remark(f"the trial failed: {trial['failure']}")
        raise typer.Exit(1)


def _announce_trial(session: Session, plan: Json) -> None:
    conversations = count_of(plan["estimate"]["jobCount"], "conversation")
    apart = format_points_apart(plan["detectableDifference"])
    session.remark(
        f"trial: {conversations} about {count_of(plan['scenarios'], 'scenario')}, "
        f"{format_cost_interval(plan['estimate']['usd'])}; "
        f"it finds a difference of {apart} with a chance of 80%"
    )


def _wait_for_run(session: Session, client: "Client", run_id: str) -> None:
    run = watch(session, client, client.get_run(run_id))
    if run["status"] not in TERMINAL:
        session.remark(f"run {run_id} is {run['status']}; repeat the command once it has ended")
        raise typer.Exit(1)
