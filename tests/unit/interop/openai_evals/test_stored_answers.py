"""Answers of the workspace's runs as data of evals: OpenAI's stored completions and logs."""

from datetime import timedelta
from typing import Any

import openai as sdk
import pytest
from openai import OpenAI

from cupel_core.base.clock import utc_now
from cupel_core.interop.openai_evals import runs, stored_answers
from cupel_core.runs import erasure, start
from cupel_core.store import definition_runs, openai_evals
from cupel_core.store.settings import Settings
from cupel_core.workspace.sweeping.erasure import erase_due
from tests.openai_client import openai_client
from tests.stored_text import places_with
from tests.unit.api.client import Client
from tests.unit.interop.openai_evals.flows import EXACT, ITEMS, carry_out, completions, create_eval, stored_run

pytestmark = pytest.mark.usefixtures("finish_starts")

STORED: Any = {"type": "stored_completions", "metadata": {"usecase": "towns"}}
LOGS: Any = {"type": "logs", "metadata": {"usecase": "towns"}}
REPEATED: Any = {**EXACT, "name": "repeated", "operation": "like", "reference": "{{ item.output[0].content }}"}


def answered(openai: OpenAI, workspace: str = "acme", items: Any = ITEMS, **metadata: str) -> str:
    """A run whose answers are stored: those of `sim/echo`, which repeats the question."""
    eval_id = create_eval(openai, name="Source")
    metadata = {"usecase": "towns", **metadata}
    run = openai.evals.runs.create(eval_id, data_source=completions(items), metadata=metadata)
    carry_out(run.id, workspace)
    return run.id


def stored(**more: Any) -> Any:
    return {"type": "completions", "source": {"type": "stored_completions", **more}}


def graded(openai: OpenAI, eval_id: str, data_source: Any = None) -> Any:
    run = openai.evals.runs.create(eval_id, data_source=data_source or stored())
    carry_out(run.id)
    return openai.evals.runs.retrieve(run.id, eval_id=eval_id)


def outputs(openai: OpenAI, run: Any) -> list[str]:
    items = openai.evals.runs.output_items.list(run.id, eval_id=run.eval_id)
    return [item.sample.output[0].content or "" for item in items]


@pytest.mark.parametrize(
    ("config", "data_source"),
    [
        (STORED, stored()),
        (LOGS, {"type": "responses", "source": {"type": "responses"}}),
        ({"type": "logs"}, {"type": "responses", "source": {"type": "responses", "metadata": {"usecase": "towns"}}}),
    ],
)
def test_stored_answers_are_graded_as_they_are(openai: OpenAI, config: Any, data_source: Any) -> None:
    source_id = answered(openai, prompt="v1")
    answered(openai, usecase="other")
    eval_id = create_eval(openai, REPEATED, data_source_config=config)
    returned = openai.evals.retrieve(eval_id).data_source_config
    assert (returned.type, returned.metadata) == (config["type"], config.get("metadata"))
    run = graded(openai, eval_id, data_source)
    assert run.data_source.model_dump(exclude_none=True) == data_source
    assert (run.model, run.per_model_usage) == ("", [])
    assert run.result_counts.model_dump() == {"total": 3, "passed": 3, "failed": 0, "errored": 0}
    first = openai.evals.runs.output_items.list(run.id, eval_id=eval_id).data[0]
    assert first.datasource_item == {
        "id": f"{source_id}-0",
        "input": [{"role": "user", "content": "Paris"}],
        "output": [{"role": "assistant", "content": "Paris"}],
        "metadata": {"usecase": "towns", "prompt": "v1"},
    }
    assert first.sample.output[0].content == "Paris"


def test_another_model_is_asked_what_was_asked_then(openai: OpenAI) -> None:
    answered(openai)
    eval_id = create_eval(openai, REPEATED, data_source_config=STORED)
    run = graded(openai, eval_id, {**stored(), "model": "sim/steady"})
    assert (run.model, run.result_counts.errored, run.data_source.model) == ("sim/steady", 0, "sim/steady")
    items = openai.evals.runs.output_items.list(run.id, eval_id=eval_id).data
    assert [item.sample.input[0].content for item in items] == [item["question"] for item in ITEMS]
    template = [{"role": "user", "content": "Once more: {{ item.input[0].content }}"}]
    messages = {"type": "template", "template": template}
    run = graded(openai, eval_id, {**stored(), "model": "sim/echo", "input_messages": messages})
    assert outputs(openai, run) == [f"Once more: {item['question']}" for item in ITEMS]


