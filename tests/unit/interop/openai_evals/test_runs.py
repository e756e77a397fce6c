"""Runs of evals and their output items, with OpenAI's own client."""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import openai as sdk
import pytest
from openai import OpenAI

from cupel_core.analysis import tabulate
from cupel_core.base.clock import utc_now
from cupel_core.domain.conversations import simulation
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.views import ProbeView
from cupel_core.interop.openai_evals import output_items
from cupel_core.runs import control
from cupel_core.runs import probes as probes_module
from cupel_core.runs.probes import IndexedStatus
from cupel_core.scoring.text_metrics import rouge_l
from cupel_core.store import definitions, runs, scenarios
from cupel_core.store.settings import Settings, settings
from cupel_core.workspace.sweeping.erasure import erase_due
from tests.openai_client import openai_client
from tests.started_runs import NOW, dispatch_and_probe
from tests.stored_text import places_with
from tests.unit.api.client import Client
from tests.unit.interop.openai_evals.flows import (
    EXACT,
    ITEMS,
    TEMPLATE,
    carry_out,
    completions,
    create_eval,
    jsonl,
    stored_run,
)

pytestmark = pytest.mark.usefixtures("finish_starts")


TEMPLATE_CONTENT = "data_source.input_messages.template[0].content"


def template(content: Any) -> Any:
    return {"type": "template", "template": [{"role": "user", "content": content}]}


def start(openai: OpenAI, eval_id: str, data_source: Any = None, **more: Any) -> Any:
    return openai.evals.runs.create(eval_id, data_source=data_source or completions(), **more)


