from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Unpack

from cupel.in_process.analysis import narrator_of
from cupel.in_process.answer_cache import open_cache
from cupel.in_process.budget import budget_of, check_prices
from cupel.in_process.definition import DefinitionSource
from cupel.in_process.evaluation import Evaluation
from cupel.in_process.event_loops import run_in_new_loop, shared_connections
from cupel.in_process.options import EvaluationOptions, cache_path, cache_ttl_seconds, resume_path, sample_percentage_of
from cupel.in_process.plan import EvaluationPlan, plan_evaluation
from cupel.in_process.progress import EvaluationProgress, progress_console, shown_progress
from cupel.in_process.runner import EvaluationRunner
from cupel.in_process.saved_outcomes import OutcomeFile
from cupel.in_process.targets import Targets
from cupel_core.base.clock import utc_now
from cupel_core.domain.runs.labels import RunLabels

if TYPE_CHECKING:
    from cupel.session import PlainTextConsole


def evaluate(definition: DefinitionSource, targets: Targets, **options: Unpack[EvaluationOptions]) -> Evaluation:
    """Run all probes of a definition against targets, and return their results.

    `definition` is the path of a definition file, or a mapping with the fields of one. `targets` is one target or
    several: a model (`openai/gpt-6.1-terra`), a connector of the definition (`connector/<name>`), a mapping with the
    fields of a connector or of a target (`{"model": …, "label": …, "params": {…}}`), or a Python function. The options
    are those of `EvaluationOptions`.

    Errored probes are part of the results and do not stop the others. A judge of whose first replies none is usable
    does: the probes that are left are errored and cost nothing, and the evaluation is FAILED. Raises UsageError, before
    any call, for invalid arguments. An exception of a callback is raised too and ends the evaluation, like Ctrl-C: no
    further call is made, and calls in flight are abandoned. With `resume`, what was finished is in its file, and the
    same call continues.
    """
    return run_in_new_loop(lambda: evaluate_async(definition, targets, **options), "await evaluate_async(…)")


async def evaluate_async(
    definition: DefinitionSource, targets: Targets, **options: Unpack[EvaluationOptions]
) -> Evaluation:
    """Run `evaluate` within a running event loop."""
    plan = plan_evaluation(definition, targets, options)
    check_prices(plan)
    path = resume_path(plan.options)
    return await run_plan(plan, plan.open_file(path) if path else None, progress_console(plan.options))


async def run_plan(plan: EvaluationPlan, file: OutcomeFile | None, console: "PlainTextConsole | None") -> Evaluation:
    progress = EvaluationProgress(plan, utc_now())
    executor = ThreadPoolExecutor(plan.max_concurrency, thread_name_prefix="cupel-agent")
    try:
        async with shared_connections(), shown_progress(progress, console):
            with open_cache(cache_path(plan.options), cache_ttl_seconds(plan.options)) as cache:
                async with budget_of(plan) as budget:
                    runner = EvaluationRunner(plan, progress, executor, file, cache, budget)
                    results = await runner.run()
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        if file is not None:
            file.close()
    return Evaluation(
        id=plan.id,
        name=plan.definition.name,
        columns=plan.probe_plan.columns,
        results=results,
        seed=plan.seed,
        sample_percentage=sample_percentage_of(plan.options),
        sample=plan.sample,
        content=plan.definition.content,
        params=plan.params,
        settings=plan.settings,
        labels=plan.settings.labels.apply_to(RunLabels()),
        narrator=narrator_of(plan, budget),
        why_stopped=runner.why_stopped,
    )
