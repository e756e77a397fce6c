"""`cupel scale`: many conversations with one system prompt, without a definition file."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from cupel.commands.confirmation import start_confirmed
from cupel.commands.estimate import print_estimate
from cupel.commands.gate_options import GateOptions, with_gates
from cupel.commands.options import (
    AllowUnpriced,
    AsJson,
    Budget,
    JudgeModel,
    MaxAttempts,
    MaxTurns,
    Metadata,
    PersonaModel,
    RetryDelay,
    RunName,
    RunPriority,
    Stagger,
    StartAnyway,
    SummarizerModel,
    Tags,
    TargetsFile,
    Temperature,
    Watch,
    budget_fields,
    label_fields,
    model_option,
)
from cupel.commands.run import Experiment, watch_or_print
from cupel.commands.targets import chosen_targets, model_names, warn_about_unlisted_models
from cupel.errors import UsageError
from cupel.json_types import Json, without_none
from cupel.session import Session
from cupel_core.domain.scoring.default_evaluators import EvaluatorName

SystemFile = Annotated[Path | None, typer.Option("--system-file", help="File with the system prompt.")]
Message = Annotated[
    str | None, typer.Option("--message", help="The user's first message; default: the simulated user begins.")
]
Goal = Annotated[
    str | None, typer.Option("--goal", help="When a conversation succeeds, and what the simulated user wants.")
]
Count = Annotated[int, typer.Option("--count", "-n", min=1, max=1_000, help="Conversations of each target.")]
Personas = Annotated[
    list[str] | None,
    typer.Option("--persona", metavar="PERSONA", help="Simulated user, by its id; several share the conversations."),
]
Without = Annotated[
    list[EvaluatorName] | None, typer.Option("--without", help="Default evaluator to switch off; may be repeated.")
]
WritesReport = Annotated[
    bool, typer.Option("--report/--no-report", help="Whether a report is made when the run completes.")
]
TriesRevisedPrompt = Annotated[
    bool,
    typer.Option("--trial", help="Try the report's revised prompt, for at most the run's cost and two further calls."),
]
AnswerFormat = Annotated[
    str | None,
    typer.Option("--format", metavar="JSON", help='What the last answer must be like, such as {"maxWords": 80}.'),
]


@with_gates
def scale(
    ctx: typer.Context,
    models: Annotated[
        list[str] | None,
        model_option("--model", help_text="Targets: provider/name or connector/…; comma-separated or repeated."),
    ] = None,
    targets: TargetsFile = None,
    system_file: SystemFile = None,
    message: Message = None,
    goal: Goal = None,
    count: Count = 10,
    persona: Personas = None,
    max_turns: MaxTurns = None,
    temperature: Temperature = None,
    concurrency: Annotated[
        int | None, typer.Option(min=1, max=1_000, help="Conversations at the same time; default: 3.")
    ] = None,
    stagger: Stagger = None,
    max_attempts: MaxAttempts = None,
    retry_delay_seconds: RetryDelay = None,
    max_output_tokens: Annotated[int | None, typer.Option(min=1, help="Of one answer of the target.")] = None,
    judge_model: JudgeModel = None,
    persona_model: PersonaModel = None,
    summarizer_model: SummarizerModel = None,
    without: Without = None,
    answer_format: AnswerFormat = None,
    evaluator_url: Annotated[str | None, typer.Option(help="External evaluator that also returns results.")] = None,
    report: WritesReport = True,
    trial: TriesRevisedPrompt = False,
    priority: RunPriority = None,
    experiment: Experiment = None,
    budget: Budget = None,
    allow_unpriced: AllowUnpriced = False,
    yes: StartAnyway = False,
    name: RunName = None,
    tag: Tags = None,
    metadata: Metadata = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Only estimate cost and duration.")] = False,
    watch: Watch = False,
    as_json: AsJson = False,
    *,
    gates: GateOptions,
) -> None:
    """Start a scale run: many conversations with one system prompt, checked by default evaluators."""
    session = ctx.ensure_object(Session)
    gates.check_waits_for_end(is_waiting=watch)
    chosen = chosen_targets(models, targets, "--model")
    if message is None and goal is None:
        raise UsageError("--goal: specify --goal, --message or both")
    warn_about_unlisted_models(session, [*model_names(chosen), judge_model, persona_model, summarizer_model])
    scale_run: Json = {
        **chosen,
        "count": count,
        "evaluators": _evaluators(without, evaluator_url),
        "report": report,
        **({"trial": True} if trial else {}),
        **without_none(
            systemPrompt=_system(system_file),
            userMessage=message,
            goal=goal,
            personaIds=persona,
            maxTurns=max_turns,
            temperature=temperature,
            maxConcurrency=concurrency,
            staggerMs=stagger,
            maxAttempts=max_attempts,
            retryDelaySeconds=retry_delay_seconds,
            maxOutputTokens=max_output_tokens,
            judgeModel=judge_model,
            personaModel=persona_model,
            summarizerModel=summarizer_model,
            format=_json_option("--format", answer_format),
            priority=priority,
            experimentId=experiment,
        ),
        **budget_fields(budget, allow_unpriced=allow_unpriced),
        **label_fields(name, tag, metadata),
    }
    with session.connect() as client:
        if estimate:
            print_estimate(session, client.estimate_scale_run(scale_run), as_json=as_json)
            return
        started = start_confirmed(session, lambda agreed: client.create_scale_run(scale_run | agreed), yes=yes)
        watch_or_print(session, client, started, gates if watch else None, as_json=as_json)


def _system(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--system-file: {file}: cannot be read: {error}") from None


def _evaluators(without: list[EvaluatorName] | None, url: str | None) -> Json:
    external = {} if url is None else {"external": {"url": url}}
    return {**{str(name): False for name in without or ()}, **external}


def _json_option(option: str, text: str | None) -> Any:
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(f"{option}: is not JSON: {error}") from None
