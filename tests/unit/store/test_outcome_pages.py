"""Outcomes in pages, and the items of their own that they get when they change."""

import zlib
from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson
import pytest

from bench.sizes import item_bytes
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.leaf_log import LoggedOutcome, OutcomePage, Reopening
from cupel_core.domain.runs.run_spend import UNKNOWN, Cost
from cupel_core.domain.runs.transcripts import (
    ALL_TRANSCRIPTS,
    CONTENT_DELETED,
    ProbeError,
    Summary,
    Transcript,
    TranscriptResult,
)
from cupel_core.store import barrier, barrier_items, batches, clients, keys, outcome_pages, outcomes
from cupel_core.store.barrier import Tree
from cupel_core.store.settings import Settings
from tests.recorded_outcomes import store_outcomes
from tests.started_runs import NOW
from tests.unit.store.test_outcomes import REF, error, run, transcript

LEAF = Node(0, 0)
TREE = Tree.for_run(run())


def items(prefix: str, cloud: Settings) -> list[dict[str, Any]]:
    found = clients.dynamodb().scan(TableName=cloud.table_name)["Items"]
    return [dict(item) for item in found if item["sk"]["S"].startswith(prefix)]


def own_items(cloud: Settings) -> list[dict[str, Any]]:
    return [item for item in items("0000", cloud) if "#probes#" in item["pk"]["S"]]


def unreported() -> list[OutcomePage]:
    return outcomes.list_unreported(REF, LEAF, barrier.get_leaf(REF, LEAF))


@pytest.mark.parametrize("cost", [Cost(), Cost(1), Cost(127), Cost(128), Cost(10**12), UNKNOWN])
def test_a_page_is_read_from_the_log_as_it_was_added(cost: Cost) -> None:
    page = OutcomePage("abc", 7, {0: LoggedOutcome(True, cost, 0xFFFF), 99: LoggedOutcome(False, cost)})
    reopening = Reopening(8, frozenset({0, 99}))
    log = {"L": [barrier_items.encode_page(page), barrier_items.encode_reopening(reopening)]}
    assert list(barrier_items.decode_log(log)) == [page, reopening]


def test_the_outcomes_of_a_leaf_take_two_items(cloud: Settings) -> None:
    store_outcomes(run(), 1, [transcript(index) for index in range(20)])
    assert (len(items("digest#", cloud)), len(items("text#", cloud)), own_items(cloud)) == (1, 1, [])


def test_errors_have_no_texts(cloud: Settings) -> None:
    store_outcomes(run(), 1, [error(0)])
    assert items("text#", cloud) == []


def test_a_page_stays_small_whatever_the_outcomes_are(cloud: Settings) -> None:
    answers = ["".join(chr(0x4E00 + (number * 7_919 + seed) % 20_000) for number in range(2_400)) for seed in range(90)]
    written = [transcript(index, answer) for index, answer in enumerate(answers)]
    store_outcomes(run(), 1, written)
    assert len(items("text#", cloud)) > 1
    assert list(outcomes.list_outcomes(REF, range(90))) == written


def test_a_page_is_found_by_the_next_worker_if_it_is_complete(cloud: Settings) -> None:
    outcomes.write(REF, 1, [transcript(0), error(1)])
    assert [sorted(page.outcomes) for page in unreported()] == [[0, 1]]
    for item in items("text#", cloud):
        clients.dynamodb().delete_item(TableName=cloud.table_name, Key={"pk": item["pk"], "sk": item["sk"]})
    assert unreported() == []


def test_a_page_that_was_found_says_what_its_writer_would_have_said(cloud: Settings) -> None:
    [written] = outcomes.write(REF, 1, [transcript(0), error(1)])[0]
    assert unreported() == [written]
    barrier.record(TREE, LEAF, [written])
    assert unreported() == []


def test_an_outcome_gets_its_own_item_with_its_first_change(cloud: Settings) -> None:
    store_outcomes(run(), 1, [transcript(0), transcript(1)])
    outcomes.set_correction(REF, 0, TranscriptResult(False))
    [own] = own_items(cloud)
    assert (own["sk"]["S"], "packed" in own, "page" in own) == ("0000000", False, True)
    assert outcomes.get(REF, 0) == replace(transcript(0), correction=TranscriptResult(False))


def test_an_own_item_is_made_once(cloud: Settings) -> None:
    store_outcomes(run(), 1, [replace(transcript(0), summary=None)])
    outcomes.set_correction(REF, 0, TranscriptResult(False))
    outcomes.set_summary(REF, 0, Summary("4", "four", NOW))
    outcomes.note_access(REF, 0, NOW)
    read = outcomes.get(REF, 0)
    assert isinstance(read, Transcript)
    assert (read.correction, read.summary, read.last_accessed_at) == (
        TranscriptResult(False),
        Summary("4", "four", NOW),
        NOW,
    )


def test_an_own_item_of_an_error_gives_way_to_the_transcript_of_a_retry(cloud: Settings) -> None:
    store_outcomes(run(), 1, [error(0)])
    outcomes.own_item(REF, 0)
    retried = run(retry_round=2)
    barrier.reopen(Tree.for_run(retried), LEAF, [0])
    store_outcomes(retried, 2, [transcript(0)])
    assert outcomes.get(REF, 0) == transcript(0)
    outcomes.set_correction(REF, 0, TranscriptResult(True))
    assert outcomes.get(REF, 0) == replace(transcript(0), correction=TranscriptResult(True))


