"""Lists of a run's probes and transcripts: what they read, at any size of the run."""

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from threading import Barrier
from typing import Any

import pytest

from cupel_core.base.paging import Entry, Page, encode_cursor, fill_page
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Message, MessageRole, ProbeErrorCode
from cupel_core.domain.runs.run import ProbeStatus, Run
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Summary, Transcript
from cupel_core.runs import probes, queries
from cupel_core.store import outcomes
from cupel_core.store.settings import Settings
from tests.answered_runs import AnsweredRun
from tests.large_runs import counted_requests, start_large_run
from tests.recorded_outcomes import store_outcomes
from tests.started_runs import NOW

MILLION = 1_000_000
type Listing = Callable[..., Iterator[Entry[Any]]]
LISTINGS: dict[str, Listing] = {"transcripts": queries.list_transcripts, "probes": probes.list_probes}
COMPLETED: dict[str, dict[str, Any]] = {"transcripts": {}, "probes": {"status": ProbeStatus.COMPLETED}}


def transcript(index: int) -> Transcript:
    state = ConversationState((Message(MessageRole.ASSISTANT, f"answer {index}"),), 1)
    return Transcript(index, "scn", "sim/steady", NOW, state, summary=Summary(str(index % 2 + 1), "", NOW))


def error(index: int) -> ProbeError:
    return ProbeError(index, "scn", "sim/steady", ProbeErrorCode.AUTH, "no", 1, NOW)


def store(run: Run, *recorded: Outcome) -> None:
    store_outcomes(run, 1, recorded)


def first_page(listing: Listing, run: Run, limit: int, start: int = 0, **filters: Any) -> tuple[Page[Any], list[str]]:
    """The page that starts at this index, and the requests that it took."""
    cursor = encode_cursor(str(start)) if start else None
    with counted_requests() as requests:
        entries = listing("ws_a", run.id, limit=limit, cursor=cursor, now=NOW, **filters)
        return fill_page(entries, limit), list(requests)


def indexes(page: Page[Any]) -> list[int]:
    return [item.index if hasattr(item, "index") else item.transcript.probe_index for item in page.items]


@pytest.mark.parametrize("name", LISTINGS)
@pytest.mark.parametrize("total", [300, MILLION])
@pytest.mark.parametrize("position", ["first", "last"])
def test_a_page_takes_three_requests_wherever_it_is(cloud: Settings, name: str, total: int, position: str) -> None:
    run, start = start_large_run(total), 0 if position == "first" else total - 150
    for part in (range(start, start + 13), range(start + 13, start + 120)):
        store(run, *map(transcript, part))
    page, requests = first_page(LISTINGS[name], run, 100, start)
    assert indexes(page) == list(range(start, start + 100))
    assert requests == ["GetItem", "BatchGetItem", "BatchGetItem"], "the run, the leaves, the pages"
    assert page.next_cursor == encode_cursor(str(start + 100))


@pytest.mark.parametrize("name", LISTINGS)
def test_the_last_page_of_few_outcomes_among_a_million_has_no_cursor(cloud: Settings, name: str) -> None:
    run = start_large_run(MILLION)
    store(run, transcript(MILLION - 90_000), transcript(MILLION - 1))
    page, requests = first_page(LISTINGS[name], run, 20, MILLION - 95_000, **COMPLETED[name])
    assert indexes(page) == [MILLION - 90_000, MILLION - 1]
    assert page.next_cursor is None
    assert len(requests) <= 20


@pytest.mark.parametrize("name", LISTINGS)
def test_a_page_ends_after_a_hundred_thousand_probes_without_a_match(cloud: Settings, name: str) -> None:
    run = start_large_run(MILLION)
    store(run, transcript(0), transcript(MILLION - 1))
    page, requests = first_page(LISTINGS[name], run, 20, **COMPLETED[name])
    assert indexes(page) == [0]
    assert len(requests) <= 25
    cursor, pages = page.next_cursor, 1
    while cursor is not None:
        page = fill_page(LISTINGS[name]("ws_a", run.id, limit=20, cursor=cursor, now=NOW, **COMPLETED[name]), 20)
        cursor, pages = page.next_cursor, pages + 1
    assert indexes(page) == [MILLION - 1]
    assert pages <= 10


def test_a_page_of_transcripts_reads_no_page_of_errors(cloud: Settings) -> None:
    run = start_large_run(300)
    store(run, *map(error, range(100)))
    page, requests = first_page(queries.list_transcripts, run, 20)
    assert (page.items, page.next_cursor) == ((), None)
    assert requests == ["GetItem", "BatchGetItem", "BatchGetItem"], "the run, its first leaf, the others"


def test_a_list_with_a_filter_ends_after_a_bounded_number_of_outcomes(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outcomes, "MAX_EXAMINED", 2)
    monkeypatch.setattr(outcomes, "PROBES_PER_READ", 1)
    run = start_large_run(300)
    store(run, transcript(0), transcript(2), transcript(150), transcript(200), transcript(201))
    listing = partial(queries.list_transcripts, wanted=outcomes.TranscriptFilter(decision="2"))
    page, _ = first_page(listing, run, 20)
    assert (page.items, page.next_cursor) == ((), encode_cursor("100"))
    page, _ = first_page(listing, run, 20, 100)
    assert (indexes(page), page.next_cursor) == ([201], None)


def test_probes_without_an_outcome_are_listed_from_their_leaves_alone(cloud: Settings) -> None:
    page, requests = first_page(probes.list_probes, start_large_run(300), 100)
    assert len(page.items) == 100
    assert requests == ["GetItem", "BatchGetItem"]


def test_a_run_that_has_ended_is_read_with_one_request(cloud: Settings) -> None:
    run = AnsweredRun(models=("sim/steady",)).completed()
    read_at(run, NOW)
    with counted_requests() as requests:
        assert queries.get_run("ws_a", run.id, NOW).progress.completed == 1
    assert requests == ["BatchGetItem"]


def test_a_transcript_is_read_with_three_requests(cloud: Settings) -> None:
    run = AnsweredRun(models=("sim/steady",)).completed()
    queries.get_transcript("ws_a", f"{run.id}-0", NOW)
    wait_for_noted_accesses()
    with counted_requests() as requests:
        assert queries.get_transcript("ws_a", f"{run.id}-0", NOW).transcript.last_accessed_at == NOW
    assert requests == ["GetItem", "BatchGetItem", "BatchGetItem"]


def test_a_run_that_is_read_often_notes_the_access_once_a_minute(cloud: Settings) -> None:
    run = start_large_run(300)
    seconds = lambda count: datetime.fromtimestamp(NOW.timestamp() + count, NOW.tzinfo)  # noqa: E731
    noted = [read_at(run, seconds(count)) for count in (0, 1, 59, 60, 61)]
    assert noted == [None, NOW, NOW, NOW, seconds(60)]


def wait_for_noted_accesses() -> None:
    """Both threads can only meet once they have written what was submitted before."""
    meeting = Barrier(2)
    for met in [queries._background.submit(meeting.wait) for _ in range(2)]:
        met.result()


def read_at(run: Run, now: datetime) -> datetime | None:
    """When the run was last read before this read."""
    view = queries.get_run("ws_a", run.id, now)
    wait_for_noted_accesses()
    return view.last_accessed_at
