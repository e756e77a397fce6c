import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cupel.stack.durability.journal import Journal, JournalError, encode


@contextmanager
def opened(folder: Path) -> Iterator[tuple[Journal, list[bytes]]]:
    """A journal, and what it contained."""
    journal = Journal(folder)
    try:
        yield journal, list(journal.replay())
    finally:
        journal.close()


@contextmanager
def files_limited_to(size: int) -> Iterator[None]:
    """Writes beyond it fail like on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def write(folder: Path, *payloads: bytes) -> None:
    with opened(folder) as (journal, _):
        for payload in payloads:
            journal.append(payload)


def read(folder: Path) -> list[bytes]:
    with opened(folder) as (_, found):
        return found


def test_appended_payloads_are_replayed_in_order(tmp_path: Path) -> None:
    write(tmp_path, b"a", b"b")
    write(tmp_path, b"c")
    assert read(tmp_path) == [b"a", b"b", b"c"]


def test_a_torn_record_is_dropped_and_the_next_one_takes_its_place(tmp_path: Path) -> None:
    write(tmp_path, b"a", b"torn")
    log = tmp_path / "0.log"
    log.write_bytes(log.read_bytes()[:-1])
    write(tmp_path, b"b")
    assert read(tmp_path) == [b"a", b"b"]


@pytest.mark.parametrize("cut", [1, 3, len(encode(b"torn")) - 1])
def test_a_record_that_was_dropped_is_reported_once(tmp_path: Path, cut: int) -> None:
    write(tmp_path, b"a", b"torn")
    log = tmp_path / "0.log"
    log.write_bytes(log.read_bytes()[:-cut])
    left = len(encode(b"torn")) - cut
    reports = []
    for _ in range(2):
        with opened(tmp_path) as (journal, _found):
            reports.append(journal.dropped)
    assert reports == [f"the last record of {log} ({left} bytes) was incomplete and dropped", None]


def test_nothing_is_reported_of_a_complete_journal(tmp_path: Path) -> None:
    write(tmp_path, b"a")
    with opened(tmp_path) as (journal, _):
        assert journal.dropped is None


@pytest.mark.parametrize("size", [0, 3])
def test_a_log_whose_creation_was_interrupted_is_empty(tmp_path: Path, size: int) -> None:
    write(tmp_path)
    log = tmp_path / "0.log"
    log.write_bytes(log.read_bytes()[:size])
    write(tmp_path, b"a")
    assert read(tmp_path) == [b"a"]


def test_damage_is_reported_with_the_file_the_place_and_what_to_do(tmp_path: Path) -> None:
    write(tmp_path, b"a", b"damaged", b"c")
    log = tmp_path / "0.log"
    log.write_bytes(log.read_bytes().replace(b"damaged", b"DAMAGED"))
    offset = 16 + len(encode(b"a"))
    with pytest.raises(
        JournalError, match=f"(?s){log} is damaged at byte {offset}.*head -c {offset} .*cupel up.*--discard"
    ):
        read(tmp_path)


def test_the_advice_for_damage_keeps_what_precedes_it(tmp_path: Path) -> None:
    write(tmp_path, b"a", b"damaged", b"c")
    log = tmp_path / "0.log"
    content = log.read_bytes().replace(b"damaged", b"DAMAGED")
    log.write_bytes(content[: 16 + len(encode(b"a"))])
    assert read(tmp_path) == [b"a"]


def test_a_record_that_does_not_fit_is_refused_and_the_next_one_is_stored(tmp_path: Path) -> None:
    with opened(tmp_path) as (journal, _):
        journal.append(b"a")
        with files_limited_to(100), pytest.raises(OSError, match="too large"):
            journal.append(bytes(1_000))
        journal.append(b"b")
    assert read(tmp_path) == [b"a", b"b"]


def test_a_full_disk_leaves_a_journal_that_can_be_read(tmp_path: Path) -> None:
    """Neither a part of the refused record nor a part of the log that was to follow."""
    with opened(tmp_path) as (journal, _):
        journal.append(b"a")
        with files_limited_to(100), pytest.raises(OSError, match="too large"):
            journal.append(bytes(1_000))
        with files_limited_to(2), pytest.raises(OSError, match="too large"):
            journal.start_log()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["0.log", "lock"]
    assert read(tmp_path) == [b"a"]


def test_a_torn_record_is_not_left_in_a_log_that_is_followed_by_another(tmp_path: Path) -> None:
    with opened(tmp_path) as (journal, _):
        journal.append(b"a")
        with files_limited_to(100), pytest.raises(OSError, match="too large"):
            journal.append(bytes(1_000))
        journal.start_log()
        journal.append(b"b")
    assert read(tmp_path) == [b"a", b"b"]


def test_a_snapshot_replaces_what_was_written_before_it(tmp_path: Path) -> None:
    with opened(tmp_path) as (journal, _):
        journal.append(b"a")
        number = journal.start_log()
        journal.append(b"b")
        journal.write_snapshot(number, [b"A", b"B"])
        journal.append(b"c")
    assert (read(tmp_path), sorted(path.name for path in tmp_path.iterdir())) == (
        [b"A", b"B", b"b", b"c"],
        ["1.log", "1.snapshot", "lock"],
    )


def test_without_its_snapshot_a_new_log_follows_the_old_one(tmp_path: Path) -> None:
    with opened(tmp_path) as (journal, _):
        journal.append(b"a")
        journal.start_log()
        journal.append(b"b")
    (tmp_path / "1.snapshot.tmp").write_bytes(b"unfinished")
    assert read(tmp_path) == [b"a", b"b"]


def test_a_snapshot_that_does_not_fit_changes_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as (journal, _):
        journal.append(b"a")
        number = journal.start_log()
        with files_limited_to(100), pytest.raises(OSError, match="too large"):
            journal.write_snapshot(number, [bytes(1_000)])
        journal.append(b"b")
    assert read(tmp_path) == [b"a", b"b"]


def test_files_that_a_kill_left_beside_a_snapshot_are_deleted(tmp_path: Path) -> None:
    write(tmp_path, b"a")
    earlier = (tmp_path / "0.log").read_bytes()
    with opened(tmp_path) as (journal, _):
        journal.write_snapshot(journal.start_log(), [b"A"])
    (tmp_path / "0.log").write_bytes(earlier)
    assert (read(tmp_path), (tmp_path / "0.log").exists()) == ([b"A"], False)


def test_a_truncated_snapshot_is_damage(tmp_path: Path) -> None:
    with opened(tmp_path) as (journal, _):
        journal.write_snapshot(journal.start_log(), [b"A", b"B"])
    snapshot = tmp_path / "1.snapshot"
    snapshot.write_bytes(snapshot.read_bytes()[:-1])
    with pytest.raises(JournalError, match="is damaged"):
        read(tmp_path)


def test_two_processes_cannot_use_one_journal(tmp_path: Path) -> None:
    with opened(tmp_path), pytest.raises(JournalError, match="in use by process"):
        Journal(tmp_path)


def test_the_size_of_the_logs_includes_those_before_an_unfinished_snapshot(tmp_path: Path) -> None:
    with opened(tmp_path) as (journal, _):
        journal.append(bytes(1_000))
        journal.start_log()
        journal.append(bytes(1_000))
        assert 2_000 < journal.log_bytes < 2_200
    with opened(tmp_path) as (journal, _):
        assert 2_000 < journal.log_bytes < 2_200


def snapshot_hours_ago(folder: Path, hours: float) -> None:
    with opened(folder) as (journal, _):
        journal.write_snapshot(journal.start_log(), [b"a"])
    moment = time.time() - hours * 3_600
    os.utime(folder / "1.snapshot", (moment, moment))


@pytest.mark.parametrize(("hours", "is_due"), [(11.9, False), (12.1, True)])
def test_a_snapshot_is_due_within_a_day_so_that_deleted_texts_leave_the_journal(
    tmp_path: Path, hours: float, is_due: bool
) -> None:
    snapshot_hours_ago(tmp_path, hours)
    with opened(tmp_path) as (journal, _):
        assert journal.is_snapshot_due() is is_due
        journal.write_snapshot(journal.start_log(), [b"a"])
        assert not journal.is_snapshot_due()


def test_a_snapshot_of_old_logs_that_failed_is_due_again_once_they_have_grown(tmp_path: Path) -> None:
    snapshot_hours_ago(tmp_path, 13)
    with opened(tmp_path) as (journal, _):
        failed_bytes = journal.log_bytes
        assert not journal.is_snapshot_due(failed_bytes)
        journal.append(b"b" * failed_bytes)
        assert journal.is_snapshot_due(failed_bytes)


def test_logs_of_unknown_age_get_a_snapshot_and_new_ones_do_not(tmp_path: Path) -> None:
    with opened(tmp_path) as (journal, _):
        assert not journal.is_snapshot_due()
    with opened(tmp_path) as (journal, _):
        assert journal.is_snapshot_due()
