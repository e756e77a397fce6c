from typing import Any

import pytest

from cupel_core.base.messages import ProbeSlice
from cupel_core.domain.limits.governor import Limits, WorkerReport
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.run import Action, Priority, Run
from cupel_core.runs import dispatch
from cupel_core.runs.dispatch import prepare_leaves
from cupel_core.store import barrier, clients, governor, keys, outbox, queues, runs
from cupel_core.store.barrier import Tree
from cupel_core.store.settings import Settings
from tests.recorded_outcomes import count_outcomes
from tests.started_runs import NOW, RunSetup, dispatch_request, receive_bodies, ref_of


def plenty() -> float:
    return 600.0


def allow_many() -> None:
    governor.renew("ws_a", "sim", Limits(1_000), WorkerReport("w", Priority.NORMAL, 1, 0), NOW.timestamp())


def sent(cloud: Settings, provider: str) -> list[ProbeSlice]:
    return [ProbeSlice.model_validate_json(body) for body in receive_bodies(cloud.probe_queue_url(provider))]


def record(run: Run, probes: range) -> None:
    """Record these probes as completed."""
    for leaf in range(probes.start // 100, -(-probes.stop // 100)):
        covered = range(max(probes.start, leaf * 100), min(probes.stop, leaf * 100 + 100))
        count_outcomes(Tree.for_run(run), Node(0, leaf), dict.fromkeys(covered, True))


def indexes(slices: list[ProbeSlice]) -> list[int]:
    return sorted(index for probe_slice in slices for index in probe_slice.indexes)


def test_every_probe_is_sent_once_to_its_providers_queue(cloud: Settings) -> None:
    run = RunSetup(scenario_count=130, models=("sim/steady", "openai/gpt-5-mini")).start()
    dispatch.execute(dispatch_request(run), NOW, plenty)
    assert indexes(sent(cloud, "sim")) == list(range(130))
    assert indexes(sent(cloud, "openai")) == list(range(130, 260))


def test_probes_of_presets_and_own_servers_are_sent_to_the_queue_of_custom(cloud: Settings) -> None:
    run = RunSetup(scenario_count=10, models=("groq/llama", "custom-gpu/llama", "custom/llama")).start()
    dispatch.execute(dispatch_request(run), NOW, plenty)
    slices = sent(cloud, "custom")
    assert indexes(slices) == list(range(30))
    assert all(len({index // 10 for index in each.indexes}) == 1 for each in slices), "a slice has one account"


def test_a_slice_stays_in_its_leaf(cloud: Settings) -> None:
    run = RunSetup(scenario_count=250).start()
    dispatch.execute(dispatch_request(run), NOW, plenty)
    assert all(index // 100 == probe_slice.leaf for probe_slice in sent(cloud, "sim") for index in probe_slice.indexes)


def test_an_executed_dispatch_is_not_repeated(cloud: Settings) -> None:
    run = RunSetup().start()
    for _ in range(2):
        dispatch.execute(dispatch_request(run), NOW, plenty)
    assert indexes(sent(cloud, "sim")) == list(range(6))
    assert outbox.get(dispatch_request(run)) is None


def test_short_of_time_it_requeues_itself_and_continues_where_it_stopped(cloud: Settings) -> None:
    run = RunSetup(scenario_count=1_550).start()
    allow_many()
    left = iter([600.0, 1.0])
    dispatch.execute(dispatch_request(run), NOW, lambda: next(left))
    first = indexes(sent(cloud, "sim"))
    assert receive_bodies(cloud.dispatch_queue_url) == [dispatch_request(run).to_body()]
    dispatch.execute(dispatch_request(run), NOW, plenty)
    assert first + indexes(sent(cloud, "sim")) == list(range(1_550))
    assert outbox.get(dispatch_request(run)) is None


def test_a_large_run_is_sent_in_windows_as_its_probes_are_completed(cloud: Settings) -> None:
    run = RunSetup(scenario_count=4_500).start()
    dispatch.execute(dispatch_request(run), NOW, plenty)
    windows = [indexes(sent(cloud, "sim"))]
    for done in range(0, 2_500, 500):
        record(run, range(done, done + 500))
        dispatch.execute(dispatch_request(run), NOW, plenty)
        windows.append(indexes(sent(cloud, "sim")))
    assert windows == [list(range(2_000)), [], list(range(2_000, 3_000)), [], list(range(3_000, 4_500)), []]
    assert outbox.get(dispatch_request(run)) is None


def test_no_more_is_sent_for_what_others_have_in_the_queue(cloud: Settings) -> None:
    """Nor less."""
    run, other = RunSetup(scenario_count=3_500).start(), RunSetup(scenario_count=3_500, workspace="ws_b").start()
    for each in (other, run):
        dispatch.execute(dispatch_request(each), NOW, plenty)
    by_run = [each.run_id for each in sent(cloud, "sim")]
    assert by_run.count(run.id) == by_run.count(other.id) == 20


@pytest.mark.parametrize("number", [2, 5, 30])
def test_the_runs_of_a_workspace_share_its_window(cloud: Settings, number: int) -> None:
    runs_of_it = [RunSetup(scenario_count=3_500).start() for _ in range(number)]
    for run in runs_of_it:
        dispatch.execute(dispatch_request(run), NOW, plenty)
    probes = len(indexes(sent(cloud, "sim")))
    assert probes <= max(2_200, 100 * number), "as much as one run, but at least a leaf of each"


def test_a_tenant_that_starts_one_run_after_the_other_gets_little_more_than_one_window(cloud: Settings) -> None:
    probes = 0
    for _ in range(30):
        run = RunSetup(scenario_count=1_000).start()
        dispatch.execute(dispatch_request(run), NOW, plenty)
        probes += len(indexes([each for each in sent(cloud, "sim") if each.run_id == run.id]))
    assert probes < 9_000


def test_runs_that_are_paused_or_in_other_queues_take_nothing_of_the_window(cloud: Settings) -> None:
    run = RunSetup(scenario_count=3_500).start()
    RunSetup(scenario_count=10, models=("openai/gpt-5-mini",)).start()
    runs.transition(ref_of(RunSetup(scenario_count=10).start()), Action.PAUSE, NOW)
    assert dispatch.window_of(run, "sim").size == 1_000
    resumed = RunSetup(scenario_count=10).start()
    runs.transition(ref_of(resumed), Action.PAUSE, NOW)
    runs.transition(ref_of(resumed), Action.RESUME, NOW)
    assert dispatch.window_of(run, "sim").size == 500


def test_presets_share_the_window_of_their_queue(cloud: Settings) -> None:
    run = RunSetup(scenario_count=3_500, models=("groq/llama",)).start()
    RunSetup(scenario_count=10, models=("custom-gpu/llama",)).start()
    assert dispatch.window_of(run, "groq").size == 500


def test_many_runs_of_a_workspace_are_checked_less_often(cloud: Settings) -> None:
    runs_of_it = [RunSetup(scenario_count=1).start() for _ in range(20)]
    assert dispatch.window_of(runs_of_it[0], "sim").recheck_seconds == 4


def test_without_room_it_checks_less_and_less_often(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunSetup(scenario_count=4_500).start()
    send, checks = queues.send, [(dispatch_request(run), 0)]

    def note(url: str, messages: Any, delay_seconds: int = 0, group: str | None = None) -> None:
        if url == cloud.dispatch_queue_url:
            checks.append((messages[0], delay_seconds))
        else:
            send(url, messages, delay_seconds, group)

    monkeypatch.setattr(queues, "send", note)
    for _ in range(4):
        dispatch.execute(checks[-1][0], NOW, plenty)
    assert [delay for _, delay in checks] == [0, 1, 2, 4, 4]
    record(run, range(1_000))
    dispatch.execute(checks[-1][0], NOW, plenty)
    assert checks[-1][1] == 1, "something was sent in the meantime"


def test_a_small_run_is_sent_at_once_behind_a_large_one(cloud: Settings) -> None:
    large, small = RunSetup(scenario_count=2_500).start(), RunSetup(scenario_count=50).start()
    dispatch.execute(dispatch_request(large), NOW, plenty)
    dispatch.execute(dispatch_request(small), NOW, plenty)
    assert outbox.get(dispatch_request(small)) is None
    assert {probe_slice.run_id for probe_slice in sent(cloud, "sim")} == {large.id, small.id}


def test_a_provider_with_room_does_not_wait_for_one_without(cloud: Settings) -> None:
    run = RunSetup(scenario_count=3_500, models=("sim/steady", "openai/gpt-5-mini")).start()
    dispatch.execute(dispatch_request(run), NOW, plenty)
    assert indexes(sent(cloud, "openai")) == list(range(3_500, 5_500))
    record(run, range(3_500, 5_500))
    dispatch.execute(dispatch_request(run), NOW, plenty)
    assert indexes(sent(cloud, "openai")) == list(range(5_500, 7_000))
    assert indexes(sent(cloud, "sim")) == list(range(2_000))


def test_the_targets_of_a_provider_are_sent_side_by_side(cloud: Settings) -> None:
    run = RunSetup(scenario_count=2_000, models=("sim/steady", "sim/rater")).start()
    dispatch.execute(dispatch_request(run), NOW, plenty)
    assert indexes(sent(cloud, "sim")) == [*range(1_000), *range(2_000, 3_000)]


def test_only_one_of_two_concurrent_deliveries_continues(cloud: Settings) -> None:
    run = RunSetup(scenario_count=2_500).start()
    seen = outbox.get(dispatch_request(run))
    assert seen
    assert outbox.advance(seen, {"sim": 10}, NOW)
    assert outbox.advance(seen, {"sim": 10}, NOW), "its own write, met by a retry after a lost reply"
    assert not outbox.advance(seen, {"sim": 20}, NOW)


def test_a_completed_dispatch_is_not_restored(cloud: Settings) -> None:
    run = RunSetup().start()
    seen = outbox.get(dispatch_request(run))
    assert seen
    outbox.remove(dispatch_request(run))
    assert not outbox.advance(seen, {"sim": 1}, NOW)
    assert outbox.get(dispatch_request(run)) is None


def test_how_much_may_be_sent_depends_on_the_accounts_limit_and_on_the_workers(cloud: Settings) -> None:
    run = RunSetup(scenario_count=9_000).start()
    waits = [dispatch.seconds_until_capacity(run, "sim", {0: leaves}) for leaves in (11, 12)]
    assert waits == [0, 1]
    allow_many()
    waits = [dispatch.seconds_until_capacity(run, "sim", {0: leaves}) for leaves in (39, 40)]
    assert waits == [0, 1], "two workers complete no more than 1,000 probes per second"


def test_a_paused_provider_has_no_capacity(cloud: Settings) -> None:
    governor.set_paused("ws_a", "sim", True)
    assert dispatch.seconds_until_capacity(RunSetup().start(), "sim", {0: 1}) == 20


def test_a_run_deleted_during_dispatch_is_sent_no_further(cloud: Settings) -> None:
    run = RunSetup(scenario_count=1_550).start()

    def plenty_while_the_run_is_deleted() -> float:
        runs.delete(ref_of(run), NOW, erase_from=NOW)
        return plenty()

    dispatch.execute(dispatch_request(run), NOW, plenty_while_the_run_is_deleted)
    assert outbox.get(dispatch_request(run)) is None
    assert indexes(sent(cloud, "sim")) == list(range(1_000))


def test_a_request_with_an_old_fencing_token_sends_nothing(cloud: Settings) -> None:
    run = RunSetup().start()
    runs.transition(ref_of(run), Action.PAUSE, NOW)
    dispatch.execute(dispatch_request(run), NOW, plenty)
    assert sent(cloud, "sim") == []
    assert outbox.get(dispatch_request(run)) is None


def test_a_resumed_run_is_sent_its_missing_probes(cloud: Settings) -> None:
    run = RunSetup().start()
    count_outcomes(Tree.for_run(run), Node(0, 0), {0: True, 3: False})
    runs.transition(ref_of(run), Action.PAUSE, NOW)
    resumed = runs.transition(ref_of(run), Action.RESUME, NOW)
    dispatch.execute(dispatch_request(resumed), NOW, plenty)
    assert indexes(sent(cloud, "sim")) == [1, 2, 4, 5]


def test_a_resumed_run_without_missing_probes_is_finished(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup(scenario_count=1).start()
    count_outcomes(Tree.for_run(run), Node(0, 0), {0: True})
    runs.transition(ref_of(run), Action.PAUSE, NOW)
    resumed = runs.transition(ref_of(run), Action.RESUME, NOW)
    dispatch.execute(dispatch_request(resumed), NOW, plenty)
    assert set(finish_starts) == {(run.id, 3)}


def test_a_full_node_is_reported_with_whichever_of_its_leaves_is_prepared(cloud: Settings) -> None:
    """The window that is repeated after a crash need not contain the node's first leaf."""
    run = RunSetup(scenario_count=1, repeats=10_200).start()
    tree, root = Tree.for_run(run), Node(2, 0)
    for number in (100, 101):
        indexes = range(100 * number, 100 * number + 100)
        barrier.propagate(tree, Node(0, number), count_outcomes(tree, Node(0, number), dict.fromkeys(indexes, True)))
    key = {"pk": {"S": keys.barrier_nodes(tree.ref, root, tree.retry_round)}, "sk": {"S": keys.barrier_node(0)}}
    clients.dynamodb().delete_item(TableName=cloud.table_name, Key=key)  # As if its write had been lost.
    prepare_leaves(run, [101])
    assert barrier.get_inner(tree, root).full_children == {1}


def test_only_the_failed_part_of_a_batch_is_sent_again(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunSetup(scenario_count=30).start()
    real, refused = clients.sqs().send_message_batch, []

    def refuse_the_first(**request: object) -> dict[str, object]:
        entries = list(request["Entries"])  # type: ignore[call-overload]
        if refused:
            return real(**request)  # type: ignore[arg-type, return-value]
        refused.append(entries.pop(0)["Id"])
        answer = real(QueueUrl=request["QueueUrl"], Entries=entries)  # type: ignore[arg-type]
        return {**answer, "Failed": [{"Id": refused[0], "SenderFault": False, "Code": "InternalError"}]}

    monkeypatch.setattr(clients.sqs(), "send_message_batch", refuse_the_first)
    dispatch.execute(dispatch_request(run), NOW, plenty)
    assert indexes(sent(cloud, "sim")) == list(range(30))


def test_a_short_remainder_is_sent_with_the_last_window(cloud: Settings) -> None:
    run = RunSetup(scenario_count=1_500).start()
    dispatch.execute(dispatch_request(run), NOW, plenty)
    assert indexes(sent(cloud, "sim")) == list(range(1_500))
    assert outbox.get(dispatch_request(run)) is None