def test_a_started_run_is_returned_as_it_was_sent(openai: OpenAI) -> None:
    eval_id = create_eval(openai)
    sampling = {
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 7,
        "max_completion_tokens": 300,
        "reasoning_effort": "low",
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}},
        "tools": [{"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}],
    }
    source = completions(sampling_params=sampling)
    run = start(openai, eval_id, source, name="first", metadata={"commit": "abc"})
    assert (run.object, run.eval_id, run.name, run.status) == ("eval.run", eval_id, "first", "queued")
    assert (run.model, run.metadata) == ("sim/echo", {"commit": "abc"})
    assert run.report_url == f"https://cupel.example/runs/{run.id}"
    assert (run.result_counts.total, run.result_counts.passed) == (3, 0)
    assert run.data_source.model_dump(exclude_none=True, by_alias=True) == source
    assert openai.evals.runs.retrieve(run.id, eval_id=eval_id).model_dump() == run.model_dump()


def test_sampling_parameters_are_those_of_the_target(openai: OpenAI, client: Client) -> None:
    assert client.put("/v1/providers/openai", {"apiKey": "sk-test"}).status == 200
    source = completions(model="gpt-5-mini", sampling_params={"temperature": 0.5, "max_completion_tokens": 300})
    run = start(openai, create_eval(openai), source)
    (target,) = stored_run(run.id).plan.targets
    assert (target.model, target.params) == ("openai/gpt-5-mini", {"temperature": 0.5, "maxOutputTokens": 300})
    assert run.model == "gpt-5-mini"


def test_a_completed_run_counts_what_passed(openai: OpenAI) -> None:
    folded: Any = {**EXACT, "name": "folded", "operation": "ilike"}
    eval_id = create_eval(openai, EXACT, folded)
    run = start(openai, eval_id)
    carry_out(run.id)
    run = openai.evals.runs.retrieve(run.id, eval_id=eval_id)
    assert run.status == "completed"
    assert run.result_counts.model_dump() == {"total": 3, "passed": 2, "failed": 1, "errored": 0}
    assert [each.model_dump() for each in run.per_testing_criteria_results] == [
        {"testing_criteria": "exact", "passed": 2, "failed": 1},
        {"testing_criteria": "folded", "passed": 3, "failed": 0},
    ]
    (usage,) = run.per_model_usage
    assert (usage.run_model_name, usage.invocation_count) == ("sim/echo", 3)
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens > 0


JUDGED: Any = {
    "type": "score_model",
    "name": "quality",
    "model": "sim/steady",
    "input": [{"role": "user", "content": "Rate {{ sample.output_text }}"}],
}


def test_what_the_judge_of_a_run_used_is_counted(openai: OpenAI, client: Client) -> None:
    eval_id = create_eval(openai, EXACT, JUDGED, {**JUDGED, "name": "tone"})
    run = start(openai, eval_id)
    carry_out(run.id)
    target, judge = openai.evals.runs.retrieve(run.id, eval_id=eval_id).per_model_usage
    spends = [each["judgeSpend"] for each in client.get(f"/v1/runs/{run.id}/transcripts").json()["items"]]
    assert (target.run_model_name, judge.run_model_name) == ("sim/echo", "sim/steady")
    assert judge.invocation_count == sum(spend["calls"] for spend in spends) == 6
    assert judge.prompt_tokens == sum(spend["usage"]["inputTokens"] for spend in spends) > 0
    assert judge.completion_tokens == sum(spend["usage"]["outputTokens"] for spend in spends) > 0


def test_a_model_that_is_its_own_judge_has_one_usage(openai: OpenAI) -> None:
    eval_id = create_eval(openai, JUDGED)
    run = start(openai, eval_id, completions(model="sim/steady"))
    carry_out(run.id)
    (usage,) = openai.evals.runs.retrieve(run.id, eval_id=eval_id).per_model_usage
    assert (usage.run_model_name, usage.invocation_count) == ("sim/steady", 6)


def test_what_each_of_several_judges_used_is_counted(openai: OpenAI, client: Client) -> None:
    graders = [JUDGED, {**JUDGED, "name": "tone"}, {**JUDGED, "name": "length", "model": "sim/bold"}]
    eval_id = create_eval(openai, *graders)
    run = start(openai, eval_id, completions(model="sim/bold"))
    carry_out(run.id)
    usages = {each.run_model_name: each for each in openai.evals.runs.retrieve(run.id, eval_id=eval_id).per_model_usage}
    items = client.get(f"/v1/runs/{run.id}/transcripts").json()["items"]
    judged, asked = [each["judgeSpend"]["usage"] for each in items], [each["usage"] for each in items]
    assert {name: each.invocation_count for name, each in usages.items()} == {"sim/bold": 3 + 3, "sim/steady": 6}
    for name, own in (("prompt_tokens", "inputTokens"), ("completion_tokens", "outputTokens")):
        used = sum(getattr(each, name) for each in usages.values())
        assert used == sum(usage[own] for usage in (*judged, *asked))
    assert all(each.prompt_tokens and each.completion_tokens for each in usages.values())


def test_output_items_have_the_item_the_sample_and_the_results(openai: OpenAI) -> None:
    similar: Any = {
        "type": "text_similarity",
        "name": "near",
        "input": "{{ sample.output_text }}",
        "reference": "{{ item.answer }}",
        "evaluation_metric": "rouge_l",
        "pass_threshold": 0.5,
    }
    eval_id = create_eval(openai, EXACT, similar)
    items = [{"question": "the cat sat", "answer": "the cat ran"}, *ITEMS]
    run = start(openai, eval_id, completions(items, sampling_params={"temperature": 0.5}))
    carry_out(run.id)
    first = openai.evals.runs.output_items.list(run.id, eval_id=eval_id, limit=1).data[0]
    assert (first.object, first.status, first.datasource_item_id) == ("eval.run.output_item", "fail", 0)
    assert first.datasource_item == items[0]
    assert first.sample.input[0].model_dump() == {"role": "user", "content": "the cat sat"}
    assert first.sample.output[0].content == "the cat sat"
    assert (first.sample.model, first.sample.temperature, first.sample.finish_reason) == ("sim/echo", 0.5, "stop")
    exact, near = first.results
    assert (exact.name, exact.passed, exact.score) == ("exact", False, 0.0)
    assert (near.name, near.passed, near.score) == ("near", True, rouge_l("the cat sat", "the cat ran"))
    item = openai.evals.runs.output_items.retrieve(first.id, eval_id=eval_id, run_id=run.id)
    assert item.model_dump() == first.model_dump()


def test_output_items_are_paged_in_both_orders_and_filtered(openai: OpenAI) -> None:
    eval_id = create_eval(openai)
    items = [{"question": f"q{number}", "answer": f"q{number}" if number % 3 else "other"} for number in range(250)]
    run = start(openai, eval_id, completions(items))
    carry_out(run.id)

    def item_ids(**options: Any) -> list[int]:
        found = openai.evals.runs.output_items.list(run.id, eval_id=eval_id, **options)
        return [item.datasource_item_id for item in found]

    assert item_ids(limit=60) == list(range(250))
    assert item_ids(limit=60, order="desc") == list(range(249, -1, -1))
    failed = [number for number in range(250) if number % 3 == 0]
    assert item_ids(limit=7, status="fail") == failed
    assert item_ids(limit=100, status="pass", order="desc") == [n for n in range(249, -1, -1) if n not in failed]


def questions(count: int, wrong: Collection[int]) -> list[dict[str, Any]]:
    return [{"question": f"q{each}", "answer": "x" if each in wrong else f"q{each}"} for each in range(count)]


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("is_over", [True, False])
def test_rare_results_are_found_without_reading_the_other_transcripts(
    openai: OpenAI, monkeypatch: pytest.MonkeyPatch, order: Any, is_over: bool
) -> None:
    monkeypatch.setattr(tabulate, "LEAVES_PER_FILE", 1)
    eval_id, wrong = create_eval(openai), [7, 333, 410]
    run = start(openai, eval_id, completions(questions(420, wrong)))
    if is_over:
        carry_out(run.id)
    else:
        dispatch_and_probe(stored_run(run.id))
    read: list[int] = []

    def build_views(run: Run, probes: Sequence[IndexedStatus], now: datetime) -> Iterator[ProbeView]:
        read.extend(each.probe_index for each in probes)
        return probes_module.build_views(run, probes, now)

    monkeypatch.setattr(output_items, "build_views", build_views)
    items = openai.evals.runs.output_items.list(run.id, eval_id=eval_id, status="fail", limit=1, order=order)
    found = [item.datasource_item_id for item in items]
    assert found == (wrong if order == "asc" else wrong[::-1])
    assert set(read) == set(wrong)


def test_results_of_repeats_are_told_apart(openai: OpenAI, client: Client) -> None:
    eval_id = create_eval(openai)
    start(openai, eval_id)
    body = {"definitionId": eval_id, "models": ["sim/echo"], "repeats": 4}
    run_id = client.post("/v1/runs", body).json()["run"]["id"]
    carry_out(run_id)
    assert client.patch(f"/v1/probes/{run_id}-2", {"result": {"success": False}}).status == 200
    found = [
        item.id.rpartition("-")[2]
        for item in openai.evals.runs.output_items.list(run_id, eval_id=eval_id, status="fail", limit=2)
    ]
    assert found == ["2", "4", "5", "6", "7"]


def test_a_page_that_had_no_time_for_a_result_is_no_empty_one(openai: OpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client would take an empty page for the last one."""
    monkeypatch.setattr(tabulate, "LEAVES_PER_FILE", 1)
    eval_id = create_eval(openai)
    run = start(openai, eval_id, completions(questions(250, [3, 240])))
    carry_out(run.id)
    count = SimpleNamespace(left=3)

    def has_time() -> bool:
        count.left -= 1
        return count.left >= 0

    monkeypatch.setattr("cupel_core.interop.openai_evals.eval_operations.counting_time", lambda: has_time)
    listing = openai.evals.runs.output_items.list
    page = listing(run.id, eval_id=eval_id, status="fail")
    assert ([item.datasource_item_id for item in page.data], page.has_more) == ([3], True)
    with pytest.raises(sdk.InternalServerError) as unavailable:
        listing(run.id, eval_id=eval_id, status="fail", after=page.data[-1].id)
    assert (unavailable.value.status_code, unavailable.value.code) == (503, "service_unavailable")
    count.left = 100
    assert [item.datasource_item_id for item in page] == [3, 240]


def test_a_run_of_jsonl_grades_the_samples_of_its_data(openai: OpenAI) -> None:
    eval_id = create_eval(openai)
    rows = [
        {"item": ITEMS[0], "sample": {"output_text": "Paris"}},
        {"item": ITEMS[1], "sample": {"output_text": "Rome"}},
    ]
    run = start(openai, eval_id, jsonl(*rows))
    carry_out(run.id)
    run = openai.evals.runs.retrieve(run.id, eval_id=eval_id)
    assert run.data_source.model_dump(exclude_none=True) == jsonl(*rows)
    assert (run.model, run.per_model_usage) == ("", [])
    assert (run.result_counts.passed, run.result_counts.failed) == (1, 1)
    first = openai.evals.runs.output_items.list(run.id, eval_id=eval_id).data[0]
    assert (first.sample.model, first.sample.input) == ("", [])
    assert first.sample.output[0].content == "Paris"


def test_a_run_of_jsonl_may_compare_fields_of_the_items(openai: OpenAI) -> None:
    eval_id = create_eval(openai, {**EXACT, "input": "{{item.question}}", "operation": "ilike"})
    run = start(openai, eval_id, jsonl(*({"item": item} for item in ITEMS)))
    carry_out(run.id)
    assert openai.evals.runs.retrieve(run.id, eval_id=eval_id).result_counts.passed == 3


def test_a_run_of_jsonl_without_samples_is_refused_if_graders_need_them(openai: OpenAI) -> None:
    with pytest.raises(sdk.BadRequestError, match="a run of type jsonl asks no model") as refused:
        start(openai, create_eval(openai), jsonl({"item": ITEMS[0]}))
    assert refused.value.param == "data_source.source.content[0].sample"


def test_messages_may_be_a_reference_to_the_item(openai: OpenAI) -> None:
    schema = {"type": "object", "properties": {"chat": {"type": "array"}}}
    config: Any = {"type": "custom", "item_schema": schema, "include_sample_schema": True}
    grader: Any = {**EXACT, "operation": "like", "reference": "second"}
    eval_id = create_eval(openai, grader, data_source_config=config)
    chat = [
        {"role": "developer", "content": "Be short."},
        {"role": "user", "content": [{"type": "input_text", "text": "first"}]},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": "second"},
    ]
    reference = {"type": "item_reference", "item_reference": "item.chat"}
    run = start(openai, eval_id, completions([{"chat": chat}], input_messages=reference))
    carry_out(run.id)
    item = openai.evals.runs.output_items.list(run.id, eval_id=eval_id).data[0]
    assert [(each.role, each.content) for each in item.sample.input] == [
        ("system", "Be short."),
        ("user", "first"),
        ("assistant", "ok"),
        ("user", "second"),
    ]
    assert item.status == "pass"


def test_a_run_of_responses_has_its_own_parameters(openai: OpenAI) -> None:
    eval_id = create_eval(openai)
    sampling = {
        "temperature": 0.1,
        "text": {"format": {"type": "json_schema", "name": "a", "schema": {"type": "object"}}},
        "tools": [{"type": "function", "name": "find", "parameters": {"type": "object"}, "strict": True}],
    }
    source = {**completions(), "type": "responses", "sampling_params": sampling}
    run = start(openai, eval_id, source)
    assert run.data_source.model_dump(exclude_none=True, by_alias=True) == source
    (target,) = stored_run(run.id).plan.targets
    assert target.params["responseFormat"]["type"] == "json_schema"


def test_runs_of_equal_data_share_the_scenarios(openai: OpenAI) -> None:
    eval_id = create_eval(openai)
    first, second = start(openai, eval_id), start(openai, eval_id, completions(model="sim/steady"))
    other = start(openai, eval_id, completions(ITEMS[:1]))
    versions = [stored_run(run.id).definition_version for run in (first, second, other)]
    assert versions == [1, 1, 2]
    assert definitions.get("acme", eval_id).version == 2


def test_a_run_is_one_of_cupel_s(openai: OpenAI, client: Client) -> None:
    eval_id = create_eval(openai)
    run = start(openai, eval_id, name="first", metadata={"commit": "abc"})
    (listed,) = client.get("/v1/runs", query={"definitionId": eval_id}).json()["items"]
    assert (listed["id"], listed["name"], listed["metadata"]) == (run.id, "first", {"commit": "abc"})


def test_a_run_started_in_cupel_is_one_of_the_eval_s(openai: OpenAI, client: Client) -> None:
    eval_id = create_eval(openai)
    start(openai, eval_id)
    body = {"definitionId": eval_id, "models": ["sim/steady"]}
    started = client.post("/v1/runs", body).json()["run"]["id"]
    assert next(run.id for run in openai.evals.runs.list(eval_id, order="desc")) == started


def test_runs_are_listed_in_pages_and_by_status(openai: OpenAI) -> None:
    eval_id = create_eval(openai)
    ids = [start(openai, eval_id).id for _ in range(3)]
    openai.evals.runs.cancel(ids[1], eval_id=eval_id)
    assert [run.id for run in openai.evals.runs.list(eval_id, limit=2)] == ids
    assert [run.id for run in openai.evals.runs.list(eval_id, limit=2, order="desc")] == ids[::-1]
    assert [run.id for run in openai.evals.runs.list(eval_id, status="canceled")] == [ids[1]]
    assert [run.id for run in openai.evals.runs.list(eval_id, status="queued")] == [ids[0], ids[2]]
    listed: Any = openai.evals.runs.list(eval_id).data[0].data_source
    assert listed.source.content == []


def test_a_page_of_runs_reads_no_other_evals_runs(openai: OpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    eval_id, other = create_eval(openai), create_eval(openai)
    ids = [start(openai, each).id for _ in range(3) for each in (eval_id, other)][::2]
    openai.evals.runs.delete(ids[0], eval_id=eval_id)
    monkeypatch.setattr(runs, "list_runs", lambda *_, **__: pytest.fail("runs of the workspace were read"))
    assert [run.id for run in openai.evals.runs.list(eval_id, limit=1)] == ids[1:]
    assert [run.id for run in openai.evals.runs.list(eval_id, limit=1, order="desc")] == ids[:0:-1]
    assert openai.evals.runs.list(eval_id, after=ids[2]).data == []


def test_a_cancelled_run_is_cancelled_and_a_deleted_one_gone(openai: OpenAI, client: Client) -> None:
    eval_id = create_eval(openai)
    run = start(openai, eval_id)
    assert openai.evals.runs.cancel(run.id, eval_id=eval_id).status == "canceled"
    assert client.get(f"/v1/runs/{run.id}").json()["status"] == "CANCELLED"
    deleted = openai.evals.runs.delete(run.id, eval_id=eval_id)
    assert (deleted.deleted, deleted.run_id) == (True, run.id)
    with pytest.raises(sdk.NotFoundError):
        openai.evals.runs.retrieve(run.id, eval_id=eval_id)
    assert list(openai.evals.runs.list(eval_id)) == []


def test_a_completed_run_cannot_be_cancelled(openai: OpenAI) -> None:
    eval_id = create_eval(openai)
    run = start(openai, eval_id)
    carry_out(run.id)
    with pytest.raises(sdk.ConflictError):
        openai.evals.runs.cancel(run.id, eval_id=eval_id)


def test_a_paused_run_is_in_progress_and_says_why(openai: OpenAI) -> None:
    eval_id = create_eval(openai)
    run = start(openai, eval_id)
    control.pause("acme", run.id, NOW)
    paused = openai.evals.runs.retrieve(run.id, eval_id=eval_id)
    assert (paused.status, paused.error.code) == ("in_progress", "paused")


def test_errored_probes_and_graders_that_cannot_be_computed_are_errors(
    openai: OpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulation, "should_fail", lambda _, request: request.messages[0].content in ("q1", "q3"))
    items = [{"question": f"q{number}", "answer": "x"} for number in range(5)]
    eval_id = create_eval(openai)
    run = start(openai, eval_id, completions(items, model="sim/flaky"))
    carry_out(run.id)
    counts = openai.evals.runs.retrieve(run.id, eval_id=eval_id).result_counts
    assert (counts.errored, counts.failed) == (2, 3)
    found = list(openai.evals.runs.output_items.list(run.id, eval_id=eval_id, limit=100))
    errored = [item for item in found if item.status == "error"]
    assert [item.datasource_item["question"] for item in errored] == ["q1", "q3"]
    assert errored[0].sample.error.code == "provider_error"
    assert errored[0].results == []


def test_a_run_is_started_once_for_an_idempotency_key(openai: OpenAI) -> None:
    eval_id, headers = create_eval(openai), {"Idempotency-Key": "key-1"}
    first = start(openai, eval_id, extra_headers=headers)
    again = start(openai, eval_id, extra_headers=headers)
    assert first.id == again.id
    with pytest.raises(sdk.BadRequestError) as refused:
        start(openai, eval_id, completions(ITEMS[:1]), extra_headers=headers)
    assert refused.value.param == "Idempotency-Key"


@pytest.mark.parametrize(
    ("data_source", "param"),
    [
        (completions([]), "data_source.source.content"),
        (completions([{"question": 5, "answer": "x"}]), "data_source.source.content[0].item"),
        (completions([{"question": " ", "answer": "x"}]), "data_source.source.content[0].item"),
        (completions(source={"type": "file_content", "content": [{"item": []}]}), "data_source.source.content[0].item"),
        (completions(source={"type": "file_id", "id": None}), "data_source.source.id"),
        (completions(source=None), "data_source.source"),
        (completions(model=None), "data_source.model"),
        (completions(model="nobody/x"), "data_source.model"),
        (completions(model="sim/unknown"), "data_source.model"),
        (completions(sampling_params={"temperature": 9}), "data_source.sampling_params.temperature"),
        (completions(sampling_params={"temperature": True}), "data_source.sampling_params.temperature"),
        (
            completions(sampling_params={"tools": [{"type": "function", "function": {"name": "a b"}}]}),
            "data_source.sampling_params.tools[0].function.name",
        ),
        (completions(sampling_params={"tools": [{"type": "web_search"}]}), "data_source.sampling_params.tools[0].type"),
        (
            completions(sampling_params={"response_format": {"type": "json_schema"}}),
            "data_source.sampling_params.response_format.json_schema",
        ),
        (
            {**completions(sampling_params={"text": {"format": {"type": "json_schema"}}}), "type": "responses"},
            "data_source.sampling_params.text.format.name",
        ),
        (
            {**completions(sampling_params={"tools": [{"type": "mcp"}]}), "type": "responses"},
            "data_source.sampling_params.tools[0].type",
        ),
        (completions(input_messages=template("{{ item.question.x }}")), "data_source.source.content[0].item"),
        (completions(input_messages=template("{{ sample.output_text }}")), TEMPLATE_CONTENT),
        (completions(input_messages=template({"type": "input_image"})), TEMPLATE_CONTENT),
        (completions(input_messages={"type": "template"}), "data_source.input_messages.template"),
        (
            completions(input_messages={"type": "item_reference", "item_reference": "item.question"}),
            "data_source.source.content[0].item",
        ),
        (
            completions(input_messages={"type": "item_reference", "item_reference": "question"}),
            "data_source.input_messages.item_reference",
        ),
        ({"type": "completions"}, "data_source.source"),
        (completions(input_messages=None), "data_source.input_messages"),
        ({"type": "other"}, "data_source"),
        ("completions", "data_source"),
    ],
)
def test_bad_data_is_refused_by_its_parameter(openai: OpenAI, data_source: Any, param: str) -> None:
    eval_id = create_eval(openai)
    with pytest.raises(sdk.BadRequestError) as refused:
        start(openai, eval_id, data_source)
    assert refused.value.param == param
    assert list(openai.evals.runs.list(eval_id)) == []


def test_another_workspace_s_runs_are_unknown(openai: OpenAI, client: Client) -> None:
    eval_id = create_eval(openai)
    run = start(openai, eval_id)
    carry_out(run.id)
    stranger = openai_client(client, token=client.issue("other"))
    own = create_eval(stranger)
    for asked in (eval_id, own):
        for request in (
            lambda asked=asked: stranger.evals.runs.retrieve(run.id, eval_id=asked),
            lambda asked=asked: stranger.evals.runs.cancel(run.id, eval_id=asked),
            lambda asked=asked: stranger.evals.runs.delete(run.id, eval_id=asked),
            lambda asked=asked: stranger.evals.runs.output_items.list(run.id, eval_id=asked),
            lambda asked=asked: stranger.evals.runs.output_items.retrieve(f"{run.id}-0", eval_id=asked, run_id=run.id),
        ):
            with pytest.raises(sdk.NotFoundError):
                request()


def test_a_run_belongs_to_its_eval(openai: OpenAI) -> None:
    eval_id, other = create_eval(openai), create_eval(openai)
    run = start(openai, eval_id)
    with pytest.raises(sdk.NotFoundError):
        openai.evals.runs.retrieve(run.id, eval_id=other)
    with pytest.raises(sdk.NotFoundError):
        openai.evals.runs.output_items.retrieve(f"{run.id}-0", eval_id=eval_id, run_id=run.id)  # not run yet


def test_nothing_of_a_deleted_eval_is_stored(openai: OpenAI, cloud: Settings) -> None:
    marker = "zanzibar"
    item = {"question": marker, "answer": f"the {marker}"}
    template = {**TEMPLATE, "template": [{"role": "user", "content": f"{marker}? {{{{ item.question }}}}"}]}
    eval_id = create_eval(openai, {**EXACT, "reference": marker}, name=marker, metadata={"place": marker})
    run = start(openai, eval_id, completions([item], input_messages=template), name=marker, metadata={"x": marker})
    carry_out(run.id)
    start(openai, eval_id, jsonl({"item": item, "sample": {"output_text": marker}}))
    assert len(places_with(marker, cloud)) > 5
    openai.evals.delete(eval_id)
    erase_due(utc_now() + timedelta(minutes=30), lambda: 900.0)
    assert places_with(marker, cloud) == []


def test_messages_that_repeat_their_items_too_often_are_refused(
    openai: OpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cupel_core.interop.openai_evals.run_requests.MAX_RENDERED_LENGTH", 1_000)
    items, eval_id = [{"question": "x" * 100, "answer": "x"}] * 10, create_eval(openai)
    start(openai, eval_id, completions(items))
    with pytest.raises(sdk.BadRequestError, match="more than 1,000 characters") as refused:
        start(openai, eval_id, completions(items, input_messages=template("{{ item.question }}" * 2)))
    assert refused.value.param == "data_source.input_messages"


def test_a_run_whose_judge_cannot_be_called_is_refused(openai: OpenAI, client: Client) -> None:
    eval_id = create_eval(openai, {**JUDGED, "model": "gpt-5-mini"})
    with pytest.raises(
        sdk.BadRequestError, match="has graders of gpt-5-mini: provider openai has no API key"
    ) as refused:
        start(openai, eval_id)
    assert refused.value.param == "eval_id"
    client.put("/v1/providers/openai", {"apiKey": "sk-test"})
    assert start(openai, eval_id).status == "queued"


@pytest.mark.parametrize("has_run", [True, False])
def test_a_refused_run_leaves_no_version(openai: OpenAI, client: Client, has_run: bool) -> None:
    eval_id = create_eval(openai)
    if has_run:
        start(openai, eval_id)
    before = client.get(f"/v1/definitions/{eval_id}").json()
    for model in ("openai/gpt-5-mini", "sim/unknown"):
        with pytest.raises(sdk.BadRequestError) as refused:
            start(openai, eval_id, completions(ITEMS[:1], model=model))
        assert refused.value.param == "data_source.model"
    client.put("/v1/settings", {"openRuns": 1} if has_run else {"openRunsPerOwner": 1})
    if has_run:
        with pytest.raises(sdk.RateLimitError):
            start(openai.with_options(max_retries=0), eval_id, completions(ITEMS[:1]))
    assert client.get(f"/v1/definitions/{eval_id}").json() == before


def test_a_run_is_started_although_the_eval_is_changed_meanwhile(
    openai: OpenAI, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    eval_id = create_eval(openai)
    start(openai, eval_id)
    write_pages = scenarios.write_pages
    changes = iter([{"name": "Towns"}])

    def changed_meanwhile(*arguments: Any, **options: Any) -> Any:
        for change in changes:
            client.patch(f"/v1/definitions/{eval_id}", {**change, "content": {"system": "Be brief."}})
        return write_pages(*arguments, **options)

    monkeypatch.setattr(scenarios, "write_pages", changed_meanwhile)
    run = stored_run(start(openai, eval_id, completions(ITEMS[:1])).id)
    assert (run.definition_version, run.scenario_count) == (3, 1)


def test_a_cosine_needs_an_embedding_model(openai: OpenAI) -> None:
    similar: Any = {**EXACT, "type": "text_similarity", "evaluation_metric": "cosine", "pass_threshold": 0.5}
    del similar["operation"]
    with pytest.raises(sdk.BadRequestError, match="set embeddingModel in the workspace's settings") as refused:
        start(openai, create_eval(openai, similar))
    assert refused.value.param == "eval_id"


def test_a_cosine_is_computed_by_the_workspace_s_embedding_model(openai: OpenAI, client: Client) -> None:
    client.put("/v1/settings", {"embeddingModel": "sim/embed"})
    similar: Any = {**EXACT, "type": "text_similarity", "evaluation_metric": "cosine", "pass_threshold": 0.9}
    del similar["operation"]
    eval_id = create_eval(openai, similar, {**JUDGED, "model": "sim/bold"})
    run = start(openai, eval_id, completions(ITEMS[:1]))
    carry_out(run.id)
    run = openai.evals.runs.retrieve(run.id, eval_id=eval_id)
    usages = {each.run_model_name: each.invocation_count for each in run.per_model_usage}
    assert usages == {"sim/echo": 1, "sim/embed": 1, "sim/bold": 1}
    (item,) = openai.evals.runs.output_items.list(run.id, eval_id=eval_id)
    assert (item.results[0].name, item.results[0].score) == ("exact", pytest.approx(1.0))


def test_results_are_those_of_the_graders_that_the_run_had(openai: OpenAI, client: Client) -> None:
    eval_id = create_eval(openai)
    run = start(openai, eval_id)
    carry_out(run.id)
    value = {"operation": "ilike", "input": "{{sample.output_text}}", "reference": "{{item.answer}}"}
    assertions = [{"type": "string-check", "metric": "contained", "value": value}]
    client.patch(f"/v1/definitions/{eval_id}", {"content": {"assertions": assertions}})
    retrieved, (listed,) = openai.evals.runs.retrieve(run.id, eval_id=eval_id), openai.evals.runs.list(eval_id)
    for found in (retrieved, listed):
        (results,) = found.per_testing_criteria_results
        assert (results.testing_criteria, results.passed, results.failed) == ("exact", 2, 1)


@pytest.mark.parametrize("name", ["max_completion_tokens", "max_completions_tokens"])
def test_the_limit_of_tokens_has_either_of_openai_s_names(openai: OpenAI, name: str) -> None:
    eval_id = create_eval(openai)
    run = start(openai, eval_id, completions(sampling_params={name: 300}))
    assert run.data_source.sampling_params.max_completion_tokens == 300


def test_a_run_of_cupel_is_exported_and_graded_by_an_eval(openai: OpenAI) -> None:
    """In the format that `cupel export --format openai-evals` and OpenAI's dashboard write."""
    rows = [{"item": item, "sample": {"outputs": [{"role": "assistant", "content": "Paris"}]}} for item in ITEMS]
    eval_id = create_eval(openai)
    run = start(openai, eval_id, jsonl(*rows))
    carry_out(run.id)
    run = openai.evals.runs.retrieve(run.id, eval_id=eval_id)
    assert (run.result_counts.passed, run.result_counts.failed) == (1, 2)
    assert run.data_source.model_dump(exclude_none=True) == jsonl(*rows)


def report_url(client: Client, eval_id: str, run_id: str, headers: dict[str, str]) -> str:
    """As API Gateway sends the request to the function."""
    answer = client.request("GET", f"/openai/v1/evals/{eval_id}/runs/{run_id}", headers=headers)
    return str(answer.json()["report_url"])


def test_the_report_s_address_is_that_of_the_request(
    openai: OpenAI, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    eval_id = create_eval(openai)
    run_id = start(openai, eval_id).id
    api_host, edge_host = "abc123.execute-api.eu-central-1.amazonaws.com", "d111.cloudfront.net"
    own_domain = {"Host": "evals.example.com", "X-Forwarded-Proto": "https"}
    assert report_url(client, eval_id, run_id, own_domain) == f"https://evals.example.com/runs/{run_id}"
    through_edge = {"Host": api_host, "X-Forwarded-Proto": "https", "X-Cupel-Host": edge_host, "X-Cupel-Edge": "secret"}
    assert report_url(client, eval_id, run_id, through_edge) == f"https://{api_host}/runs/{run_id}"
    monkeypatch.setenv("EDGE_SECRET_SHA256", hashlib.sha256(b"secret").hexdigest())
    settings.cache_clear()
    assert report_url(client, eval_id, run_id, through_edge) == f"https://{edge_host}/runs/{run_id}"