def test_answers_are_chosen_by_metadata_model_time_and_number(openai: OpenAI) -> None:
    answered(openai, items=ITEMS[:1], version="v1")
    answered(openai, items=ITEMS[1:], version="v2")
    eval_id = create_eval(openai, REPEATED, data_source_config=STORED)
    now = int(utc_now().timestamp())
    for filters, expected in (
        ({}, ["Rome", "Oslo", "Paris"]),
        ({"metadata": {"version": "v1"}}, ["Paris"]),
        ({"metadata": {"version": "v2"}, "limit": 1}, ["Rome"]),
        ({"limit": 3, "model": "sim/echo", "created_after": now - 3600, "created_before": now + 3600}, 3),
    ):
        found = outputs(openai, graded(openai, eval_id, stored(**filters)))
        assert found == expected or len(found) == expected
    for filters in (
        {"metadata": {"version": "v3"}},
        {"metadata": {"usecase": "other"}},
        {"model": "gpt-5-mini"},
        {"created_before": now - 3600},
        {"created_after": now + 3600},
    ):
        with pytest.raises(sdk.BadRequestError, match="has no data: no run of this workspace has stored") as refused:
            openai.evals.runs.create(eval_id, data_source=stored(**filters))
        assert refused.value.param == "data_source.source"
    assert len(list(openai.evals.runs.list(eval_id))) == 4


def test_data_of_evals_is_no_stored_answer(openai: OpenAI) -> None:
    """Neither answers in files, nor those that this eval has copied."""
    answered(openai)
    eval_id = create_eval(openai, REPEATED, data_source_config=STORED)
    for _ in range(2):
        run = openai.evals.runs.create(eval_id, data_source=stored(), metadata={"usecase": "towns"})
        carry_out(run.id)
        assert run.result_counts.total == 3
    other = create_eval(openai, REPEATED, data_source_config=STORED)
    assert openai.evals.runs.create(other, data_source=stored()).result_counts.total == 3


def test_runs_over_stored_answers_are_listed_with_the_others(openai: OpenAI, client: Client) -> None:
    answered(openai)
    eval_id = create_eval(openai, EXACT, data_source_config=STORED)
    ids = [
        openai.evals.runs.create(eval_id, data_source=source).id
        for source in (completions(), stored(**{**STORED, "limit": 2}), completions(), stored(model="sim/echo"))
    ]
    assert [run.id for run in openai.evals.runs.list(eval_id, limit=1)] == ids
    assert [run.id for run in openai.evals.runs.list(eval_id, limit=1, order="desc")] == ids[::-1]
    assert openai.evals.runs.delete(ids[1], eval_id=eval_id).deleted
    assert [run.id for run in openai.evals.runs.list(eval_id, limit=1)] == [ids[0], *ids[2:]]
    other = create_eval(openai)
    with pytest.raises(sdk.NotFoundError):
        openai.evals.runs.retrieve(ids[3], eval_id=other)
    assert client.get(f"/v1/runs/{ids[3]}").json()["definitionId"] != eval_id
    openai.evals.runs.cancel(ids[3], eval_id=eval_id)
    openai.evals.delete(eval_id)
    assert client.get(f"/v1/runs/{ids[3]}").status == 404


def test_a_run_over_stored_answers_is_started_once_for_an_idempotency_key(openai: OpenAI, client: Client) -> None:
    answered(openai)
    eval_id, headers = create_eval(openai, REPEATED, data_source_config=STORED), {"Idempotency-Key": "key-1"}
    started = [openai.evals.runs.create(eval_id, data_source=stored(), extra_headers=headers) for _ in range(2)]
    assert started[0].id == started[1].id
    assert len(client.get("/v1/definitions").json()["items"]) == 3


MARKER = "zanzibar"
MARKED = [{"question": MARKER, "answer": "x"}, {"question": "other", "answer": "x"}]


