"""Accounts that a worker has read a few seconds ago."""

from datetime import UTC, datetime, timedelta

import pytest

from cupel_core.providers.account import Account
from cupel_core.runs.probing.account_cache import CLOCK_SKEW_SECONDS, AccountCache
from cupel_core.runs.probing.run_cache import FRESH_SECONDS

START = 1_800_000_000.0
LONG_AGO = datetime.fromtimestamp(START, UTC) - timedelta(hours=1)


class Accounts:
    """Counts the reads of stored accounts, at a time that the test sets."""

    def __init__(self) -> None:
        self.now = START
        self.reads: list[tuple[str, str]] = []
        self.cache = AccountCache(self._load, lambda: self.now)

    def _load(self, workspace: str, provider: str) -> Account:
        self.reads.append((workspace, provider))
        return Account(provider, f"https://{workspace}.example", f"key {len(self.reads)}")

    def key(self, workspace: str = "acme", provider: str = "openai", changed_at: datetime = LONG_AGO) -> str | None:
        return self.cache.get(workspace, provider, changed_at).api_key


def test_an_account_is_read_once_within_three_seconds() -> None:
    accounts = Accounts()
    keys = [accounts.key() for _ in range(3)]
    accounts.now += FRESH_SECONDS
    assert (keys, accounts.key()) == (["key 1"] * 3, "key 1")
    accounts.now += 0.1
    assert accounts.key() == "key 2"


def test_accounts_of_workspaces_and_providers_are_kept_apart() -> None:
    accounts = Accounts()
    keys = [accounts.key("acme", "openai"), accounts.key("acme", "google"), accounts.key("other", "openai")]
    assert keys == ["key 1", "key 2", "key 3"]
    assert accounts.reads == [("acme", "openai"), ("acme", "google"), ("other", "openai")]


@pytest.mark.parametrize(
    ("seconds_before_the_read", "key"),
    [(CLOCK_SKEW_SECONDS, "key 1"), (CLOCK_SKEW_SECONDS - 0.1, "key 2"), (0.0, "key 2"), (-1.0, "key 2")],
)
def test_an_account_is_read_again_after_its_run_has_changed(seconds_before_the_read: float, key: str) -> None:
    accounts = Accounts()
    accounts.key()
    accounts.now += 1.0
    changed_at = datetime.fromtimestamp(START - seconds_before_the_read, UTC)
    assert accounts.key(changed_at=changed_at) == key


def test_a_failed_read_is_repeated() -> None:
    answers = [ConnectionError(), Account("openai", "https://acme.example", "key")]

    def load(workspace: str, provider: str) -> Account:
        del workspace, provider
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    cache = AccountCache(load, lambda: START)
    with pytest.raises(ConnectionError):
        cache.get("acme", "openai", LONG_AGO)
    assert cache.get("acme", "openai", LONG_AGO).api_key == "key"
