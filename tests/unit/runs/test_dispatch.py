from typing import Any

import pytest

from cupel_core.domain.limits.governor import Limits, Report
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.run import Action, Priority
from cupel_core.messages import ProbeSlice
from cupel_core.runs import backpressure, dispatch
from cupel_core.settings import Settings
from cupel_core.store import barrier, clients, governor, outbox, queues, runs
from cupel_core.store.barrier import Tree
from tests.started_runs import NOW, Given, order_of, ref_of, waiting


def plenty() -> float:
    return 600.0


def allow_many() -> None:
    governor.renew("ws_a", "sim", Limits(1_000), Report("w", Priority.NORMAL, 1, 0), NOW.timestamp())


def sent(cloud: Settings, provider: str) -> list[ProbeSlice]:
    return [ProbeSlice.model_validate_json(body) for body in waiting(cloud.probe_queue_url(provider))]


def indexes(slices: list[ProbeSlice]) -> list[int]:
    return sorted(index for piece in slices for index in piece.indexes)


def test_every_probe_is_sent_once_to_its_providers_queue(cloud: Settings) -> None:
    run = Given(scenario_count=130, models=("sim/steady", "openai/gpt-5-mini")).start()
    dispatch.carry_out(order_of(run), NOW, plenty)
    assert indexes(sent(cloud, "sim")) == list(range(130))
    assert indexes(sent(cloud, "openai")) == list(range(130, 260))


