"""Probes of runs with an operation profile: every turn of a probe goes through its operations."""

import time
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from cupel_core import sandbox
from cupel_core.conversations.turn import Halted
from cupel_core.domain.codec import encode
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Message, ProbeErrorCode
from cupel_core.domain.pipeline.sizes import MAX_STATE_LENGTH
from cupel_core.domain.runs.spending import conversation_spending
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Transcript
from cupel_core.providers.errors import ProviderError, RetryLater
from cupel_core.sandbox import pool
from cupel_core.sandbox.limits import MAX_EXCEEDED, WINDOW_SECONDS
from tests.profiles import AFTER, Json, ask, guard, operation, run_profile
from tests.unit.conversations.conftest import ConversationHarness, RecordedCheckpoints

type Harnesses = Callable[..., ConversationHarness]
INSERT = {"type": "prompt.append_after_last_user", "role": "system"}
REWRITE = {"type": "turn.assistant.rewrite"}


def completed(outcome: Outcome) -> Transcript:
    assert isinstance(outcome, Transcript), outcome
    return outcome


def errored(outcome: Outcome) -> ProbeError:
    assert isinstance(outcome, ProbeError), outcome
    return outcome


def said(messages: tuple[Message, ...]) -> list[str]:
    return [f"{message.role}: {message.content}" for message in messages]


def records(transcript: Transcript) -> list[Any]:
    assert transcript.conversation.pipeline is not None
    return list(transcript.conversation.pipeline.records)


def statuses(transcript: Transcript) -> dict[str, str]:
    return {each["operationId"]: each["status"] for each in records(transcript)[-1]["operations"]}


def conversation(harness: Harnesses, *operations: Json, **options: Any) -> ConversationHarness:
    mode = {"executionMode": options.pop("mode")} if "mode" in options else {}
    return harness(judged=False, profile=run_profile(*operations, **mode), **options)


async def test_without_a_profile_the_state_has_no_pipeline(harness: Harnesses) -> None:
    assert completed(await harness(judged=False).run()).conversation.pipeline is None


async def test_a_template_adds_to_the_prompt_and_not_to_the_transcript(harness: Harnesses) -> None:
    probe = conversation(harness, operation(params={"template": "Answer {{ user.text | upper }}"}, effects=[INSERT]))
    transcript = completed(await probe.run())
    assert said(probe.requests_to("target")[0].messages) == [
        "user: Book me a haircut.",
        "system: Answer BOOK ME A HAIRCUT.",
    ]
    assert said(transcript.messages) == ["user: Book me a haircut.", "assistant: I can help."]


async def test_templates_alone_write_no_checkpoint(harness: Harnesses) -> None:
    probe = conversation(harness, operation("a"), operation("b", hooks=[AFTER], effects=[REWRITE]))
    assert completed(await probe.run()).messages[-1].content == "Be polite."
    assert probe.checkpoints.saved == []


async def test_the_answer_of_a_model_is_in_the_prompt_and_counted_apart(harness: Harnesses) -> None:
    probe = conversation(harness, ask(effects=[INSERT]))
    transcript = completed(await probe.run())
    assert said(probe.requests_to("operation")[0].messages) == ["user: Plan: Book me a haircut."]
    assert said(probe.requests_to("target")[0].messages)[-1] == "system: a plan"
    assert transcript.spending.operation.calls == 1
    assert transcript.spending.target.calls == 1
    assert transcript.spending.total.calls == 2


async def test_a_guard_skips_a_step_and_its_dependents(harness: Harnesses) -> None:
    condition = {"operationId": "scene", "output": "ok", "operator": "is_true"}
    no = guard(params={"outputs": [{"key": "ok", "title": "ok", "when": "user.text | length > 999"}]})
    skipped = ask(dependsOn=["scene"], runConditions=[condition])
    probe = conversation(harness, no, skipped, operation("later", dependsOn=["plan"]))
    transcript = completed(await probe.run())
    assert statuses(transcript) == {"scene": "done", "plan": "skipped", "later": "skipped"}
    assert probe.requests_to("operation") == []
    details = records(transcript)[0]["operations"][1]["skippedDetails"]
    assert details == {"operationId": "scene", "output": "ok", "operator": "is_true", "actual": False}


