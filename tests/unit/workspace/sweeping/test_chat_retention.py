"""The retention period of chats is changed while there are some."""

from datetime import datetime, timedelta

import pytest

from cupel_core.base.clock import utc_now
from cupel_core.base.errors import NotFound
from cupel_core.base.messages import ChatRef, RunRef
from cupel_core.chats import catalog
from cupel_core.domain.chats.chats import ChatSettings
from cupel_core.store import chats, erasures
from cupel_core.store.erasures import Erasure, ErasureKind
from cupel_core.store.settings import Settings, settings
from cupel_core.workspace.sweeping import chat_retention
from cupel_core.workspace.sweeping.chat_retention import apply_retention
from cupel_core.workspace.sweeping.erasure import erase_due


def set_retention_days(monkeypatch: pytest.MonkeyPatch, days: int) -> None:
    monkeypatch.setenv("TRANSCRIPT_RETENTION_DAYS", str(days))
    settings.cache_clear()


def chat_of(now: datetime, *, playground: bool = False) -> ChatRef:
    chat = catalog.create("acme", ChatSettings({"model": "sim/steady"}), "tok_1", now, playground=playground)
    return ChatRef("acme", chat.id)


def sweep(now: datetime) -> int:
    moved = apply_retention(now, lambda: 60.0)
    erase_due(now, lambda: 900.0)
    return moved


def test_a_period_that_is_switched_on_later_erases_what_is_older(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_retention_days(monkeypatch, 0)
    now = utc_now()
    old, recent = chat_of(now - timedelta(days=40)), chat_of(now - timedelta(days=10))
    assert sweep(now) == 0
    assert chats.get(old).expires_at is None
    set_retention_days(monkeypatch, 30)
    with pytest.raises(NotFound):
        chats.get(old)
    assert [chat.id for chat in chats.list_chats("acme", 20, None).items] == [recent.chat_id]
    assert sweep(now) == 2
    assert (chats.find(old), chats.find(recent) is not None) == (None, True)
    assert sweep(now + timedelta(days=19)) == 0
    assert chats.find(recent) is not None
    sweep(now + timedelta(days=21))
    assert chats.find(recent) is None
    assert list(erasures.list_after(None)) == []


@pytest.mark.parametrize(("days", "lifetime"), [(0, 7), (30, 7), (3, 3)])
def test_a_chat_of_the_playground_lives_a_week_at_most(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch, days: int, lifetime: int
) -> None:
    set_retention_days(monkeypatch, days)
    now = utc_now()
    old = chat_of(now - timedelta(days=lifetime, hours=1), playground=True)
    recent = chat_of(now - timedelta(days=lifetime - 1), playground=True)
    usual = chat_of(now - timedelta(days=lifetime - 1))
    assert [each.id for each in chats.list_chats("acme", 20, None, playground=True).items] == [recent.chat_id]
    assert chats.get(recent).expires_at == chats.get(recent).updated_at + timedelta(days=lifetime)
    sweep(now)
    assert [chats.find(each) is not None for each in (old, recent, usual)] == [False, True, True]
    sweep(now + timedelta(days=1, hours=1))
    assert [chats.find(each) is not None for each in (recent, usual)] == [False, days != lifetime]


def test_a_longer_period_holds_for_chats_of_a_shorter_one(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    set_retention_days(monkeypatch, 30)
    now = utc_now()
    ref = chat_of(now)
    sweep(now)
    set_retention_days(monkeypatch, 0)
    sweep(now + timedelta(days=31))
    assert chats.get(ref).expires_at is None
    set_retention_days(monkeypatch, 60)
    sweep(now + timedelta(days=59))
    assert chats.find(ref) is not None
    sweep(now + timedelta(days=61))
    assert chats.find(ref) is None


def test_a_sweep_reads_a_limited_number_of_entries(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    set_retention_days(monkeypatch, 0)
    now = utc_now()
    for _ in range(5):
        chat_of(now)
    erasures.request(Erasure(RunRef("acme", "run_1"), ErasureKind.RUN, now + timedelta(days=1)))
    set_retention_days(monkeypatch, 30)
    monkeypatch.setattr(chat_retention, "MAX_ENTRIES", 2)
    assert apply_retention(now, lambda: 1.0) == 0, "there was no time"
    assert sum(apply_retention(now, lambda: 60.0) for _ in range(8)) == 5
    dues = [erasure.due for _, erasure in erasures.list_after(None) if erasure.kind is ErasureKind.EXPIRED_CHAT]
    assert all(now + timedelta(days=29) < due < now + timedelta(days=31) for due in dues)
    set_retention_days(monkeypatch, 10)
    assert sum(apply_retention(now, lambda: 60.0) for _ in range(8)) == 5