@pytest.mark.parametrize("data_source", [stored(), {**stored(), "model": "sim/echo"}])
@pytest.mark.parametrize("deletion", ["run", "probe", "eval"])
def test_nothing_of_a_deleted_answer_is_left_in_evals(
    openai: OpenAI, client: Client, cloud: Settings, deletion: str, data_source: Any
) -> None:
    source_id = answered(openai, items=MARKED)
    eval_id = create_eval(openai, REPEATED, data_source_config=STORED)
    run = graded(openai, eval_id, data_source)
    copied_from_copy = create_eval(openai, REPEATED, data_source_config={"type": "logs"})
    again = graded(openai, copied_from_copy, {"type": "responses", "source": {"type": "responses"}})
    kept = create_eval(openai, REPEATED)
    source_eval = client.get(f"/v1/runs/{source_id}").json()["definitionId"]
    match deletion:
        case "run":
            assert client.delete(f"/v1/runs/{source_id}").status == 204
        case "probe":
            assert client.delete(f"/v1/probes/{source_id}-0/content").status == 204
        case "eval":
            openai.evals.delete(source_eval)
    for each, of_eval in ((run.id, eval_id), (again.id, copied_from_copy)):
        assert client.get(f"/v1/runs/{each}").status == 404
        assert list(openai.evals.runs.list(of_eval)) == []
    assert [each.id for each in openai.evals.list()][-1] == kept
    if deletion != "eval":
        openai.evals.delete(source_eval)  # Its own rows are no copies.
    erase_due(utc_now() + timedelta(minutes=30), lambda: 900.0)
    erase_due(utc_now() + timedelta(minutes=60), lambda: 900.0)
    assert places_with(MARKER, cloud) == []


def test_copies_are_erased_before_the_answers_expire(openai: OpenAI, cloud: Settings) -> None:
    source_id = answered(openai, items=MARKED)
    eval_id = create_eval(openai, REPEATED, data_source_config=STORED)
    run = graded(openai, eval_id)
    expires = stored_run(source_id).created_at + timedelta(days=365)
    erase_due(expires - timedelta(hours=2), lambda: 900.0)
    assert openai.evals.runs.retrieve(run.id, eval_id=eval_id).result_counts.total == 2
    erase_due(expires - timedelta(minutes=30), lambda: 900.0)
    with pytest.raises(sdk.NotFoundError):
        openai.evals.runs.retrieve(run.id, eval_id=eval_id)
    erase_due(utc_now() + timedelta(days=365), lambda: 900.0)
    copies = [place for place in places_with(MARKER, cloud) if run.id in place]
    assert copies == []


