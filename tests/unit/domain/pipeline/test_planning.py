"""Which operations a turn runs, and the order of their effects."""

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.pipeline.operations import Hook, Trigger
from cupel_core.domain.pipeline.planning import OmissionReason, OmittedOperation, commit_order, plan_turn
from tests.profiles import AFTER, BEFORE, Json, operation, operation_graphs, pipeline_of


def ids(operations: Any) -> list[str]:
    return [each.id for each in operations]


def test_operations_run_in_their_hooks() -> None:
    plan = plan_turn(
        pipeline_of(operation("a", hooks=[AFTER], effects=[]), operation("b", hooks=[BEFORE, AFTER], effects=[])),
        Trigger.GENERATE,
    )
    assert {hook: ids(steps) for hook, steps in plan.steps.items()} == {Hook.BEFORE: ["b"], Hook.AFTER: ["a", "b"]}


def test_disabled_operations_and_those_of_other_triggers_are_left_out() -> None:
    pipeline = pipeline_of(operation("a", enabled=False), operation("b", triggers=["regenerate"]))
    assert plan_turn(pipeline, Trigger.GENERATE).omitted == (
        OmittedOperation("a", OmissionReason.DISABLED),
        OmittedOperation("b", OmissionReason.TRIGGER_MISMATCH),
    )
    assert ids(plan_turn(pipeline, Trigger.REGENERATE).steps[Hook.BEFORE]) == ["b"]


def test_dependencies_come_first_then_the_order_then_the_id() -> None:
    operations = [
        operation("d", order=1, dependsOn=["c"]),
        operation("c", order=9),
        operation("b", order=5),
        operation("a", order=5),
    ]
    assert ids(commit_order(pipeline_of(*operations).operations)) == ["a", "b", "c", "d"]


@given(operation_graphs(), st.sampled_from(Trigger))
def test_a_plan_has_every_operation_in_each_of_its_hooks_or_leaves_it_out(
    operations: list[Json], trigger: Trigger
) -> None:
    pipeline = pipeline_of(*operations)
    plan = plan_turn(pipeline, trigger)
    omitted = {each.operation_id for each in plan.omitted}
    for hook in Hook:
        expected = {each.id for each in pipeline.operations if hook in each.hooks} - omitted
        assert sorted(ids(plan.steps[hook])) == sorted(expected)
    active = {each.id for each in pipeline.operations if each.enabled and trigger in each.triggers}
    assert active | omitted == set(pipeline.by_id)
    assert not active & omitted


@given(operation_graphs(), st.randoms(use_true_random=False))
def test_the_order_of_effects_does_not_depend_on_how_the_profile_is_written(operations: list[Json], rng: Any) -> None:
    shuffled = rng.sample(operations, len(operations))
    assert ids(commit_order(pipeline_of(*operations).operations)) == ids(
        commit_order(pipeline_of(*shuffled).operations)
    )


@given(operation_graphs())
def test_the_order_of_effects_is_topological_and_the_least_such_order(operations: list[Json]) -> None:
    """The least: no two neighbours could be exchanged for a lower rank."""
    ordered = commit_order(pipeline_of(*operations).operations)
    position = {each.id: number for number, each in enumerate(ordered)}
    assert all(position[other] < position[each.id] for each in ordered for other in each.depends_on)
    for earlier, later in pairwise(ordered):
        assert earlier.rank < later.rank or earlier.id in later.depends_on


@given(operation_graphs())
def test_a_step_waits_for_the_lowest_that_is_free(operations: list[Json]) -> None:
    """A greedy oracle: of all operations whose dependencies came before, the one of the lowest rank comes next."""
    pipeline = pipeline_of(*operations)
    done: list[str] = []
    while len(done) < len(operations):
        free = [each for each in pipeline.operations if each.id not in done and set(each.depends_on) <= set(done)]
        done.append(min(free, key=lambda each: each.rank).id)
    assert ids(commit_order(pipeline.operations)) == done