async def test_a_guard_may_ask_a_model_with_a_strict_schema(harness: Harnesses) -> None:
    asked = guard(
        params={
            "engine": "llm",
            "outputs": [{"key": "ok", "title": "Polite"}],
            "target": {"model": "custom/operation"},
            "prompt": "{{ user.text }}",
        }
    )
    probe = conversation(harness, asked, operation=[{"ok": True}])
    assert records(completed(await probe.run()))[0]["operations"][0]["value"] == {"ok": True}
    schema = probe.requests_to("operation")[0].json_schema
    assert schema is not None
    assert (schema["required"], schema["additionalProperties"]) == (["ok"], False)


@pytest.mark.parametrize(("policy", "status"), [("error", "error"), ("all_false", "done")])
async def test_a_guard_that_fails_is_an_error_or_false(harness: Harnesses, policy: str, status: str) -> None:
    outputs = [{"key": "ok", "title": "ok", "when": "vars.x.y + 1 > {}"}]
    transcript = completed(await conversation(harness, guard(params={"outputs": outputs, "onError": policy})).run())
    assert statuses(transcript) == {"scene": status}


async def test_a_required_step_that_is_not_done_prevents_the_call(harness: Harnesses) -> None:
    error = ProviderError(ProbeErrorCode.AUTH, "no such key", final=True)
    probe = conversation(harness, ask(required=True), operation=[error])
    outcome = errored(await probe.run())
    assert (outcome.code, outcome.message) == (
        ProbeErrorCode.OPERATION_ERROR,
        "operation plan failed: auth: no such key; the target was not called",
    )
    assert probe.requests_to("target") == []


async def test_a_required_step_that_is_skipped_prevents_the_call(harness: Harnesses) -> None:
    outcome = errored(await conversation(harness, operation(required=True, params={"template": "{{ x }}"})).run())
    assert outcome.message == "operation tone was skipped: condition_false; the target was not called"


async def test_what_a_failed_barrier_has_cost_is_counted(harness: Harnesses) -> None:
    later = operation("later", required=True, dependsOn=["plan"], params={"template": "{{ x }}"})
    outcome = errored(await conversation(harness, ask(), later).run())
    assert outcome.spending.operation.calls == 1


async def test_an_optional_step_that_fails_is_only_told(harness: Harnesses) -> None:
    probe = conversation(
        harness, ask(effects=[INSERT]), operation=[ProviderError(ProbeErrorCode.AUTH, "x", final=True)]
    )
    transcript = completed(await probe.run())
    assert records(transcript)[0]["operations"][0]["error"] == {"code": "auth", "message": "x"}
    assert said(probe.requests_to("target")[0].messages) == ["user: Book me a haircut."]


async def test_a_required_step_after_the_answer_that_fails_is_an_error_of_the_probe(harness: Harnesses) -> None:
    failing = operation("check", required=True, hooks=[AFTER], effects=[], params={"template": " {{ x }} "})
    outcome = errored(await conversation(harness, failing).run())
    assert outcome.code is ProbeErrorCode.OPERATION_ERROR
    assert outcome.message == "operation check was skipped: condition_false; its answer was not used"
    assert outcome.spending.target.calls == 1


async def test_the_answer_and_the_users_words_are_rewritten_and_the_originals_recorded(harness: Harnesses) -> None:
    probe = conversation(
        harness,
        operation("ask", params={"template": "PLEASE: {{ user.text }}"}, effects=[{"type": "turn.user.rewrite"}]),
        operation("shout", hooks=[AFTER], params={"template": "{{ answer.text | upper }}"}, effects=[REWRITE]),
    )
    transcript = completed(await probe.run())
    assert said(transcript.messages) == ["user: PLEASE: Book me a haircut.", "assistant: I CAN HELP."]
    assert said(probe.requests_to("target")[0].messages) == ["user: PLEASE: Book me a haircut."]
    record = records(transcript)[0]
    assert (record["originalUser"], record["originalAnswer"]) == ("Book me a haircut.", "I can help.")
    assert [row["status"] for row in record["commits"]] == ["applied", "applied"]


