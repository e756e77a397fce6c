"""Rules about what an operation depends on, and on which condition it runs."""

from collections.abc import Iterator

from cupel_core.domain.pipeline.operations import ProfileOperation, RunCondition
from cupel_core.domain.pipeline.params import GuardParams
from cupel_core.domain.pipeline.profiles import Pipeline, ProfileIssue


def dependency_issues(pipeline: Pipeline) -> Iterator[ProfileIssue]:
    for number, operation in enumerate(pipeline.operations):
        field = f"operations.{number}"
        for position in range(len(operation.depends_on)):
            if message := _dependency_error(pipeline, operation, position):
                yield ProfileIssue(f"{field}.dependsOn.{position}", message)
        for position, condition in enumerate(operation.run_conditions):
            if issue := _condition_issue(pipeline, operation, condition):
                yield ProfileIssue(f"{field}.runConditions.{position}.{issue.field}", issue.message)
    yield from _cycles(pipeline)


def no_such_operation(pipeline: Pipeline, operation_id: str, own_id: str) -> str:
    others = ", ".join(each for each in pipeline.by_id if each != own_id)
    return f"there is no operation {operation_id}; " + (f"the others are {others}" if others else "there are no others")


def _dependency_error(pipeline: Pipeline, operation: ProfileOperation, position: int) -> str | None:
    other = operation.depends_on[position]
    if other == operation.id:
        return "cannot depend on itself"
    if other not in pipeline.by_id:
        return no_such_operation(pipeline, other, operation.id)
    if other in operation.depends_on[:position]:
        return f"{other} is named twice"
    return _hook_error(operation, pipeline.by_id[other])


def _hook_error(operation: ProfileOperation, other: ProfileOperation) -> str | None:
    if set(operation.hooks) <= set(other.hooks):
        return None
    return f"{other.id} runs in {other.hooks[0]} only: a dependency cannot cross the main call"


def _condition_issue(pipeline: Pipeline, operation: ProfileOperation, condition: RunCondition) -> ProfileIssue | None:
    guard = pipeline.by_id.get(condition.operation_id)
    if guard is None:
        return ProfileIssue("operationId", no_such_operation(pipeline, condition.operation_id, operation.id))
    if not isinstance(guard.params, GuardParams):
        return ProfileIssue("operationId", f"{guard.id} is not a guard")
    if guard.id not in operation.depends_on:
        return ProfileIssue("operationId", f"{guard.id} must also be in dependsOn")
    if condition.output not in guard.params.keys:
        known = ", ".join(guard.params.keys)
        return ProfileIssue("output", f"guard {guard.id} has no output {condition.output}; it has {known}")
    return None


def _cycles(pipeline: Pipeline) -> Iterator[ProfileIssue]:
    """Each cycle once, at its first operation. An operation that depends on itself has been reported."""
    reported: set[str] = set()
    for number, operation in enumerate(pipeline.operations):
        if operation.id in reported or pipeline.by_id[operation.id] is not operation:
            continue
        path = _way_back(pipeline, operation.id)
        if len(path) > 1 and not reported.intersection(path):
            reported.update(path)
            chain = " → ".join((*path, operation.id))
            yield ProfileIssue(f"operations.{number}.dependsOn", f"depends on itself through {chain}")


def _way_back(pipeline: Pipeline, start: str) -> tuple[str, ...]:
    """The shortest path of dependencies from an operation to itself, without its end; empty if there is none."""
    paths: dict[str, tuple[str, ...]] = {start: (start,)}
    pending = [start]
    for node in pending:
        operation = pipeline.by_id.get(node)
        for other in operation.depends_on if operation else ():
            if other == start and node != start:
                return paths[node]
            if other not in paths:
                paths[other] = (*paths[node], other)
                pending.append(other)
    return ()
