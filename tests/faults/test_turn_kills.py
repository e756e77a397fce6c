"""The worker of a turn is killed in each phase: what it had recorded is not paid again, and the turn ends.

What its calls in flight may have cost is part of the turn.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cupel.client import Client
from cupel.stack.paths import StackPaths
from cupel_core.base.messages import ChatRef
from cupel_core.store import keys
from tests.eval_api import Json, wait_until
from tests.kills import kill_workers, query, set_attribute
from tests.profiles import AFTER, BEFORE, operation, profile
from tests.stacks import ModelServer, table_of

ANSWER = "one two three four five six seven eight"
DISTANT_PAST = "2020-01-01T00:00:00.000000+00:00"
SLOW_SECONDS = 30.0
"""Of a call that is not answered before its worker is killed."""


def called(name: str, hook: str, **fields: Any) -> Json:
    params = {"target": {"model": f"custom/{name}"}, "prompt": f"{name}: {{{{ user.text }}}}"}
    return operation(name, kind="llm", hooks=[hook], params=params, effects=[], **fields)


class Turns:
    """Turns with operations before and after the call, each of a model of its own."""

    def __init__(
        self, api: Client, models: ModelServer, aws: Callable[[str], Any], paths: StackPaths, profile_id: str
    ) -> None:
        self.api, self.models, self.aws, self.paths = api, models, aws, paths
        chat = api.create_chat({"target": {"model": "custom/main"}, "profileId": profile_id})
        self.chat_id, self.branch_id = str(chat["id"]), str(chat["activeBranchId"])
        self.turn_id = ""
        models.reset()
        models.configure(answer=ANSWER)

    def start(self) -> None:
        body = {"content": "hello", "deadlineMs": 240_000}
        self.turn_id = str(self.api.start_turn(self.chat_id, body)["id"])

    def events(self) -> list[Json]:
        return self.api.list_turn_events(self.chat_id, self.turn_id)["items"]

    def recorded(self) -> set[str]:
        """The calls whose end was told."""
        told = [(each["type"], each["data"]) for each in self.events()]
        ends = {str(data["operationId"]) for kind, data in told if kind == "operation.finished"}
        return ends | {"main" for kind, _ in told if kind == "main_llm.finished"}

    def has_text(self) -> bool:
        return self.api.list_turn_events(self.chat_id, self.turn_id)["text"] is not None

    def calls(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for key, number in self.models.counts()["prompts"].items():
            counts[key.partition(" ")[0]] += number
        return counts

    def kill_worker(self) -> None:
        assert kill_workers(self.paths, "turn") >= 1

    def recover(self) -> Json:
        """Let the claim of the dead worker expire, and the sweeper send the order again; the turn at its end."""
        dynamodb, table = self.aws("dynamodb"), table_of(self.aws)
        for item in query(dynamodb, table, keys.OPEN_TURNS):
            set_attribute(dynamodb, table, item, "touchedAt", {"S": DISTANT_PAST})
            ref = ChatRef(item["workspace"]["S"], item["chatId"]["S"])
            turn = {"pk": {"S": keys.chat_turns(ref)}, "sk": item["turnId"]}
            for name in ("claimedUntil", "createdAt"):
                set_attribute(dynamodb, table, turn, name, {"S": DISTANT_PAST})
        swept = self.aws("lambda").invoke(FunctionName="cupel-sweep", Payload=b"{}")
        assert "FunctionError" not in swept, swept["Payload"].read()

        def over() -> Json | None:
            turn = self.api.get_turn(self.chat_id, self.turn_id)
            return turn if turn["finishedAt"] is not None else None

        return wait_until(over, seconds=60) or {}


@pytest.fixture(scope="module")
def profile_id(api: Client) -> str:
    operations = [
        called("plan", BEFORE),
        called("style", BEFORE, dependsOn=["plan"]),
        called("review", AFTER),
    ]
    return str(api.create_profile(profile(*operations, name="killed"))["id"])


@pytest.fixture
def turns(
    api: Client, models: ModelServer, aws: Callable[[str], Any], stack_paths: StackPaths, profile_id: str
) -> Iterator[Turns]:
    price = {"inputUsdPerMillion": 1, "outputUsdPerMillion": 1}
    prices = [{"model": name, **price} for name in ("plan", "style", "main", "review")]
    api.update_provider("custom", {"prices": prices})
    yield Turns(api, models, aws, stack_paths, profile_id)
    api.update_provider("custom", {"prices": None})


def accepted(turns: Turns) -> None:
    turns.start()


def before_main(turns: Turns) -> None:
    """The second operation waits for its answer."""
    turns.models.configure(latencySeconds=1.0)
    turns.start()
    wait_until(lambda: turns.calls()["plan"] == 1)
    turns.models.configure(latencySeconds=SLOW_SECONDS)
    wait_until(lambda: turns.calls()["style"] == 1 and turns.models.counts()["inFlight"])
    wait_until(lambda: "plan" in turns.recorded())


def barrier(turns: Turns) -> None:
    """The operations before the call have ended, and the model has written nothing yet."""
    turns.models.configure(latencySeconds=1.0)
    turns.start()
    wait_until(lambda: turns.calls()["style"] == 1)
    turns.models.configure(latencySeconds=SLOW_SECONDS)
    wait_until(lambda: "style" in turns.recorded() and turns.calls()["main"] == 1)


def main_call(turns: Turns) -> None:
    """The model is writing."""
    turns.models.configure(wordSeconds=0.5)
    turns.start()
    wait_until(turns.has_text, every=0.05)


def after_main(turns: Turns) -> None:
    """The operation after the call waits for its answer."""
    turns.models.configure(wordSeconds=0.2)
    turns.start()
    wait_until(turns.has_text, every=0.05)
    turns.models.configure(latencySeconds=SLOW_SECONDS)
    wait_until(lambda: turns.calls()["review"] == 1)
    wait_until(lambda: "main" in turns.recorded())


def end(turns: Turns) -> None:
    """When the last operation has ended; the turn may have ended, too. test_turn_crashes.py stops at each write."""
    turns.start()
    wait_until(lambda: "review" in turns.recorded(), every=0.005)


@pytest.mark.parametrize("phase", [accepted, before_main, barrier, main_call, after_main, end])
def test_a_turn_whose_worker_is_killed_ends_and_pays_for_nothing_recorded_again(
    turns: Turns, phase: Callable[[Turns], None]
) -> None:
    phase(turns)
    turns.kill_worker()
    recorded, calls = turns.recorded(), turns.calls()
    turns.models.configure(latencySeconds=0, wordSeconds=0)
    started_at = time.monotonic()
    turn = turns.recover()
    again = turns.calls()
    print(f"{phase.__name__}: recorded {sorted(recorded)}, {dict(calls)}, then {dict(again)}", end=" ")
    print(f"in {time.monotonic() - started_at:.1f} s")
    assert (turn["status"], set(again)) == ("done", {"plan", "style", "main", "review"})
    assert {name: again[name] for name in recorded} == {name: calls[name] for name in recorded}
    assert max(again.values()) <= 2
    assert turn["operationsSpend"]["calls"] == 3
    is_repeated = again.total() > len(again)
    assert turn["uncertainUsd"] > 0 if is_repeated else phase is not end or turn["uncertainUsd"] == 0
    told = turns.events()
    assert [each["seq"] for each in told] == list(range(1, len(told) + 1))
    (exchange,) = turns.api.list_exchanges(turns.chat_id, turns.branch_id)
    assert (exchange["answer"]["content"], exchange["answer"]["variantCount"]) == (ANSWER, 1)


def test_a_turn_that_is_aborted_after_its_worker_was_killed_keeps_what_was_written(turns: Turns) -> None:
    main_call(turns)
    turns.kill_worker()
    for item in query(turns.aws("dynamodb"), table_of(turns.aws), keys.OPEN_TURNS):
        ref = ChatRef(item["workspace"]["S"], item["chatId"]["S"])
        turn = {"pk": {"S": keys.chat_turns(ref)}, "sk": item["turnId"]}
        set_attribute(turns.aws("dynamodb"), table_of(turns.aws), turn, "claimedUntil", {"S": DISTANT_PAST})
    aborted = turns.api.abort_turn(turns.chat_id, turns.turn_id)
    assert (aborted["status"], aborted["uncertainUsd"] > 0) == ("aborted", True)
    (exchange,) = turns.api.list_exchanges(turns.chat_id, turns.branch_id)
    answer = exchange["answer"]
    assert (answer["status"], bool(answer["content"]), ANSWER.startswith(answer["content"])) == ("aborted", True, True)