async def test_persisted_artifacts_reach_later_turns_and_others_do_not(harness: Harnesses) -> None:
    summary = operation(
        "summary",
        hooks=[AFTER],
        effects=[],
        params={"template": "{{ answer.text }}"},
        artifact={
            "persistence": "persisted",
            "writeMode": "append",
            "usage": "prompt_only",
            "inclusion": {"at": "system_append", "template": "So far: {{ value }}"},
        },
    )
    probe = conversation(harness, summary, target=["one", "two", "three"], scenario={"follow_ups": ("b", "c")})
    transcript = completed(await probe.run())
    assert [request.system for request in probe.requests_to("target")] == [None, "So far: one", "So far: one\ntwo"]
    assert transcript.conversation.pipeline is not None
    stored = transcript.conversation.pipeline.artifacts["summary"]
    assert (stored.value, stored.history) == ("one\ntwo\nthree", ("one", "one\ntwo"))
    assert [record["number"] for record in records(transcript)] == [1, 2, 3]


async def test_json_output_is_checked_and_its_failure_costs(harness: Harnesses) -> None:
    output = {"mode": "json", "schema": {"type": "array", "items": {"type": "string"}}, "extract": "code_block"}
    step = ask(params={"output": output}, artifact={"format": "json"})
    good = completed(await conversation(harness, step, operation=['So:\n```json\n["a"]\n```']).run())
    assert records(good)[0]["operations"][0]["value"] == ["a"]
    bad = completed(await conversation(harness, step, operation=["```\n[1]\n```"]).run())
    assert records(bad)[0]["operations"][0]["error"]["code"] == "output_schema_error"
    assert bad.spending.operation.calls == 1
    none = completed(await conversation(harness, step, operation=["no block"]).run())
    assert records(none)[0]["operations"][0]["error"]["code"] == "output_parse_error"


async def test_a_call_that_may_cost_too_much_is_not_made(harness: Harnesses) -> None:
    probe = conversation(harness, ask(params={"maxInputTokens": 3}))
    error = records(completed(await probe.run()))[0]["operations"][0]["error"]
    assert error["code"] == "validation_error"
    assert "more than maxInputTokens: 3" in error["message"]
    assert probe.requests_to("operation") == []


@pytest.mark.parametrize("mode", ["concurrent", "sequential"])
async def test_both_modes_come_to_the_same(harness: Harnesses, mode: str) -> None:
    steps = [
        operation("b", order=2, params={"template": "second"}),
        operation("a", order=1, params={"template": "first"}),
        operation("c", dependsOn=["b", "a"], params={"template": "{{ art.a.value }}+{{ art.b.value }}"}),
    ]
    probe = conversation(harness, *steps, mode=mode)
    await probe.run()
    assert probe.requests_to("target")[0].system == "first\n\nsecond\n\nfirst+second"


async def test_a_step_sees_nothing_of_what_it_does_not_depend_on(harness: Harnesses) -> None:
    steps = [operation("a", order=1), operation("b", order=2, params={"template": "[{{ art.a.value }}]"})]
    probe = conversation(harness, *steps, mode="sequential")
    await probe.run()
    assert probe.requests_to("target")[0].system == "Be polite.\n\n[]"


async def test_a_recorded_call_is_not_made_again(harness: Harnesses) -> None:
    """The target stops the first attempt; the second takes the operation's answer from the checkpoint."""
    first = conversation(harness, ask(effects=[INSERT]), target=[RetryLater(60.0, ProbeErrorCode.RATE_LIMITED)])
    with pytest.raises(RetryLater):
        await first.run()
    checkpoints = RecordedCheckpoints(first.checkpoints.saved[-1])
    second = conversation(harness, ask(effects=[INSERT]), checkpoints=checkpoints)
    transcript = completed(await second.run())
    assert second.requests_to("operation") == []
    assert said(second.requests_to("target")[0].messages)[-1] == "system: a plan"
    assert transcript.spending.operation.calls == 1


