"""Deliberate bugs of the protocol, put in at run time: a simulator that does not find them proves nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from tests.simulation.faults import ANY, Conditions
from tests.simulation.harness import Patches, stage

type PutIn = Callable[[Patches], None]


class Mutation(NamedTuple):
    """`conditions` are those under which the bug shows soonest."""

    put_in: PutIn
    conditions: Conditions


MUTATIONS: dict[str, Mutation] = {}


def mutation(conditions: Conditions = ANY) -> Callable[[PutIn], PutIn]:
    def keep(put_in: PutIn) -> PutIn:
        MUTATIONS[put_in.__name__] = Mutation(put_in, conditions)
        return put_in

    return keep


BARE, WILD = Conditions(is_bare=True), Conditions(has_wild_clocks=True)
TAME = Conditions(has_wild_clocks=False)


@mutation(BARE)
def acknowledge_before_recording(patches: Patches) -> None:
    from cupel_core.probing import committer

    write = committer._write

    def mutated(finished: Sequence[Any], ended: Sequence[Any]) -> None:
        _acknowledge(ended)
        write(finished, ended)

    patches.set(committer, "_write", mutated)


@mutation(BARE)
def acknowledge_before_propagating(patches: Patches) -> None:
    """The leaf is told, its message is deleted, and only then its parents are told."""
    from cupel_core import record_outcomes
    from cupel_core.probing import committer
    from cupel_core.store import barrier, executions

    write, propagate = committer._write, barrier.propagate

    def postpone(*args: Any) -> bool:
        _late().append(args)
        return False

    def mutated(finished: Sequence[Any], ended: Sequence[Any]) -> None:
        write(finished, ended)
        _acknowledge(ended)
        while _late():
            tree, node, leaf = _late().pop()
            if propagate(tree, node, leaf):
                epoch = next(work.piece.epoch for work in [*ended, *(one.work for one in finished)])
                executions.begin(tree.ref, epoch)

    patches.set(record_outcomes, "barrier", _with(barrier, propagate=postpone))
    patches.set(committer, "_write", mutated)


@mutation()
def count_instead_of_adding_to_a_set(patches: Patches) -> None:
    from cupel_core.domain.runs.barrier import Inner
    from cupel_core.settings import settings
    from cupel_core.store import barrier
    from cupel_core.store.clients import dynamodb

    def mutated(tree: Any, node: Any, value: int) -> Inner:
        answer = dynamodb().update_item(
            TableName=settings().table_name,
            Key=barrier._key(tree.ref, node, tree.generation),
            UpdateExpression="ADD told :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
            ReturnValues="UPDATED_NEW",
        )
        return Inner(frozenset(range(int(answer["Attributes"]["told"]["N"]))))

    patches.set(barrier, "_add_member", mutated)


@mutation()
def start_unnamed_executions(patches: Patches) -> None:
    from cupel_core.ids import new_id
    from cupel_core.store import executions

    start = executions._start
    patches.set(executions, "_start", lambda work: start(work._replace(name=new_id("execution"))))


@mutation()
def do_not_check_the_epoch(patches: Patches) -> None:
    from cupel_core.probing.run_cache import Watch

    async def mutated(self: Watch, ref: Any, epoch: int) -> Any:
        return await self.run(ref)

    patches.set(Watch, "open_run", mutated)


@mutation(BARE)
def do_not_look_again_for_a_later_epoch(patches: Patches) -> None:
    from cupel_core.domain.runs.run import ACTIVE
    from cupel_core.probing.run_cache import Watch

    async def mutated(self: Watch, ref: Any, epoch: int) -> Any:
        run = await self.run(ref)
        return run if run is not None and run.epoch == epoch and run.status in ACTIVE else None

    patches.set(Watch, "open_run", mutated)


@mutation()
def do_not_ask_before_a_call(patches: Patches) -> None:
    from cupel_core.probing.worker import Worker

    async def mutated(self: Worker, piece: Any) -> bool:
        return True

    patches.set(Worker, "_may_call", mutated)


@mutation(BARE)
def save_the_cursor_before_sending(patches: Patches) -> None:
    from cupel_core.runs import dispatch
    from cupel_core.store import outbox

    send = dispatch._send

    def advance(*args: Any) -> bool:
        is_ours = outbox.advance(*args)
        while _late():
            send(*_late().pop())
        return is_ours

    patches.set(dispatch, "_send", lambda *args: _late().append(args))
    patches.set(dispatch, "outbox", _with(outbox, advance=advance))


@mutation(TAME)
def ignore_the_claims_of_others(patches: Patches) -> None:
    from cupel_core.store.barrier import LeafItem

    patches.set(LeafItem, "others", lambda *_: [])


@mutation(WILD)
def let_the_last_writer_win(patches: Patches) -> None:
    from cupel_core.settings import settings
    from cupel_core.store import outcomes
    from cupel_core.store.clients import dynamodb

    def mutated(items: Sequence[Any], generation: int) -> None:
        puts: list[Any] = [{"Put": {"TableName": settings().table_name, "Item": item.serialize()}} for item in items]
        dynamodb().transact_write_items(TransactItems=puts)

    patches.set(outcomes, "_transact", mutated)


@mutation(BARE)
def propagate_only_what_is_new(patches: Patches) -> None:
    from cupel_core.probing import committer
    from cupel_core.record_outcomes import record
    from cupel_core.store import barrier
    from cupel_core.store.barrier import Tree

    def mutated(
        run: Any, epoch: int, found: Sequence[Any], known: Mapping[int, bool], released: Mapping[int, Sequence[str]]
    ) -> None:
        if found:
            record(run, epoch, found, known, released)
            return
        from cupel_core.domain.runs.barrier import Node

        for number, claimants in released.items():
            barrier.record(Tree.of(run), Node(0, number), known, claimants)  # type: ignore[arg-type]

    patches.set(committer, "record", mutated)


@mutation(TAME)
def do_not_verify_doubtful_probes(patches: Patches) -> None:
    from cupel_core.probing import claims
    from cupel_core.store import outcomes

    patches.set(claims, "outcomes", _with(outcomes, recorded=lambda *_: {}))


@mutation(BARE)
def hand_on_after_acknowledging(patches: Patches) -> None:
    from cupel_core.probing import committer

    write, hand_on = committer._write, committer._hand_on

    def mutated(finished: Sequence[Any], ended: Sequence[Any]) -> None:
        write(finished, ended)
        _acknowledge(ended)
        while _late():
            hand_on(_late().pop())

    patches.set(committer, "_hand_on", lambda work: _late().append(work))
    patches.set(committer, "_write", mutated)


@mutation()
def tell_the_barrier_before_storing_the_outcome(patches: Patches) -> None:
    from cupel_core import record_outcomes
    from cupel_core.domain.runs.barrier import leaf_of
    from cupel_core.domain.runs.transcripts import Transcript
    from cupel_core.store import barrier, outcomes
    from cupel_core.store.barrier import Tree

    def mutated(run: Any, epoch: int, found: Sequence[Any]) -> dict[int, bool]:
        for each in found:
            node = leaf_of(each.probe_index)
            barrier.record(Tree.of(run), node, {each.probe_index: isinstance(each, Transcript)})
        return outcomes.record(run, epoch, found)

    patches.set(record_outcomes, "outcomes", _with(outcomes, record=mutated))


@mutation(BARE)
def pause_without_a_new_epoch(patches: Patches) -> None:
    from cupel_core.domain.runs.run import MOVES, Action

    for action in (Action.PAUSE, Action.RESUME):
        patches.set_item(MOVES, action, replace(MOVES[action], new_epoch=False))


@mutation()
def move_a_run_without_looking(patches: Patches) -> None:
    """Writes a move on whatever status the run has come to."""
    from pynamodb.transactions import TransactWrite

    from cupel_core.store import runs
    from cupel_core.store.events import EventItem
    from cupel_core.store.run_items import RunItem

    class Mutated(TransactWrite):
        def save(self, model: Any, condition: Any = None, return_values: str | None = None) -> None:
            is_move = isinstance(model, RunItem | EventItem)
            super().save(model, None if is_move else condition, return_values)

    patches.set(runs, "TransactWrite", Mutated)


@mutation()
def forget_whose_key_it_is(patches: Patches) -> None:
    """Takes an Idempotency-Key that somebody else holds."""
    from cupel_core.store.starts import StartItem

    save = StartItem.save
    patches.set(StartItem, "save", lambda self, **_: save(self))


@mutation(TAME)
def start_a_conversation_anew(patches: Patches) -> None:
    """Does not go on after the last turn that was complete."""
    from cupel_core.probing import checkpoints as memory
    from cupel_core.store import checkpoints

    patches.set(memory, "checkpoints", _with(checkpoints, get=lambda *_: None))


@mutation()
def reopen_a_leaf_at_every_dispatch(patches: Patches) -> None:
    """Takes errors out of a leaf again that the present generation has put there."""
    from cupel_core.runs import reopen
    from cupel_core.store import barrier

    reopened = reopen._reopened

    def again(tree: Any, node: Any, offsets: Any) -> Any:
        values = {":offsets": barrier._number_set(offsets), ":generation": {"N": str(tree.generation)}}
        expression = "DELETE failed :offsets SET reopened = :generation"
        return barrier._update_leaf(tree.ref, node, expression, {}, values)

    patches.set(reopen, "barrier", _with(barrier, reopen=again))
    patches.set(
        reopen,
        "_reopened",
        lambda tree, node, item, ranges: reopened(tree, node, replace(item, reopened=0), ranges),
    )


def _late() -> list[Any]:
    """What the running invocation has put off; it dies with it."""
    assert stage.cloud is not None
    assert stage.cloud.world.current is not None
    return stage.cloud.world.current.invocation.late


def _acknowledge(ended: Sequence[Any]) -> None:
    from cupel_core.store import queues

    queues.delete([work.delivery for work in ended if not work.is_to_come_again])


class _with:  # noqa: N801 - reads as a word
    """A module with some of its names replaced."""

    def __init__(self, module: Any, **names: Any) -> None:
        self.__dict__.update(names)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)
