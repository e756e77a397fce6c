"""Which operations may start, what each sees, and what applies: the same whatever the timing."""

from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cupel_core.base.clock import to_iso
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.pipeline.context import HookBase, step_context
from cupel_core.domain.pipeline.operations import EffectType, Hook, Trigger
from cupel_core.domain.pipeline.planning import PipelinePlan, plan_turn
from cupel_core.domain.pipeline.profiles import ExecutionMode, Pipeline
from cupel_core.domain.pipeline.prompt import effective_prompt, prompt_changes, rewritten_text
from cupel_core.domain.pipeline.results import EffectText, StepResult, StepStatus
from cupel_core.domain.pipeline.steps import MAX_CONCURRENT, first_failure, ready_steps, settle, visible_steps
from cupel_core.domain.pipeline.turns import OpenTurn, PipelineState, StoredArtifact, committed_artifacts
from tests.profiles import BEFORE, Json, operation, operation_graphs, pipeline_of

CONVERSATION = (
    Message(MessageRole.SYSTEM, "S"),
    Message(MessageRole.USER, "u1"),
    Message(MessageRole.ASSISTANT, "a1"),
    Message(MessageRole.USER, "u2"),
)
EFFECTS = st.sampled_from(
    [
        {"type": "prompt.system_update", "mode": "append"},
        {"type": "prompt.system_update", "mode": "prepend"},
        {"type": "prompt.append_after_last_user", "role": "system"},
        {"type": "prompt.insert_at_depth", "role": "user", "depthFromEnd": 0},
        {"type": "prompt.insert_at_depth", "role": "assistant", "depthFromEnd": -1},
        {"type": "prompt.insert_at_depth", "role": "system", "depthFromEnd": -9},
    ]
)


def plan_of(operations: list[Json]) -> tuple[Pipeline, PipelinePlan]:
    pipeline = pipeline_of(*operations)
    return pipeline, plan_turn(pipeline, Trigger.GENERATE)


def done(name: str, effects: int = 0) -> StepResult:
    return StepResult(StepStatus.DONE, name, tuple(EffectText(f"{name}.{number}") for number in range(effects)))


def ended(rng: Any, name: str) -> StepResult:
    return rng.choice([done(name), done(name), StepResult.failed("internal", "x")])


@given(operation_graphs(), st.sampled_from(ExecutionMode), st.randoms(use_true_random=False))
def test_every_step_ends_and_starts_only_after_its_dependencies(
    operations: list[Json], mode: ExecutionMode, rng: Any
) -> None:
    _, plan = plan_of(operations)
    for steps in plan.steps.values():
        results: dict[str, StepResult] = {}
        running: list[str] = []
        while True:
            results = settle(steps, results)
            for step in ready_steps(steps, results, running, mode):
                assert all(results[other].is_done for other in step.depends_on)
                assert step.id not in results
                running.append(step.id)
            assert len(running) <= (1 if mode is ExecutionMode.SEQUENTIAL else MAX_CONCURRENT)
            if not running:
                break
            name = running.pop(rng.randrange(len(running)))
            results[name] = ended(rng, name)
        assert sorted(results) == sorted(step.id for step in steps)
        blocked = [
            step
            for step in steps
            if any(not results.get(x, StepResult.failed("", "")).is_done for x in step.depends_on)
        ]
        for step in blocked:
            assert results[step.id].status is (StepStatus.ERROR if step.required else StepStatus.SKIPPED)


@given(operation_graphs(), st.randoms(use_true_random=False))
def test_the_barrier_holds_unless_every_required_step_is_done(operations: list[Json], rng: Any) -> None:
    _, plan = plan_of(operations)
    steps = plan.steps[Hook.BEFORE]
    results = settle(steps, {})
    for step in steps:
        results.setdefault(step.id, ended(rng, step.id))
    passes = first_failure(steps, results) is None
    assert passes == all(results[step.id].is_done for step in steps if step.required)


@given(operation_graphs())
def test_what_a_step_sees_is_what_it_depends_on(operations: list[Json]) -> None:
    pipeline, plan = plan_of(operations)
    for steps in plan.steps.values():
        ids = {step.id for step in steps}
        for step in steps:
            visible = {each.id for each in visible_steps(steps, step)}
            closure = pipeline.dependencies(step) & ids
            assert visible <= closure
            assert set(step.depends_on) & ids <= visible


@given(operation_graphs(), st.lists(EFFECTS, min_size=8, max_size=8), st.randoms(use_true_random=False))
def test_the_prompt_does_not_depend_on_the_order_in_which_steps_end(
    operations: list[Json], effects: list[Json], rng: Any
) -> None:
    before = [{**each, "effects": [effect]} for each, effect in zip(_before(operations), effects, strict=False)]
    _, plan = plan_of(before)
    steps = plan.steps[Hook.BEFORE]
    names = [step.id for step in steps]
    results = {name: done(name, 1) for name in rng.sample(names, len(names))}
    expected = effective_prompt(CONVERSATION, prompt_changes(steps, dict(sorted(results.items()))))
    assert effective_prompt(CONVERSATION, prompt_changes(steps, results)) == expected


