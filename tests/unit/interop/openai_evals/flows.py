"""Evals and runs as the tests create them."""

from typing import Any

from openai import OpenAI

from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.run import Action, Run
from cupel_core.store import barrier, runs
from cupel_core.store.barrier import Tree
from tests.started_runs import NOW, dispatch_and_probe

SCHEMA = {
    "type": "object",
    "properties": {"question": {"type": "string"}, "answer": {"type": "string"}},
    "required": ["question", "answer"],
}
CONFIG: Any = {"type": "custom", "item_schema": SCHEMA, "include_sample_schema": True}
EXACT: Any = {
    "type": "string_check",
    "name": "exact",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.answer }}",
    "operation": "eq",
}
TEMPLATE: Any = {"type": "template", "template": [{"role": "user", "content": "{{ item.question }}"}]}
ITEMS = [
    {"question": "Paris", "answer": "Paris"},
    {"question": "Rome", "answer": "rome"},
    {"question": "Oslo", "answer": "Oslo"},
]


def completions(items: list[dict[str, Any]] | None = None, **more: Any) -> Any:
    """Asks `sim/echo`, which repeats the question."""
    content = [{"item": item} for item in (ITEMS if items is None else items)]
    source = {"type": "file_content", "content": content}
    return {"type": "completions", "model": "sim/echo", "source": source, "input_messages": TEMPLATE, **more}


def jsonl(*rows: dict[str, Any]) -> Any:
    return {"type": "jsonl", "source": {"type": "file_content", "content": list(rows)}}


def create_eval(openai: OpenAI, *graders: Any, **more: Any) -> str:
    return openai.evals.create(
        **{"data_source_config": CONFIG, "testing_criteria": list(graders) or [EXACT], "name": "Capitals", **more}
    ).id


def stored_run(run_id: str, workspace: str = "acme") -> Run:
    return runs.get(RunRef(workspace, run_id))


def carry_out(run_id: str, workspace: str = "acme") -> None:
    """All probes of the run, and its end, as the functions would."""
    run = stored_run(run_id, workspace)
    dispatch_and_probe(run)
    ref = RunRef(workspace, run_id)
    settled = barrier.get_progress(Tree.for_run(run))
    runs.transition(ref, Action.SUMMARIZE, NOW, settled=settled)
    runs.transition(ref, Action.COMPLETE, NOW, completed_at=NOW)
