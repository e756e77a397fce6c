"""`cupel scale` starts many conversations with one system prompt, without a definition file."""

from typing import Annotated

import typer

from cupel.commands.confirmation import start_confirmed
from cupel.commands.estimate import print_estimate
from cupel.commands.gate_options import GateOptions, with_gates
from cupel.commands.options import AsJson, StartAnyway, Watch
from cupel.commands.request_options import with_settings
from cupel.commands.run import watch_or_print
from cupel.commands.targets import require_targets, warn_about_models
from cupel.errors import UsageError
from cupel.json_types import Json
from cupel.session import Session
from cupel_core.domain.scoring.default_evaluators import EvaluatorName

Without = Annotated[
    list[EvaluatorName] | None, typer.Option("--without", help="Default evaluator to switch off; may be repeated.")
]
EvaluatorUrl = Annotated[str | None, typer.Option(help="External evaluator that also returns results.")]


@with_settings("CreateScaleRun")
@with_gates
def scale(
    ctx: typer.Context,
    without: Without = None,
    evaluator_url: EvaluatorUrl = None,
    yes: StartAnyway = False,
    estimate: Annotated[bool, typer.Option("--estimate", help="Only estimate cost and duration.")] = False,
    watch: Watch = False,
    as_json: AsJson = False,
    *,
    settings: Json,
    gates: GateOptions,
) -> None:
    """Start a scale run: many conversations with one system prompt, checked by default evaluators."""
    session = ctx.ensure_object(Session)
    gates.check_waits_for_end(is_waiting=watch)
    require_targets(settings, "--model")
    if "userMessage" not in settings and "goal" not in settings:
        raise UsageError("--goal: specify --goal, --message or both")
    warn_about_models(session, settings)
    scale_run = {**settings, "evaluators": _evaluators(without, evaluator_url)}
    with session.connect() as client:
        if estimate:
            print_estimate(session, client.estimate_scale_run(scale_run), as_json=as_json)
            return
        started = start_confirmed(session, lambda agreed: client.create_scale_run(scale_run | agreed), yes=yes)
        watch_or_print(session, client, started, gates if watch else None, as_json=as_json)


def _evaluators(without: list[EvaluatorName] | None, url: str | None) -> Json:
    external = {} if url is None else {"external": {"url": url}}
    return {**{str(name): False for name in without or ()}, **external}