async def test_after_every_checkpoint_no_recorded_call_is_made_again(harness: Harnesses) -> None:
    """Continue from each checkpoint of a conversation of two turns: together, each call is made once."""
    steps = [ask("before", effects=[INSERT]), ask("after", "Check: {{ answer.text }}", hooks=[AFTER])]
    options: dict[str, Any] = {"target": ["one", "two"], "scenario": {"follow_ups": ("b",)}}
    whole = conversation(harness, *steps, **options)
    expected = completed(await whole.run())
    assert len(whole.checkpoints.saved) >= 5
    for saved in whole.checkpoints.saved:
        rest = {**options, "target": ["one", "two"][saved.target_calls :] or ["none"]}
        resumed = conversation(harness, *steps, **rest, checkpoints=RecordedCheckpoints(saved))
        transcript = completed(await resumed.run())
        assert transcript.messages == expected.messages
        spent = saved.pipeline.spend.calls if saved.pipeline else 0
        assert len(resumed.requests_to("operation")) == 4 - spent
        assert len(resumed.requests_to("target")) == 2 - saved.target_calls
        assert transcript.spending.operation.calls == 4


async def test_a_halted_run_stores_what_was_paid_for_and_starts_nothing(harness: Harnesses) -> None:
    steps = [ask("a", order=1), ask("b", order=2)]
    probe = conversation(harness, *steps, operation=["done", Halted()], mode="sequential")
    with pytest.raises(Halted):
        await probe.run()
    state = probe.checkpoints.saved[-1]
    assert state.pipeline is not None
    assert state.pipeline.turn is not None
    assert list(state.pipeline.turn.before) == ["a"]
    assert probe.requests_to("target") == []


async def test_an_operation_that_must_wait_stores_its_siblings(harness: Harnesses) -> None:
    steps = [ask("a"), ask("b")]
    probe = conversation(harness, *steps, operation=["done", RetryLater(60.0, ProbeErrorCode.RATE_LIMITED)])
    with pytest.raises(RetryLater) as wait:
        await probe.run()
    assert wait.value.code is ProbeErrorCode.OPERATION_ERROR
    state = probe.checkpoints.saved[-1]
    assert state.pipeline is not None
    assert state.pipeline.spend.calls == 1


async def test_a_template_that_loops_ends_within_its_limits(harness: Harnesses) -> None:
    endless = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    transcript = completed(await conversation(harness, operation(params={"template": endless})).run())
    error = records(transcript)[0]["operations"][0]["error"]
    assert (error["code"], error["message"]) == ("template_render_error", "its loops exceed 20,000 steps")


async def test_a_template_without_loops_that_takes_long_ends_within_its_limits(harness: Harnesses) -> None:
    slow = "{% set a = user.text %}" + "{% set a = a ~ a %}" * 11 + "{{ (a | upper | lower) | length }}" * 2_000
    transcript = completed(await conversation(harness, operation(params={"template": slow})).run())
    result = records(transcript)[0]["operations"][0]
    assert result["status"] == "done" or result["error"]["code"] == "template_render_error"


async def test_an_artifact_that_is_too_large_is_an_error(harness: Harnesses) -> None:
    transcript = completed(await conversation(harness, ask(), operation=["x" * 200_001]).run())
    assert records(transcript)[0]["operations"][0]["error"] == {
        "code": "validation_error",
        "message": "the artifact would have more than 200,000 characters",
    }


async def test_an_effect_of_a_required_step_that_cannot_be_rendered_prevents_the_call(harness: Harnesses) -> None:
    broken = operation(required=True, effects=[{**INSERT, "template": "{{ 2 ** 99 }}"}])
    outcome = errored(await conversation(harness, broken).run())
    assert outcome.message.startswith("operation tone could not apply an effect: template_render_error: the exponent")


async def test_a_probe_keeps_nothing_of_another(harness: Harnesses) -> None:
    step = operation("n", artifact={"persistence": "persisted", "writeMode": "append"}, params={"template": "x"})
    for _ in range(2):
        transcript = completed(await conversation(harness, step).run())
        assert transcript.conversation.pipeline is not None
        assert transcript.conversation.pipeline.artifacts["n"].value == "x"


