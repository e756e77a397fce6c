"""Defines evals, runs and output items as OpenAI's service returns them.

A value that does not exist is null, even where the clients' models require one: programs test `if run.error`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from cupel_core.domain.analysis.column_totals import CostTotal
from cupel_core.domain.analysis.run_results import ColumnResults
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Usage
from cupel_core.domain.conversations.spend import ModelCalls, added_uses
from cupel_core.domain.openai_evals.graders import score_in_range, to_grader
from cupel_core.domain.openai_evals.models import from_target
from cupel_core.domain.openai_evals.parameters import run_sampling_params
from cupel_core.domain.openai_evals.rows import ITEM
from cupel_core.domain.runs.run import Run, RunStatus
from cupel_core.domain.scoring.assertions import COMPARISONS, Assertion, AssertionResult, JudgeReply
from cupel_core.domain.scoring.grader_templates import SAMPLE, recorded_sample
from cupel_core.domain.scoring.scoring import check_names
from cupel_core.interop.openai_evals.evals import OpenAIEval
from cupel_core.interop.openai_evals.graders import GraderRun, judge_input
from cupel_core.interop.openai_evals.output_items import EvalOutputItem
from cupel_core.interop.openai_evals.runs import STATUSES, OpenAIRun
from cupel_core.store.data_files import DataFile, DataUpload

type Document = dict[str, Any]

FILE_PURPOSE = "evals"
_UPLOAD_LIFETIME = timedelta(days=1)
_JUDGED = ("label-model", "score-model")
_RESULT_TYPES = {"embedding-similarity": "text-similarity-grader"}
"""Other results have the type of their assertion with `-grader`."""
_SAMPLE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "model": {"type": "string"},
        "choices": {"type": "array", "items": {"type": "object"}},
        "output_text": {"type": "string"},
        "output_json": {"type": "object"},
        "output_tools": {"type": "array", "items": {"type": "object"}},
    },
}


_ANSWER_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "input": {"type": "array", "items": {"type": "object"}},
        "output": {"type": "array", "items": {"type": "object"}},
        "metadata": {"type": "object"},
    },
}


def eval_document(evaluation: OpenAIEval) -> Document:
    graders = (to_grader(assertion) for assertion in evaluation.content.assertions)
    return {
        "object": "eval",
        "id": evaluation.id,
        "name": evaluation.name,
        "created_at": int(evaluation.record.created_at.timestamp()),
        "data_source_config": _config_document(evaluation.record.data_source_config),
        "testing_criteria": [grader for grader in graders if grader is not None],
        "metadata": dict(evaluation.record.metadata or {}),
    }


def _config_document(config: Mapping[str, Any]) -> Document:
    is_custom = config["type"] == "custom"
    item = config["item_schema"] if is_custom else _ANSWER_SCHEMA
    includes_sample = bool(config.get("include_sample_schema")) or not is_custom
    properties = {ITEM: item, **({SAMPLE: _SAMPLE_SCHEMA} if includes_sample else {})}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": config["type"], "schema": schema, **({} if is_custom else {"metadata": config.get("metadata")})}


def run_document(eval_run: OpenAIRun, page_url: str) -> Document:
    run = eval_run.run
    return {
        "object": "eval.run",
        "id": run.id,
        "eval_id": eval_run.eval_id,
        "name": run.labels.name or "",
        "status": STATUSES[run.status],
        "created_at": int(run.created_at.timestamp()),
        "model": _model(eval_run),
        "data_source": _data_source(eval_run),
        "metadata": {key: str(value) for key, value in run.labels.metadata.items()},
        "report_url": f"{page_url}/runs/{run.id}",
        "result_counts": _result_counts(eval_run),
        "per_testing_criteria_results": list(_criteria_results(eval_run)),
        "per_model_usage": list(_usages(eval_run)),
        "error": _run_error(run),
    }


def _model(eval_run: OpenAIRun) -> str:
    return "" if eval_run.is_recorded else from_target(eval_run.run.plan.targets[0].model)


def _data_source(eval_run: OpenAIRun) -> Document:
    source, run = dict(eval_run.data.source), eval_run.run
    if source["source"]["type"] == "file_content":
        source["source"] = {"type": "file_content", "content": list(eval_run.rows)}
    if eval_run.is_recorded:
        return source
    params = run.parameters_of(run.plan.targets[0])
    sampling = run_sampling_params(params, of_responses=source["type"] == "responses")
    return {**source, "model": _model(eval_run), **({"sampling_params": sampling} if sampling else {})}


def _columns(eval_run: OpenAIRun) -> Sequence[ColumnResults]:
    return eval_run.results.columns if eval_run.results else ()


def _result_counts(eval_run: OpenAIRun) -> Document:
    columns = _columns(eval_run)
    passed = sum(column.estimate.pass_rate.successes for column in columns)
    failed = sum(column.estimate.pass_rate.trials for column in columns) - passed
    errored = sum(column.estimate.errored + column.totals.unscored for column in columns)
    return {"total": eval_run.run.plan.total, "passed": passed, "failed": failed, "errored": errored}


def _criteria_results(eval_run: OpenAIRun) -> Iterator[Document]:
    names = check_names(assertion.metric or assertion.type for assertion in eval_run.assertions)
    for assertion, name in zip(eval_run.assertions, names, strict=True):
        counts = [column.totals.checks[name] for column in _columns(eval_run) if name in column.totals.checks]
        yield {
            "testing_criteria": assertion.metric or assertion.type,
            "passed": sum(count.passed for count in counts),
            "failed": sum(count.failed for count in counts),
        }


def _usages(eval_run: OpenAIRun) -> Iterator[Document]:
    uses: dict[str, ModelCalls] = {}
    for column in _columns(eval_run):
        for kind, cost in column.totals.costs.items():
            if kind != "target":
                uses = dict(added_uses(uses, cost.models))
            elif cost.calls and not eval_run.is_recorded:
                uses = dict(added_uses(uses, {column.column.target.model: _all_calls(cost)}))
    for model, use in uses.items():
        usage = _usage(use.input_tokens, use.output_tokens, 0)
        yield {"model_name": from_target(model), "invocation_count": use.calls, **usage}


def _all_calls(cost: CostTotal) -> ModelCalls:
    """Return all calls. Calls of a target are counted without their model, because all of them have the same."""
    return ModelCalls(cost.calls, cost.input_tokens, cost.output_tokens)


def _usage(prompt: int, completion: int, cached: int) -> Document:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "cached_tokens": cached,
        "total_tokens": prompt + completion,
    }


def _run_error(run: Run) -> Document | None:
    if run.failure is not None:
        return {"code": f"{run.failure.where}_failed", "message": run.failure.why}
    if run.status is RunStatus.PAUSED:
        cause = f": {run.pause_cause.message}" if run.pause_cause else ""
        return {"code": "paused", "message": f"the run is paused ({run.pause_reason}){cause}"}
    return None


def item_document(output_item: EvalOutputItem, eval_id: str) -> Document:
    view = output_item.view
    variables = view.case.variables
    item = variables.get(ITEM)
    return {
        "object": "eval.run.output_item",
        "id": view.id,
        "eval_id": eval_id,
        "run_id": view.run.id,
        "created_at": int((view.completed_at or view.run.created_at).timestamp()),
        "status": output_item.status,
        "datasource_item_id": view.run.plan.probe(view.index).case,
        "datasource_item": item if isinstance(item, dict) else dict(variables),
        "results": list(_results(output_item)),
        "sample": _sample(output_item),
    }


def _results(output_item: EvalOutputItem) -> Iterator[Document]:
    transcript = output_item.view.transcript
    assertions = [each for each in output_item.content.assertions if each.kind not in COMPARISONS]
    scoring = transcript.scoring if transcript else None
    for position, result in enumerate(scoring.results if scoring else ()):
        assertion = assertions[position] if position < len(assertions) else None
        same = assertion if assertion and _is_of(result, assertion) else None
        judged = same is not None and same.kind in _JUDGED
        yield {**_result(result, same), SAMPLE: _judge_sample(output_item, same, result) if same and judged else None}


def _is_of(result: AssertionResult, assertion: Assertion) -> bool:
    """Return whether the result is the assertion's; the verdict on a scenario's criteria may precede these."""
    return (result.type, result.metric) == (assertion.type, assertion.metric)


def _result(result: AssertionResult, assertion: Assertion | None) -> Document:
    score = result.score or 0.0
    document: Document = {
        "name": result.metric or result.type,
        "type": _RESULT_TYPES.get(result.type, f"{result.type}-grader"),
        "passed": bool(result.passed),
        "score": score_in_range(assertion, score) if assertion and result.score is not None else score,
        "reason": result.reason,
    }
    if result.error:
        document["error"] = _grader_error(result)
    return document


def _grader_error(result: AssertionResult) -> Document | None:
    return {"code": "grader_error", "message": result.error} if result.error else None


def _judge_sample(output_item: EvalOutputItem, assertion: Assertion, result: AssertionResult) -> Document:
    params, reply = assertion.value.get("params", {}), result.judge_reply
    asked = judge_input(assertion, output_item.view)
    return {
        "model": from_target(assertion.provider or ""),
        "input": [{"role": str(message.role), "content": message.content} for message in asked],
        "output": [{"role": "assistant", "content": _graded_json(assertion, reply)}] if reply else [],
        "finish_reason": reply.finish_reason if reply else None,
        "usage": _usage_of(reply.usage) if reply else None,
        "error": _grader_error(result),
        "temperature": params.get("temperature", 0.0),
        "top_p": params.get("topP", 1.0),
        "max_completions_tokens": params.get("maxOutputTokens"),
        "reasoning_effort": params.get("reasoningEffort"),
        "seed": params.get("seed"),
    }


def _graded_json(assertion: Assertion, reply: JudgeReply) -> str:
    said = json.loads(reply.text)
    result = said["score" if assertion.kind == "score-model" else "label"]
    steps = [{"description": said["reason"], "conclusion": str(result)}]
    return json.dumps({"steps": steps, "result": result}, ensure_ascii=False)


def _sample(output_item: EvalOutputItem) -> Document:
    view = output_item.view
    target, conversation = view.column.target, view.conversation
    params, recorded = view.run.parameters_of(target), SAMPLE in view.case.variables
    usage = conversation.usage if conversation and not recorded else None
    error = view.error
    return {
        "model": "" if recorded else from_target(target.model),
        "input": [] if recorded else _input(conversation),
        "output": _recorded_output(view.case.variables) if recorded else _output(conversation),
        "finish_reason": conversation.finish_reason if conversation and not recorded else None,
        "usage": _usage_of(usage or Usage()),
        "error": {"code": str(error.code), "message": error.message} if error else None,
        "temperature": params.get("temperature", 1.0),
        "top_p": params.get("topP", 1.0),
        "max_completion_tokens": params.get("maxOutputTokens"),
        "seed": params.get("seed"),
    }


def _usage_of(usage: Usage) -> Document:
    return _usage(usage.input_tokens, usage.output_tokens, usage.cached_input_tokens)


def _input(conversation: ConversationState | None) -> list[Document]:
    messages = conversation.messages if conversation else ()
    asked = messages[:-1] if conversation and conversation.is_answered else messages
    return [{"role": str(message.role), "content": message.text} for message in asked]


def _output(conversation: ConversationState | None) -> list[Document]:
    if conversation is None or not conversation.is_answered:
        return []
    answer = conversation.messages[-1]
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in answer.tool_calls
    ]
    return [{"role": "assistant", "content": answer.content, **({"tool_calls": calls} if calls else {})}]


def _recorded_output(variables: Mapping[str, Any]) -> list[Document]:
    sample = variables.get(SAMPLE)
    text = recorded_sample(sample).get("output_text") if isinstance(sample, Mapping) else None
    return [{"role": "assistant", "content": text}] if isinstance(text, str) else []


def file_document(file: DataFile) -> Document:
    return {
        "object": "file",
        "id": file.id,
        "bytes": file.size,
        "created_at": int(file.created_at.timestamp()),
        "filename": file.name,
        "purpose": FILE_PURPOSE,
        "status": "processed",
    }


def upload_document(upload: DataUpload) -> Document:
    return {
        "object": "upload",
        "id": upload.id,
        "bytes": upload.size,
        "created_at": int(upload.created_at.timestamp()),
        "expires_at": int((upload.created_at + _UPLOAD_LIFETIME).timestamp()),
        "filename": upload.name,
        "purpose": "evals",
        "status": str(upload.status),
    }


def grader_run_document(run: GraderRun) -> Document:
    errors = [result.error for result in run.results.values() if result.error]
    is_formula_wrong = run.reward is None and not errors
    flags = {
        "formula_parse_error": is_formula_wrong,
        "invalid_variable_error": any("unknown variable" in error for error in errors),
        "model_grader_parse_error": any("no usable reply" in error for error in errors),
        "model_grader_refusal_error": False,
        "model_grader_server_error": False,
        "python_grader_runtime_error": False,
        "python_grader_server_error": False,
        "sample_parse_error": False,
        "truncated_observation_error": False,
        "unresponsive_reward_error": False,
    }
    has_other_error = bool(errors) and not any(flags.values())
    return {
        "reward": run.reward or 0.0,
        "sub_rewards": dict(run.rewards),
        "metadata": {
            "name": run.name,
            "type": run.type,
            "execution_time": round(run.seconds, 3),
            "scores": {name: result.score for name, result in run.results.items()},
            "token_usage": run.tokens,
            "sampled_model_name": from_target(run.models[0]) if run.models else None,
            "errors": {
                **flags,
                "other_error": has_other_error,
                "model_grader_server_error_details": "; ".join(errors) or None,
            },
        },
        "model_grader_token_usage_per_model": {from_target(run.models[0]): run.tokens} if run.models else {},
    }