def test_a_slice_stays_in_its_leaf(cloud: Settings) -> None:
    run = Given(scenario_count=250).start()
    dispatch.carry_out(order_of(run), NOW, plenty)
    assert all(index // 100 == piece.leaf for piece in sent(cloud, "sim") for index in piece.indexes)


def test_a_dispatch_that_was_carried_out_is_not_repeated(cloud: Settings) -> None:
    run = Given().start()
    for _ in range(2):
        dispatch.carry_out(order_of(run), NOW, plenty)
    assert indexes(sent(cloud, "sim")) == list(range(6))
    assert outbox.get(order_of(run)) is None


def test_short_of_time_it_orders_itself_again_and_goes_on_where_it_stopped(cloud: Settings) -> None:
    run = Given(scenario_count=1_550).start()
    allow_many()
    left = iter([600.0, 1.0])
    dispatch.carry_out(order_of(run), NOW, lambda: next(left))
    first = indexes(sent(cloud, "sim"))
    assert waiting(cloud.dispatch_queue_url) == [order_of(run).to_body()]
    dispatch.carry_out(order_of(run), NOW, plenty)
    assert first + indexes(sent(cloud, "sim")) == list(range(1_550))
    assert outbox.get(order_of(run)) is None


def test_a_large_run_is_sent_in_windows_as_its_queue_has_room(cloud: Settings) -> None:
    run = Given(scenario_count=2_500).start()
    dispatch.carry_out(order_of(run), NOW, plenty)
    dispatch.carry_out(order_of(run), NOW, plenty)
    windows = [indexes(sent(cloud, "sim"))]
    while outbox.get(order_of(run)):
        dispatch.carry_out(order_of(run), NOW, plenty)
        windows.append(indexes(sent(cloud, "sim")))
    assert windows == [list(range(1_000)), list(range(1_000, 2_500))]
    assert queues.depth(cloud.dispatch_queue_url).delayed == 2


def test_without_room_it_looks_less_and_less_often(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Given(scenario_count=3_500).start()
    send, looks = queues.send, [(order_of(run), 0)]

    def note(url: str, messages: Any, delay_seconds: int = 0, group: str | None = None) -> None:
        if url == cloud.dispatch_queue_url:
            looks.append((messages[0], delay_seconds))
        else:
            send(url, messages, delay_seconds, group)

    monkeypatch.setattr(queues, "send", note)
    for _ in range(4):
        dispatch.carry_out(looks[-1][0], NOW, plenty)
    assert [delay for _, delay in looks] == [0, 1, 2, 4, 4]
    sent(cloud, "sim")
    dispatch.carry_out(looks[-1][0], NOW, plenty)
    assert looks[-1][1] == 1, "something was sent in the meantime"


def test_a_small_run_is_sent_at_once_behind_a_large_one(cloud: Settings) -> None:
    large, small = Given(scenario_count=2_500).start(), Given(scenario_count=50).start()
    dispatch.carry_out(order_of(large), NOW, plenty)
    dispatch.carry_out(order_of(small), NOW, plenty)
    assert outbox.get(order_of(small)) is None
    assert {piece.run_id for piece in sent(cloud, "sim")} == {large.id, small.id}


def test_a_provider_with_room_does_not_wait_for_one_without(cloud: Settings) -> None:
    run = Given(scenario_count=2_500, models=("sim/steady", "openai/gpt-5-mini")).start()
    dispatch.carry_out(order_of(run), NOW, plenty)
    assert indexes(sent(cloud, "openai")) == list(range(2_500, 3_500))
    dispatch.carry_out(order_of(run), NOW, plenty)
    assert indexes(sent(cloud, "openai")) == list(range(3_500, 5_000))
    assert indexes(sent(cloud, "sim")) == list(range(1_000))


def test_of_two_deliveries_of_an_order_one_goes_on(cloud: Settings) -> None:
    run = Given(scenario_count=2_500).start()
    seen = outbox.get(order_of(run))
    assert seen
    assert outbox.advance(seen, {"sim": 10}, NOW)
    assert outbox.advance(seen, {"sim": 10}, NOW), "its own write, met by a retry after a lost reply"
    assert not outbox.advance(seen, {"sim": 20}, NOW)


def test_a_dispatch_that_is_over_is_not_brought_back(cloud: Settings) -> None:
    run = Given().start()
    seen = outbox.get(order_of(run))
    assert seen
    outbox.remove(order_of(run))
    assert not outbox.advance(seen, {"sim": 1}, NOW)
    assert outbox.get(order_of(run)) is None


def test_the_room_of_a_queue_goes_by_what_its_account_works_off(cloud: Settings) -> None:
    run = Given(scenario_count=1_000).start()
    dispatch.carry_out(order_of(run), NOW, plenty)
    assert backpressure.seconds_until(run, "sim") == 1
    allow_many()
    assert backpressure.seconds_until(run, "sim") == 0


def test_a_paused_provider_has_no_room(cloud: Settings) -> None:
    governor.set_paused("ws_a", "sim", True)
    assert backpressure.seconds_until(Given().start(), "sim") == 20


def test_a_run_that_is_deleted_meanwhile_is_sent_no_further(cloud: Settings) -> None:
    run = Given(scenario_count=1_550).start()

    def plenty_while_somebody_deletes_it() -> float:
        runs.delete(ref_of(run), NOW)
        return plenty()

    dispatch.carry_out(order_of(run), NOW, plenty_while_somebody_deletes_it)
    assert outbox.get(order_of(run)) is None
    assert indexes(sent(cloud, "sim")) == list(range(1_000))


def test_an_order_of_an_old_epoch_sends_nothing(cloud: Settings) -> None:
    run = Given().start()
    runs.move(ref_of(run), Action.PAUSE, NOW)
    dispatch.carry_out(order_of(run), NOW, plenty)
    assert sent(cloud, "sim") == []
    assert outbox.get(order_of(run)) is None


def test_a_resumed_run_is_sent_what_is_missing(cloud: Settings) -> None:
    run = Given().start()
    barrier.record(Tree.of(run), Node(0, 0), {0: True, 3: False})
    runs.move(ref_of(run), Action.PAUSE, NOW)
    resumed = runs.move(ref_of(run), Action.RESUME, NOW)
    dispatch.carry_out(order_of(resumed), NOW, plenty)
    assert indexes(sent(cloud, "sim")) == [1, 2, 4, 5]


def test_a_resumed_run_that_misses_nothing_is_finished(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    run = Given(scenario_count=1).start()
    barrier.record(Tree.of(run), Node(0, 0), {0: True})
    runs.move(ref_of(run), Action.PAUSE, NOW)
    resumed = runs.move(ref_of(run), Action.RESUME, NOW)
    dispatch.carry_out(order_of(resumed), NOW, plenty)
    assert set(finishing) == {(run.id, 3)}


def test_a_batch_that_fails_in_part_is_sent_again_in_part(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Given(scenario_count=30).start()
    real, refused = clients.sqs().send_message_batch, []

    def refuse_the_first(**request: object) -> dict[str, object]:
        entries = list(request["Entries"])  # type: ignore[call-overload]
        if refused:
            return real(**request)  # type: ignore[arg-type, return-value]
        refused.append(entries.pop(0)["Id"])
        answer = real(QueueUrl=request["QueueUrl"], Entries=entries)  # type: ignore[arg-type]
        return {**answer, "Failed": [{"Id": refused[0], "SenderFault": False, "Code": "InternalError"}]}

    monkeypatch.setattr(clients.sqs(), "send_message_batch", refuse_the_first)
    dispatch.carry_out(order_of(run), NOW, plenty)
    assert indexes(sent(cloud, "sim")) == list(range(30))


def test_a_short_rest_goes_with_the_last_window(cloud: Settings) -> None:
    run = Given(scenario_count=1_500).start()
    dispatch.carry_out(order_of(run), NOW, plenty)
    assert indexes(sent(cloud, "sim")) == list(range(1_500))
    assert outbox.get(order_of(run)) is None