HALVES = r"\ud83d\ude00 \ud83d"


class EncodedCheckpoints(RecordedCheckpoints):
    """As they are stored: as JSON."""

    async def save(self, dialogue: ConversationState) -> None:
        assert dialogue.pipeline is not None
        orjson.dumps(encode(dialogue.pipeline))
        await super().save(dialogue)


async def test_halves_of_characters_in_a_template_are_stored_with_what_was_paid(harness: Harnesses) -> None:
    tone = operation(params={"template": f"{{{{ '{HALVES}' }}}}"}, effects=[INSERT])
    probe = conversation(harness, tone, ask(dependsOn=["tone"]), checkpoints=EncodedCheckpoints())
    transcript = completed(await probe.run())
    assert records(transcript)[0]["operations"][0]["value"] == "😀 ?"
    assert [len(probe.requests_to("operation")), len(probe.checkpoints.saved)] == [1, 1]


def use_up_sandbox() -> None:
    """As another run of the workspace does whose templates exceed their limits."""
    sandbox.use_workspace("ws_a")
    for _ in range(MAX_EXCEEDED):
        pool.budget().record_exceeded(time.monotonic())


LOOP = "{% for each in messages %}{{ each.content }}{% endfor %}"
SCHEMA = {"mode": "json", "schema": {"type": "object", "required": ["a"]}}
JSON_STEP = ask(params={"output": SCHEMA}, artifact={"format": "json"})
POSTPONED = {
    "a template": [operation(params={"template": LOOP})],
    "an expression": [guard(params={"outputs": [{"key": "ok", "title": "ok", "when": "messages | list"}]})],
    "the schema of an answer": [JSON_STEP],
    "an effect of an answer": [ask(effects=[{**INSERT, "template": LOOP}])],
    "an operation beside a call": [ask(), operation(params={"template": LOOP})],
    "a template after the answer": [operation(hooks=[AFTER], params={"template": LOOP}, effects=[])],
    "the schema of an answer after the answer": [{**JSON_STEP, "hooks": [AFTER]}],
}


@pytest.mark.parametrize("steps", POSTPONED.values(), ids=POSTPONED)
async def test_what_another_run_has_used_up_is_waited_for(harness: Harnesses, steps: list[Json]) -> None:
    """Nothing is recorded as a result, and nothing that was paid for is paid again."""
    probe = conversation(harness, *steps, operation=[{"a": 1}], checkpoints=EncodedCheckpoints())
    use_up_sandbox()
    with pytest.raises(RetryLater) as wait:
        await probe.run()
    assert wait.value.code is ProbeErrorCode.OPERATION_ERROR
    assert 0 < wait.value.retry_after_seconds <= WINDOW_SECONDS
    paid = [len(probe.requests_to("target")), len(probe.requests_to("operation"))]
    pool.reset_budgets()
    transcript = completed(await probe.run())
    assert set(statuses(transcript).values()) == {"done"}
    calls = [transcript.spending.target.calls, transcript.spending.operation.calls]
    assert calls == [len(probe.requests_to("target")), len(probe.requests_to("operation"))]
    if sum(paid):
        saved = conversation_spending(probe.checkpoints.saved[-1])
        assert saved.total.calls >= sum(paid)