@given(operation_graphs(), st.lists(EFFECTS, min_size=8, max_size=8), st.data())
def test_only_what_is_done_changes_the_prompt_and_leaving_one_out_moves_no_other(
    operations: list[Json], effects: list[Json], data: st.DataObject
) -> None:
    before = [{**each, "effects": [effect]} for each, effect in zip(_before(operations), effects, strict=False)]
    _, plan = plan_of(before)
    steps = plan.steps[Hook.BEFORE]
    if not steps:
        return
    results = {step.id: done(step.id, 1) for step in steps}
    lost = data.draw(st.sampled_from([step.id for step in steps]))
    without = results | {lost: StepResult.skipped(data.draw(st.sampled_from(["condition_false"])))}  # type: ignore[arg-type]
    whole = effective_prompt(CONVERSATION, prompt_changes(steps, results))
    rest = effective_prompt(CONVERSATION, prompt_changes(steps, without))
    assert lost not in " ".join(message.content for message in rest).replace(".0", " ").split()
    assert [m for m in whole[1:] if m.content != f"{lost}.0"] == list(rest[1:])
    assert rest[0].role is MessageRole.SYSTEM
    assert CONVERSATION[-1] in rest


@given(operation_graphs())
def test_no_prompt_effect_follows_the_answer(operations: list[Json]) -> None:
    """Forged results of operations after the answer change no prompt: it is made of those before alone."""
    _, plan = plan_of(operations)
    after = {step.id: StepResult(StepStatus.DONE, "x") for step in plan.steps[Hook.AFTER]}
    assert list(prompt_changes(plan.steps[Hook.AFTER], after)) == []


def test_a_blank_payload_changes_nothing() -> None:
    _, plan = plan_of([operation("a", effects=[{"type": "turn.user.rewrite"}])])
    steps = plan.steps[Hook.BEFORE]
    result = StepResult(StepStatus.DONE, " ", (EffectText("  "),))
    assert rewritten_text(steps, {"a": result}, EffectType.REWRITE_USER) is None


@given(st.integers(1, 5), st.integers(0, 9))
def test_versions_have_no_gaps_and_the_newest_stays(limit: int, turns: int) -> None:
    artifact = {"persistence": "persisted", "retention": {"maxVersions": limit}}
    _, plan = plan_of([operation("a", artifact=artifact)])
    artifacts: dict[str, Any] = {}
    for number in range(turns):
        result = StepResult(StepStatus.DONE, f"v{number}", (EffectText("x"),))
        artifacts = committed_artifacts(plan, OpenTurn("now", before={"a": result}), artifacts)
    if not turns:
        assert artifacts == {}
        return
    expected = [f"v{number}" for number in range(turns)]
    assert artifacts["a"].value == expected[-1]
    assert list(artifacts["a"].history) == expected[max(0, turns - limit) : -1]


@given(st.lists(st.integers(0, 40), min_size=1, max_size=8), st.integers(1, 30), st.integers(0, 40))
def test_earlier_values_that_are_too_old_are_no_part_of_a_history(
    pauses: list[int], max_age: int, read_after: int
) -> None:
    """`pauses` are the days between two writes."""
    artifact = {"persistence": "persisted", "retention": {"maxVersions": 100, "maxAgeDays": max_age}}
    _, plan = plan_of([operation("a", artifact=artifact)])
    days, artifacts = list(accumulate(pauses)), dict[str, StoredArtifact]()
    for day in days:
        result = StepResult(StepStatus.DONE, f"v{day}", (EffectText("x"),))
        artifacts = committed_artifacts(plan, OpenTurn(on_day(day), before={"a": result}), artifacts)
    now = days[-1] + read_after
    read = decode(StoredArtifact, encode(artifacts["a"])).at(on_day(now))
    assert (read.value, read.first_at) == (f"v{days[-1]}", on_day(days[0]))
    assert list(read.history) == [f"v{day}" for day in days[:-1] if now - day <= max_age]


def on_day(number: int) -> str:
    return to_iso(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number))


def test_a_template_sees_no_values_that_are_too_old() -> None:
    artifact = {"tag": "a", "persistence": "persisted", "retention": {"maxVersions": 20, "maxAgeDays": 7}}
    _, plan = plan_of([operation("a", artifact=artifact), operation("b", dependsOn=["a"])])
    steps = plan.steps[Hook.BEFORE]
    stored = StoredArtifact("new", None, ("old", "recent"), on_day(8), (on_day(0), on_day(5)), on_day(0), 7)
    base = HookBase(Hook.BEFORE, (), {"a": stored}, {"a": "a"}, now=on_day(10))
    made = {"a": StepResult(StepStatus.DONE, "made", (EffectText("x"),))}
    first, second = (step_context(base, steps, made, step)["art"]["a"] for step in steps)
    assert first == {"value": "new", "history": ["recent"]}
    assert second == {"value": "made", "history": ["recent", "new"]}


@given(operation_graphs(), st.randoms(use_true_random=False))
def test_a_stored_state_is_read_as_it_was(operations: list[Json], rng: Any) -> None:
    _, plan = plan_of(operations)
    before = {step.id: ended(rng, step.id) for step in plan.steps[Hook.BEFORE]}
    turn = OpenTurn("now", before, {}, is_prepared=True, prompt_hash="x")
    state = PipelineState(turn=turn, records=({"number": 1},))
    assert decode(PipelineState, encode(state)) == state


def _before(operations: list[Json]) -> list[Json]:
    return [{**each, "enabled": True} for each in operations if each["hooks"] == [BEFORE]]