@pytest.mark.parametrize("moment", ["make_definition", "read_rows", "data_creation", "version_of"])
def test_an_answer_that_is_deleted_while_a_run_starts_is_not_copied(
    openai: OpenAI, client: Client, cloud: Settings, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    source_id = answered(openai, items=MARKED[:1])
    eval_id = create_eval(openai, REPEATED, data_source_config=STORED)
    module: Any = {"data_creation": openai_evals, "version_of": runs}.get(moment, stored_answers)
    name = "_version_of" if module is runs else moment
    step = getattr(module, name)

    def with_deletion(*arguments: Any) -> Any:
        made = step(*arguments)
        erasure.delete_probe_content("acme", f"{source_id}-0", utc_now())
        return made

    monkeypatch.setattr(module, name, with_deletion)
    with pytest.raises(sdk.BadRequestError, match="answers that were deleted meanwhile") as refused:
        openai.evals.runs.create(eval_id, data_source=stored())
    assert refused.value.param == "data_source.source"
    assert list(openai.evals.runs.list(eval_id)) == []
    openai.evals.delete(client.get(f"/v1/runs/{source_id}").json()["definitionId"])
    erase_due(utc_now() + timedelta(minutes=30), lambda: 900.0)
    erase_due(utc_now() + timedelta(minutes=60), lambda: 900.0)
    assert places_with(MARKER, cloud) == []


@pytest.mark.parametrize("step", ["add_definition", "read_rows", "start"])
def test_what_a_crash_leaves_is_deleted_with_the_answers(
    openai: OpenAI, client: Client, cloud: Settings, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    source_id = answered(openai, items=MARKED[:1])
    eval_id = create_eval(openai, REPEATED, data_source_config=STORED)
    with monkeypatch.context() as crash:
        module: Any = {"add_definition": definition_runs, "read_rows": stored_answers, "start": start}[step]
        crash.setattr(module, step, lambda *_, **__: 1 / 0)
        with pytest.raises(sdk.InternalServerError):
            openai.evals.runs.create(eval_id, data_source=stored())
    assert list(openai.evals.runs.list(eval_id)) == []
    run = graded(openai, eval_id)
    assert [each.id for each in openai.evals.runs.list(eval_id)] == [run.id]
    openai.evals.delete(client.get(f"/v1/runs/{source_id}").json()["definitionId"])
    left = [each["id"] for each in client.get("/v1/definitions").json()["items"]]
    assert left == [eval_id]
    erase_due(utc_now() + timedelta(minutes=30), lambda: 900.0)
    erase_due(utc_now() + timedelta(minutes=60), lambda: 900.0)
    assert places_with(MARKER, cloud) == []


def test_a_run_that_is_refused_leaves_no_definition(openai: OpenAI, client: Client) -> None:
    answered(openai)
    config: Any = {"type": "custom", "item_schema": {"type": "object", "required": ["absent"]}}
    eval_id = create_eval(openai, {**REPEATED, "input": "x"}, data_source_config=config)
    before = client.get("/v1/definitions").json()["items"]
    with pytest.raises(sdk.BadRequestError, match="row 1 of the stored answers: its item") as refused:
        openai.evals.runs.create(eval_id, data_source=stored())
    assert refused.value.param == "data_source.source"
    assert client.get("/v1/definitions").json()["items"] == before


def test_another_workspace_s_answers_are_no_data(openai: OpenAI, client: Client) -> None:
    answered(openai)
    stranger = openai_client(client, token=client.issue("other"))
    eval_id = create_eval(stranger, REPEATED, data_source_config=STORED)
    with pytest.raises(sdk.BadRequestError, match="has no data"):
        stranger.evals.runs.create(eval_id, data_source=stored())


@pytest.mark.parametrize(
    ("data_source", "param"),
    [
        (stored(limit=0), "data_source.source.limit"),
        (stored(created_after="yesterday"), "data_source.source.created_after"),
        (stored(created_before=-1), "data_source.source.created_before"),
        (stored(metadata={"a": 5}), "data_source.source.metadata.a"),
        (stored(model=5), "data_source.source.model"),
        (stored(colour="red"), "data_source.source.colour"),
        ({"type": "completions", "source": {"type": "responses"}}, "data_source.source"),
        ({"type": "responses", "source": {"type": "stored_completions"}}, "data_source.source"),
        ({"type": "jsonl", "source": {"type": "stored_completions"}}, "data_source.source"),
        ({"type": "responses", "source": {"type": "responses", "users": ["a"]}}, "data_source.source.users"),
        (
            {**stored(), "input_messages": {"type": "item_reference", "item_reference": "item.input"}},
            "data_source.input_messages",
        ),
        ({**stored(), "model": "nobody/x"}, "data_source.model"),
    ],
)
def test_bad_sources_are_refused_by_their_parameter(openai: OpenAI, data_source: Any, param: str) -> None:
    answered(openai)
    eval_id = create_eval(openai, REPEATED, data_source_config=STORED)
    with pytest.raises(sdk.BadRequestError) as refused:
        openai.evals.runs.create(eval_id, data_source=data_source)
    assert refused.value.param == param


@pytest.mark.parametrize(("limit", "value"), [("MAX_EXAMINED", 2), ("MAX_RUNS", 1), ("MAX_DATA_BYTES", 100)])
def test_too_many_answers_are_refused(openai: OpenAI, monkeypatch: pytest.MonkeyPatch, limit: str, value: int) -> None:
    answered(openai)
    answered(openai)
    eval_id = create_eval(openai, REPEATED, data_source_config=STORED)
    monkeypatch.setattr(stored_answers, limit, value)
    with pytest.raises(sdk.BadRequestError, match="matches too much: ") as refused:
        openai.evals.runs.create(eval_id, data_source=stored())
    assert refused.value.param == "data_source.source"