def test_a_probe_without_an_outcome_has_no_own_item(cloud: Settings) -> None:
    assert outcomes.own_item(REF, 0) is None
    assert not outcomes.set_summary(REF, 0, Summary("4", "four", NOW))


def test_one_conversation_of_a_page_is_erased(cloud: Settings) -> None:
    before = [transcript(0), transcript(1), error(2)]
    store_outcomes(run(), 1, before)
    for index in (0, 2):
        outcomes.erase_content(REF, index, NOW)
    read = outcomes.get_many(REF, [0, 1, 2])
    assert isinstance(read[0], Transcript)
    assert (read[0].messages, read[0].summary) == ((), Summary("3", "", NOW))
    assert isinstance(read[2], ProbeError)
    assert read[2].message == CONTENT_DELETED
    assert read[1] == before[1]
    assert outcomes.list_erased(REF, [0, 1, 2]) == {0, 2}


def test_a_page_expires_with_the_last_of_its_conversations(cloud: Settings) -> None:
    later = replace(transcript(1), content_expires_at=NOW + timedelta(days=2))
    store_outcomes(run(), 1, [transcript(0), later])
    [page] = outcome_pages.list_of_block(REF, 0)
    assert page.expires_at == NOW + timedelta(days=2)
    outcome_pages.erase_digests(page, page.entries, NOW)
    [page] = outcome_pages.list_of_block(REF, 0)
    assert page.expires_at is None


def test_an_erasure_that_meets_another_is_repeated(cloud: Settings) -> None:
    store_outcomes(run(), 1, [transcript(0), transcript(1)])
    [as_read] = outcome_pages.list_of_block(REF, 0)
    outcomes.erase_content(REF, 0, NOW)
    outcome_pages.erase_digests(as_read, [1], NOW)
    assert outcomes.list_erased(REF, [0, 1]) == {0, 1}


def test_writes_that_were_not_processed_are_repeated(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    client, waits = clients.dynamodb(), list[float]()
    write = client.batch_write_item

    def write_one(RequestItems: dict[str, Any]) -> Any:  # noqa: N803
        [(table, writes)] = RequestItems.items()
        write(RequestItems={table: writes[:1]})
        return {"UnprocessedItems": {table: writes[1:]} if writes[1:] else {}}

    monkeypatch.setattr(client, "batch_write_item", write_one)
    monkeypatch.setattr(batches.time, "sleep", waits.append)
    store_outcomes(run(), 1, [transcript(0)])
    assert outcomes.get(REF, 0) == transcript(0)
    assert len(waits) == 1


def test_an_outcome_that_is_too_large_becomes_an_error_of_its_probe(cloud: Settings) -> None:
    conversation = replace(transcript(0).conversation, model_version="m" * outcome_pages.MAX_ENTRY_BYTES)
    store_outcomes(run(), 1, [replace(transcript(0), conversation=conversation), transcript(1)])
    stored = outcomes.get_many(REF, [0, 1])
    assert isinstance(stored[0], ProbeError)
    assert "at most 100,000" in stored[0].message
    assert stored[1] == transcript(1)


def test_a_leaf_of_a_hundred_outcomes_stays_below_two_write_units(cloud: Settings) -> None:
    for first in range(0, 100, 10):
        store_outcomes(run(), 1, [transcript(index) for index in range(first, first + 10)])
    key = {"pk": {"S": keys.barrier_nodes(REF, LEAF, 0)}, "sk": {"S": keys.barrier_node(0)}}
    item = clients.dynamodb().get_item(TableName=cloud.table_name, Key=key)["Item"]
    assert item_bytes(dict(item)) < 2 * 1_024


def test_a_text_whose_worker_died_before_the_digest_is_erased(cloud: Settings) -> None:
    outcomes.write(REF, 1, [transcript(0), transcript(1)])
    for item in items("digest#", cloud):
        clients.dynamodb().delete_item(TableName=cloud.table_name, Key={"pk": item["pk"], "sk": item["sk"]})
    outcomes.erase_content(REF, 0, NOW)
    [text] = items("text#", cloud)
    assert list(orjson.loads(zlib.decompress(text["body"]["B"]))) == ["1"]
    outcome_pages.erase_expired_texts(REF, 0, NOW)
    assert items("text#", cloud) != []
    outcome_pages.erase_expired_texts(REF, 0, NOW + timedelta(days=1))
    assert items("text#", cloud) == []


def test_an_own_item_that_is_made_during_an_erasure_is_erased(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    store_outcomes(run(), 1, [transcript(0)])
    add_own = barrier.add_own

    def erase_first(*args: Any) -> None:
        outcomes.erase_content(REF, 0, NOW)
        add_own(*args)

    monkeypatch.setattr(barrier, "add_own", erase_first)
    outcomes.own_items(REF, [0])
    [own] = own_items(cloud)
    assert "erasedAt" in own
    assert outcomes.list_erased(REF, [0]) == {0}


def test_an_outcome_behind_many_empty_leaves_is_found_with_few_requests(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_outcomes(run(), 1, [transcript(2_000)])
    reads, get_leaves = list[int](), barrier.get_leaves
    monkeypatch.setattr(barrier, "get_leaves", lambda ref, numbers: (reads.append(1), get_leaves(ref, numbers))[1])
    found = outcomes.list_matching(REF, [range(2_001)], ALL_TRANSCRIPTS, page_size=11)
    assert [entry.item and entry.item.probe_index for entry in found] == [2_000]
    assert len(reads) <= 10
