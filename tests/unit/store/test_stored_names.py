"""Stored names are those of the first version, whatever they are called in Python: a stack is upgraded in place."""

from typing import Any

import orjson
import pytest

from cupel_core.messages import RunRef
from cupel_core.settings import Settings, settings
from cupel_core.store import clients, governor, keys, outbox, selections
from cupel_core.store.outbox import OutboxItem
from cupel_core.store.outcome_items import OutcomeItem
from cupel_core.store.rescores import OpenRescoreItem
from cupel_core.store.run_items import RunItem
from cupel_core.store.selections import SelectionItem
from cupel_core.store.table import Item
from tests.started_runs import NOW

REF = RunRef("ws_a", "run_a")
LEASE = {
    "priority": "NORMAL",
    "wanted": 25,
    "until": 1_800_000_006.0,
    "share": 25,
    "granted": 25,
    "held": 25,
    "requests": 198,
    "tokens": 3_324.5,
}
BREAKER = {
    "refusals": 5,
    "recent": "x.",
    "opened_at": 1_800_000_000.0,
    "until": 1_800_000_030.0,
    "openings": 1,
    "reason": "5 calls in a row were refused: auth",
    "trial_of": None,
    "trial_until": 0.0,
}
GOVERNOR = {
    "limit": 50,
    "learned": 40,
    "lowered_at": 1.0,
    "raised_at": 2.0,
    "blocked_until": 3.0,
    "paused_at": None,
    "requests": {"level": -2.0, "at": 1_800_000_000.0},
    "tokens": None,
    "seats": {"worker": LEASE},
    "breakers": {"openai/m": BREAKER},
}
SPEND = {"calls": 1, "inputTokens": 3, "outputTokens": 4, "costUsd": 0.5}


def stored(pk: str, sk: str) -> dict[str, Any]:
    key = {"pk": {"S": pk}, "sk": {"S": sk}}
    return dict(clients.dynamodb().get_item(TableName=settings().table_name, Key=key)["Item"])


def store(pk: str, sk: str, attributes: dict[str, Any]) -> None:
    item = {"pk": {"S": pk}, "sk": {"S": sk}, **attributes}
    clients.dynamodb().put_item(TableName=settings().table_name, Item=item)


def test_a_governor_with_the_leases_of_release_0_1_is_read_and_written_compactly(cloud: Settings) -> None:
    pk, body = keys.governor("ws_a"), orjson.dumps(GOVERNOR).decode()
    store(pk, "openai", {"version": {"N": "7"}, "token": {"S": "t"}, "body": {"S": body}})
    assert governor.get_status("ws_a", "openai").learned_limit == 40
    governor.set_paused("ws_a", "openai", True)
    written = orjson.loads(stored(pk, "openai")["body"]["S"])
    assert {name: written[name] for name in GOVERNOR.keys() - {"seats"}} == {
        **{name: value for name, value in GOVERNOR.items() if name != "seats"},
        "paused_at": written["paused_at"],
    }
    assert (written["epoch"], written["leases"]) == (1_800_000_006, {"worker": "N,25,0,25,25,198,3324"})


def test_a_selection_is_read_and_written_with_the_stored_names(cloud: Settings) -> None:
    pk, sk = "ws_a#run#run_a#contests#run#0", "0000003#000001"
    body = {"entrants": [3, 4], "generation": 2, "winner": 4, "reason": "clearer", "error": None, "spend": SPEND}
    store(pk, sk, {"generation": {"N": "2"}, "body": {"S": orjson.dumps(body).decode()}})
    selection = selections.get(REF, selections.RUN_SCORING, 3, 1)
    assert selection is not None
    selections.record(REF, "scr_a", 3, 1, selection, None)
    written = stored("ws_a#run#run_a#contests#scr_a#0", sk)
    assert (written["generation"], orjson.loads(written["body"]["S"])) == ({"N": "2"}, body)


def test_a_dispatch_is_stored_with_the_stored_names(cloud: Settings) -> None:
    OutboxItem.for_run(REF, 3, NOW).save()
    assert stored("outbox", "run_a#000003")["epoch"] == {"N": "3"}
    assert [request.fencing_token for request in outbox.list_untouched_since(NOW.replace(year=2100))] == [3]


@pytest.mark.parametrize(
    ("item", "name", "stored_name"),
    [
        (RunItem, "fencing_token", "epoch"),
        (OutcomeItem, "fencing_token", "epoch"),
        (OutboxItem, "fencing_token", "epoch"),
        (SelectionItem, "retry_round", "generation"),
        (OpenRescoreItem, "rescore_id", "scoringId"),
    ],
)
def test_a_renamed_attribute_keeps_its_stored_name(item: type[Item], name: str, stored_name: str) -> None:
    assert getattr(item, name).attr_name == stored_name
