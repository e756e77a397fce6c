"""Counters of quotas, over requests that fail, things that are deleted or expire, and requests at the same time."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from cupel_core.base.clock import utc_now
from cupel_core.base.errors import QuotaExceeded, TooManyCreations
from cupel_core.domain.limits.quotas import Quota
from cupel_core.store import quotas, resources
from cupel_core.store.resources import Resource, ResourceKind
from cupel_core.store.settings import settings

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
pytestmark = pytest.mark.usefixtures("cloud")


class Clock:
    """The time that the counters see."""

    def __init__(self) -> None:
        self.now = utc_now()

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(quotas, "utc_now", clock)
    return clock


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Callable[[str], None]:
    def set_quotas(text: str) -> None:
        monkeypatch.setenv("WORKSPACE_QUOTAS", text)
        settings.cache_clear()

    del clock
    return set_quotas


def persona(number: int) -> Resource:
    return Resource(ResourceKind.PERSONA, f"per_{number}", f"persona {number}", {}, NOW, NOW)


def create(*numbers: int, workspace: str = "acme") -> None:
    for number in numbers:
        resources.create(workspace, persona(number))


def is_refused(number: int) -> bool:
    try:
        create(number)
    except QuotaExceeded:
        return True
    return False


def test_what_exceeds_a_quota_is_refused(limit: Callable[[str], None]) -> None:
    limit("personas=3")
    create(1, 2, 3)
    with pytest.raises(QuotaExceeded, match="at most 3 personas"):
        create(4)
    assert resources.find("acme", ResourceKind.PERSONA, "per_4") is None


def test_another_workspace_has_its_own_quota(limit: Callable[[str], None]) -> None:
    limit("personas=1")
    create(1)
    create(1, workspace="other")


def test_what_was_there_before_the_counter_counts(limit: Callable[[str], None]) -> None:
    limit("personas=5")
    create(1, 2, 3)
    quotas.QuotaItem("acme#settings", "quota#personas").delete()
    assert [is_refused(number) for number in range(4, 8)] == [False, False, True, True]


def test_what_is_deleted_makes_room(limit: Callable[[str], None], clock: Clock) -> None:
    limit("personas=2")
    create(1, 2)
    assert is_refused(3)
    resources.delete("acme", persona(1), NOW)
    clock.now += timedelta(seconds=quotas.RECOUNT_SECONDS)
    assert not is_refused(3)


def test_requests_that_fail_use_no_quota_for_good(limit: Callable[[str], None], clock: Clock) -> None:
    limit("personas=3")
    create(1)
    for _ in range(10):
        with pytest.raises(Exception, match="name"):
            resources.create("acme", Resource(ResourceKind.PERSONA, "per_9", "persona 1", {}, NOW, NOW))
        clock.now += timedelta(seconds=quotas.RECOUNT_SECONDS)
    create(2, 3)


def test_refused_requests_count_at_most_once_in_five_seconds(
    limit: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    limit("personas=1")
    create(1)
    assert is_refused(2)
    monkeypatch.setattr(quotas._StoredItem, "query", lambda *_, **__: pytest.fail("counted"))
    assert all(is_refused(number) for number in range(3, 20))


def test_requests_at_the_same_time_do_not_exceed_a_quota(limit: Callable[[str], None]) -> None:
    limit("personas=5")
    create(1)
    with ThreadPoolExecutor(8) as pool:
        refused = list(pool.map(is_refused, range(2, 30)))
    assert refused.count(False) == 4


def test_a_quota_of_zero_refuses_everything(limit: Callable[[str], None]) -> None:
    limit("personas=0")
    assert is_refused(1)


def test_creating_and_deleting_again_and_again_ends_with_the_creations_of_a_day(
    limit: Callable[[str], None], clock: Clock
) -> None:
    limit("personas=5,creationsPerDay=10")
    for number in range(10):
        create(number)
        resources.delete("acme", persona(number), NOW)
        clock.now += timedelta(seconds=quotas.RECOUNT_SECONDS)
    with pytest.raises(TooManyCreations) as refusal:
        create(11)
    assert refusal.value.retry_after == 8_640
    clock.now += timedelta(days=1)
    create(11)


def test_bytes_are_no_creations(limit: Callable[[str], None]) -> None:
    limit("fileBytes=1000,creationsPerDay=2")
    for _ in range(5):
        quotas.take("acme", Quota.FILE_BYTES, 200)
    create(1, 2)
    with pytest.raises(QuotaExceeded):
        quotas.take("acme", Quota.FILE_BYTES, 1_001)