async def test_an_answer_is_not_lost_when_the_worker_stops_before_its_schema_is_checked(
    harness: Harnesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = conversation(harness, JSON_STEP, operation=[{"a": 1}])
    with monkeypatch.context() as stopped:
        stopped.setattr(sandbox, "run", crash)
        with pytest.raises(sandbox.SandboxFailed):
            await probe.run()
    assert statuses(completed(await probe.run())) == {"plan": "done"}
    assert len(probe.requests_to("operation")) == 1


async def crash(*_: object) -> None:
    raise sandbox.SandboxFailed("the helper process ended")


async def test_an_answer_is_stored_before_an_operation_that_may_stop_the_worker(
    harness: Harnesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [operation(hooks=[AFTER], params={"template": LOOP}, effects=[])]
    probe = conversation(harness, *steps)
    with monkeypatch.context() as stopped:
        stopped.setattr(sandbox, "run", crash)
        with pytest.raises(sandbox.SandboxFailed):
            await probe.run()
    assert statuses(completed(await probe.run())) == {"tone": "done"}
    assert len(probe.requests_to("target")) == 1
    assert len(probe.checkpoints.saved) == 1


async def test_a_long_answer_is_stored_before_operations_that_need_the_sandbox_for_it(harness: Harnesses) -> None:
    steps = [operation("b", hooks=[AFTER], effects=[REWRITE])]
    for answer, writes in (("short", 0), ("long " * 10_000, 1)):
        probe = conversation(harness, *steps, target=[answer])
        completed(await probe.run())
        assert len(probe.checkpoints.saved) == writes


async def test_quick_operations_add_no_writes_to_a_conversation(harness: Harnesses) -> None:
    steps = [
        operation("a"),
        operation("b", hooks=[AFTER], effects=[REWRITE]),
        operation("c", hooks=[AFTER], effects=[]),
    ]
    options: dict[str, Any] = {"target": ["one", "two"], "scenario": {"follow_ups": ("b",)}}
    plain, profiled = harness(judged=False, **options), conversation(harness, *steps, **options)
    for probe in (plain, profiled):
        completed(await probe.run())
    assert len(plain.checkpoints.saved) == len(profiled.checkpoints.saved)


def state_of(transcript: Transcript) -> bytes:
    assert transcript.conversation.pipeline is not None
    return orjson.dumps(encode(transcript.conversation.pipeline))


async def test_what_the_operations_of_a_conversation_make_is_limited(harness: Harnesses) -> None:
    """40 operations that make 8 million characters per turn."""
    steps = [ask(f"op{number}", artifact={"persistence": "persisted"}) for number in range(40)]
    follow_ups = {"follow_ups": tuple("abcde")}
    probe = conversation(harness, *steps, operation=["x" * 199_000], scenario=follow_ups, max_messages=20)
    transcript = completed(await probe.run())
    assert transcript.conversation.turns == 6
    assert len(state_of(transcript)) < 1.2 * MAX_STATE_LENGTH
    assert records(transcript)[0]["operations"][0]["error"] == {
        "code": "validation_error",
        "message": "all that the operations of a conversation make may have at most 2,000,000 characters; this one may "
        "add 50,000",
    }
    assert transcript.spending.operation.calls == 240


async def test_the_texts_of_calls_are_recorded_as_long_as_there_is_room(harness: Harnesses) -> None:
    """40 operations whose calls have 24,000 characters that `debug` records, in each of six turns."""
    long = "x" * 9_000
    steps = [
        ask(f"op{number}", params={"system": long, "prompt": long}, debug={"enabled": True}) for number in range(40)
    ]
    probe = conversation(harness, *steps, operation=[long], scenario={"follow_ups": tuple("abcde")}, max_messages=20)
    transcript = completed(await probe.run())
    assert len(state_of(transcript)) < 1.2 * MAX_STATE_LENGTH
    first, last = (records(transcript)[number]["operations"][0] for number in (0, -1))
    assert len(first["inputs"]["prompt"]) == 8_000
    assert ("prompt" in last["inputs"], "answer" in last["outputs"]) == (False, False)
    assert last["inputs"]["promptHash"] == first["inputs"]["promptHash"]


@pytest.mark.parametrize("length", [20_000, 190_000])
async def test_what_accumulates_over_the_turns_is_limited(harness: Harnesses, length: int) -> None:
    steps = [ask("a", artifact={"persistence": "persisted"}), ask("b", effects=[INSERT]), operation("c")]
    follow_ups = {"follow_ups": tuple("abcdefghijk")}
    probe = conversation(harness, *steps, operation=["x" * length], scenario=follow_ups, max_messages=40)
    transcript = completed(await probe.run())
    assert len(state_of(transcript)) < 1.1 * MAX_STATE_LENGTH
    ended = [[each["status"] for each in record["operations"]] for record in records(transcript)]
    assert ended[0] == ["done"] * 3
    assert ended[-1] == (["done"] * 3 if length == 20_000 else ["error", "error", "done"])
