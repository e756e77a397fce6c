import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cupel.commands.analyze import find_analysis, print_analysis
from cupel.commands.compare import print_comparison
from cupel.commands.confirmation import start_confirmed
from cupel.commands.gate_options import Baseline, GateOptions, with_gates
from cupel.commands.options import (
    AsJson,
    InProcessOptions,
    Prices,
    RunId,
    StartAnyway,
    Watch,
    command_name,
)
from cupel.commands.report import print_report
from cupel.commands.request_options import with_settings
from cupel.commands.show import print_run
from cupel.commands.targets import (
    model_names,
    note_unlisted_models,
    require_targets,
    warn_about_models,
    with_profile_id,
)
from cupel.comparing import compare, detectable_drops
from cupel.counts import count_of
from cupel.errors import ApiProblem, UsageError
from cupel.json_types import Json
from cupel.junit_report import render_junit
from cupel.other_files import refuse_other_files
from cupel.price_texts import format_cost_interval
from cupel.render_analysis import BELOW_RESULTS
from cupel.render_results import cautions_of_legend, repair_of_run
from cupel.results import ModelResults
from cupel.server_models import own_server_models
from cupel.session import Session
from cupel.target_names import TargetNames
from cupel.watch import watch as follow_to_end
from cupel_core.domain.runs.run import RunStatus

if TYPE_CHECKING:
    from cupel.client import Client
    from cupel.upload import UploadedDefinition

INTERRUPTED = 130
"""Shells use this exit code for a command ended by Ctrl-C."""

Definitions = Annotated[
    list[str],
    typer.Argument(
        metavar="DEFINITION...",
        help="A definition file, or an id; several files are the prompts of one run.",
    ),
]
InProcess = Annotated[
    bool,
    typer.Option(
        "--in-process", help="Run in this process, without a stack; keys come from OPENAI_API_KEY and similar."
    ),
]
New = Annotated[bool, typer.Option("--new", help="Create a definition even if one of its name exists.")]
Resume = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="With --in-process: continue an interrupted evaluation, or the `last` one."),
]

Cache = Annotated[bool, typer.Option("--cache", help="With --in-process: reuse earlier answers.")]
CacheTtl = Annotated[float | None, typer.Option(min=1, help="Seconds to reuse answers; default: 14 days.")]


AllowCode = Annotated[
    bool,
    typer.Option("--allow-code", help="With --in-process: run code of assertions with your rights."),
]


ShowMatrix = Annotated[bool, typer.Option("--matrix", help="With --in-process: also show a row per scenario.")]

DeepAnalysis = Annotated[
    bool, typer.Option("--deep", help="With --in-process: analyze deeply; needs cupel\\[analysis].")
]
AnalysisModel = Annotated[
    str | None, typer.Option(metavar="MODEL", help="With --deep: writes the narrative; default: rules do.")
]


_NEEDS_STACK = {
    "experimentId": "--experiment: needs a stack, which stores experiments",
    "staggerMs": "--stagger: needs a stack, whose workers start conversations",
    "summarizerModel": "--summarizer-model: needs a stack, which writes reports of its runs",
    "report": "--report: needs a stack, which stores reports",
    "priority": "--priority: has no effect with --in-process, where no other run waits",
    "profileVersion": "--profile-version: needs a stack, which stores the versions of profiles",
}
"""Maps settings of runs to the reason why evaluations in process refuse them."""


@with_settings("CreateRun")
@with_gates
def run(
    ctx: typer.Context,
    definitions: Definitions,
    yes: StartAnyway = False,
    new: New = False,
    watch: Watch = False,
    in_process: InProcess = False,
    resume: Resume = None,
    cache: Cache = False,
    cache_ttl: CacheTtl = None,
    allow_code: AllowCode = False,
    matrix: ShowMatrix = False,
    deep: DeepAnalysis = False,
    analysis_model: AnalysisModel = None,
    price: Prices = None,
    as_json: AsJson = False,
    *,
    settings: Json,
    gates: GateOptions,
) -> None:
    """Start a run of a definition, or of several files that ask the same scenarios in different ways."""
    session = ctx.ensure_object(Session)
    refuse_other_files([Path(each) for each in definitions])
    gates.check_waits_for_end(is_waiting=watch or in_process)
    if in_process:
        _refuse_without_stack(settings, gates, new=new)
    check_definition_version(settings, [] if in_process else definitions)
    require_targets(settings)
    warn_about_models(session, settings)
    graders = (settings["config"].get(role) for role in ("judgeModel", "personaModel"))
    own_models = own_server_models((*model_names(settings), *graders))
    if in_process:
        note_unlisted_models(session, own_models)
        options = InProcessOptions(resume, cache, cache_ttl, allow_code, matrix, deep, analysis_model, price or ())
        _run_in_process(session, definitions, settings, options, gates, yes=yes, as_json=as_json)
    elif resume is not None or cache:
        raise UsageError("--resume and --cache: only with --in-process; runs on a stack continue by themselves")
    elif price:
        raise UsageError("--price: only with --in-process; `cupel providers set NAME --price` sets those of a stack")
    elif allow_code:
        raise UsageError("--allow-code: only with --in-process; a stack runs no code from assertions")
    elif matrix:
        raise UsageError(f"--matrix: only with --in-process; use `{command_name()} show RUN --matrix` later")
    elif deep or analysis_model:
        raise UsageError(
            f"--deep and --analysis-model: only with --in-process; use `{command_name()} analyze RUN --deep`"
        )
    else:
        started_gate = gates if watch else None
        _start_on_stack(session, definitions, settings, started_gate, own_models, new=new, yes=yes, as_json=as_json)


@with_settings("RerunRun")
@with_gates
def rerun(
    ctx: typer.Context,
    run_id: RunId,
    yes: StartAnyway = False,
    watch: Watch = False,
    as_json: AsJson = False,
    *,
    settings: Json,
    gates: GateOptions,
) -> None:
    """Repeat a run: the same scenarios and configuration, except for the options given."""
    session = ctx.ensure_object(Session)
    gates.check_waits_for_end(is_waiting=watch)
    if "models" in settings or "targets" in settings:
        require_targets(settings)
    warn_about_models(session, settings)
    with session.connect() as client:
        overrides = with_profile_id(client, settings)
        started = start_confirmed(session, lambda agreed: client.rerun_run(run_id, overrides | agreed), yes=yes)
        watch_or_print(session, client, started, gates if watch else None, as_json=as_json)


@with_gates
def watch(
    ctx: typer.Context,
    run_id: RunId,
    as_json: AsJson = False,
    *,
    gates: GateOptions,
) -> None:
    """Follow a run to its end and show its results."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        _watch_to_end(session, client, client.get_run(run_id), gates, as_json=as_json, extra={})


def _run_in_process(
    session: Session,
    definitions: Sequence[str],
    settings: Json,
    options: InProcessOptions,
    gates: GateOptions,
    *,
    yes: bool,
    as_json: bool,
) -> None:
    # The providers take longer to import than the rest of the command.
    from cupel.commands.in_process import run_in_process

    try:
        run_in_process(session, definitions, settings, options, gates, yes=yes, as_json=as_json)
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


def _refuse_without_stack(settings: Json, gates: GateOptions, *, new: bool) -> None:
    gates.check_without_stack()
    if new:
        raise UsageError("--new: has no effect with --in-process, which stores no definition")
    refuse_settings_of_stacks(settings)


def refuse_settings_of_stacks(settings: Json) -> None:
    for field, message in _NEEDS_STACK.items():
        if field in settings or field in settings["config"]:
            raise UsageError(message)


def _start_on_stack(
    session: Session,
    definitions: Sequence[str],
    settings: Json,
    gates: GateOptions | None,
    own_models: Mapping[str, Sequence[str]],
    *,
    new: bool,
    yes: bool,
    as_json: bool,
) -> None:
    with session.connect() as client:
        note_unlisted_models(session, own_models, client)
        specification = with_profile_id(client, settings)
        with definition_of(session, client, definitions, specification, new=new) as resolved:
            body = {**specification, **resolved}
            started = start_confirmed(session, lambda agreed: client.create_run(body | agreed), yes=yes)
        watch_or_print(session, client, started, gates, as_json=as_json)


def watch_or_print(
    session: Session, client: "Client", started: Json, gates: GateOptions | None, *, as_json: bool
) -> None:
    session.remark(f"run {started['run']['id']}: {count_of(started['jobCount'], 'conversation')}{_expected(started)}")
    if gates is not None:
        extra = {"jobCount": started["jobCount"]}
        _watch_to_end(session, client, started["run"], gates, as_json=as_json, extra=extra)
    elif as_json:
        session.print_json(started)
    else:
        session.out.print(f"{command_name()} watch {started['run']['id']}", markup=False, soft_wrap=True)


def _expected(started: Json) -> str:
    estimate = started["estimate"]
    return f", {format_cost_interval(estimate['usd'])}" if estimate and estimate["usd"]["high"] else ""


@contextmanager
def definition_of(
    session: Session,
    client: "Client",
    definitions: Sequence[str],
    chosen: Json,
    *,
    new: bool = False,
    starts: bool = True,
) -> Iterator[Json]:
    """Yield the `definitionId`, and `models` or `targets`, of a request, for uploaded files also its version.

    File names take precedence over ids, so a file may have any name. The names of its connectors are replaced by ids.
    If the request is refused or given up, a definition that was created for it is deleted. Without `starts`, keys of
    providers are not needed.
    """
    if not _are_files(definitions):
        if new:
            raise UsageError("--new: needs a definition file")
        if len(definitions) > 1:
            raise UsageError(f"{', '.join(definitions)}: only files can be the prompts of one run")
        yield {"definitionId": definitions[0], **_targets_of(chosen)}
        return
    from cupel.file_resources import resolve_targets
    from cupel.files import read_definitions
    from cupel.start_checks import check_start
    from cupel.upload import Change, upload_definition

    file = read_definitions([Path(definition) for definition in definitions])
    print_file_warnings(session, file.source.warnings)
    check_start(client, file, chosen, needs_access=starts)
    targets = resolve_targets(client, file, _targets_of(chosen))
    uploaded = upload_definition(client, file, session.sleep, new=new)
    print_uploaded(session, uploaded)
    try:
        yield {"definitionId": uploaded.id, "definitionVersion": uploaded.version, **targets}
    except (ApiProblem, UsageError, typer.Abort) as refusal:
        is_refused = not isinstance(refusal, ApiProblem) or refusal.status < HTTPStatus.INTERNAL_SERVER_ERROR
        if is_refused and uploaded.change is Change.CREATED:
            client.delete_definition(uploaded.id)
            session.remark(f"definition {uploaded.id} was deleted, because nothing was started")
        raise


def check_definition_version(settings: Json, definitions: Sequence[str]) -> None:
    if "definitionVersion" in settings and _are_files(definitions):
        raise UsageError("--definition-version: needs the id of a definition, whose versions the stack stores")


def _are_files(definitions: Sequence[str]) -> bool:
    return all(Path(each).exists() or not each.startswith("def_") for each in definitions)


def _targets_of(chosen: Json) -> Json:
    return {name: chosen[name] for name in ("models", "targets") if name in chosen}


def print_file_warnings(session: Session, warnings: Iterable[str]) -> None:
    for warning in warnings:
        session.remark(f"warning: {warning}")


def print_uploaded(session: Session, uploaded: "UploadedDefinition") -> None:
    for warning in uploaded.warnings:
        session.remark(f"warning: {warning['field']}: {warning['message']}")
    newer = f"; the latest is {uploaded.latest}" if uploaded.latest > uploaded.version else ""
    version = f"version {uploaded.version} ({uploaded.change}{newer})"
    session.remark(f"definition {uploaded.id} ({uploaded.name}) {version}")


def _watch_to_end(
    session: Session, client: "Client", run: Json, gates: GateOptions, *, as_json: bool, extra: Json
) -> None:
    try:
        run = follow_to_end(session, client, run)
    except KeyboardInterrupt:
        session.remark(f"the run continues; watch it again with: {command_name()} watch {run['id']}")
        raise typer.Exit(INTERRUPTED) from None
    results = print_run(session, client, run, as_json=as_json, extra=extra)
    repair = repair_of_run(run, results)
    if not as_json:
        _print_analysis(session, client, run, results)
        if run["report"] and run["status"] == RunStatus.COMPLETED:
            print_report(session, client, run)
        _print_next_commands(session, client, run, repair)

    def further() -> Sequence[str]:
        if run["status"] != RunStatus.COMPLETED:
            return [f"the run is {run['status']}"]
        violations = list[str]()
        if (calibrated := gates.calibrated) is not None:
            calibration = client.get_calibration(run["id"], confidence=calibrated.confidence)
            violations += calibrated.violations(calibration, [model.name for model in results])
        if (baseline := gates.baseline) is not None:
            violations += _worse_targets(session, client, baseline, run, as_json=as_json)
        return violations

    passed = gates.apply(session, results, lambda: render_junit(client, run), repair, further)
    if not passed:
        raise typer.Exit(1)


def _worse_targets(
    session: Session, client: "Client", baseline: Baseline, run: Json, *, as_json: bool
) -> Sequence[str]:
    figures = TargetNames(client).in_figures(compare(session, client, baseline.request(run["id"]))["figures"])
    if not as_json:
        session.out.print()
        print_comparison(session, figures)
    for drop in detectable_drops(figures):
        session.remark(drop)
    return baseline.gate(figures).violations(figures)


def _print_analysis(session: Session, client: "Client", run: Json, results: Sequence[ModelResults]) -> None:
    if (analysis := find_analysis(client, run["id"])) is not None:
        session.out.print()
        print_analysis(session, client, analysis, without=BELOW_RESULTS | cautions_of_legend(results))


def _print_next_commands(session: Session, client: "Client", run: Json, repair: str | None) -> None:
    name, run_id = command_name(), run["id"]
    lines = [
        "",
        f"API    {client.api_url}/v1",
        f"token  {client.source}",
        *([f"next   {repair}"] if repair else []),
        f"{'    ' if repair else 'next'}   {name} show {run_id} --matrix",
        *([f"       {name} retry {run_id}"] if run["progress"]["failed"] else []),
        f"       {name} transcripts {run_id} --model {shlex.quote(run['config']['targets'][0]['id'])}",
        f"       {name} export {run_id} --format csv --output {run_id}.csv",
    ]
    for line in lines:
        session.out.print(line, markup=False, soft_wrap=True)
