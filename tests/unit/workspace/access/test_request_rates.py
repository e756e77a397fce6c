"""The limits of requests of a caller and of its workspace, over several instances of the authorizer."""

from collections.abc import Iterator

import pytest
from botocore.exceptions import ClientError

from cupel_core.domain.access import AccessRole, Caller
from cupel_core.domain.limits.request_rate import FREE_BURST, FREE_PER_SECOND, LimitScope, LocalPermits, RequestLimit
from cupel_core.store import request_rates as stored_rates
from cupel_core.workspace.access import request_rates

LIMIT = RequestLimit(50, 100)
OF_WORKSPACE = RequestLimit(100, 200)
CALLER = Caller("acme", AccessRole.MEMBER, "tok_1")
START = 1_800_000_000.0
pytestmark = pytest.mark.usefixtures("cloud")


def admit(caller: Caller, now: float) -> bool:
    return request_rates.exceeded_limit(caller, LIMIT, OF_WORKSPACE, now) is None


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    request_rates.forget()
    yield
    request_rates.forget()


class Instances:
    """Several instances of the authorizer, each of which has its own memory."""

    def __init__(self, count: int) -> None:
        self.memories: list[dict[str, LocalPermits]] = [{} for _ in range(count)]

    def admitted(self, per_second: float, seconds: float, monkeypatch: pytest.MonkeyPatch) -> int:
        """How many of these requests are admitted; the instances take turns."""
        count = 0
        for number in range(round(per_second * seconds)):
            monkeypatch.setattr(request_rates, "_permits", self.memories[number % len(self.memories)])
            count += admit(CALLER, START + number / per_second)
        return count


@pytest.mark.parametrize("instances", [1, 3])
def test_a_caller_below_the_limit_is_never_refused(instances: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Instances(instances).admitted(45, 5, monkeypatch) == 45 * 5


@pytest.mark.parametrize("instances", [1, 3])
def test_a_caller_above_the_limit_gets_the_limit_and_the_allowance_of_each_instance(
    instances: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = 3
    admitted = Instances(instances).admitted(300, seconds, monkeypatch)
    limit = LIMIT.burst + LIMIT.per_second * seconds
    assert limit * 0.9 <= admitted <= limit + instances * (FREE_BURST + FREE_PER_SECOND * seconds)


def test_a_burst_is_admitted_after_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = Instances(1)
    first = instance.admitted(10_000, 0.02, monkeypatch)
    monkeypatch.setattr("tests.unit.workspace.access.test_request_rates.START", START + 3)
    second = instance.admitted(10_000, 0.02, monkeypatch)
    assert 100 <= first <= 106
    assert 100 <= second <= 106


def test_an_ordinary_caller_costs_no_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_rates, "draw", lambda *_: pytest.fail("wrote"))
    for number in range(20):
        assert admit(CALLER, START + number * 0.5)


def test_refused_requests_cost_no_write_until_there_may_be_permits(monkeypatch: pytest.MonkeyPatch) -> None:
    draws: list[float] = []
    monkeypatch.setattr(stored_rates, "draw", lambda _digest, _limit, now: draws.append(now))
    for number in range(1_000):
        admit(CALLER, START + number / 1_000)
    assert len(draws) <= 6


def test_another_caller_has_its_own_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    Instances(1).admitted(10_000, 0.05, monkeypatch)
    other = Caller("acme", AccessRole.MEMBER, "tok_2")
    assert all(admit(other, START + 0.05) for _ in range(50))


def test_a_limit_that_cannot_be_checked_refuses_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bool:
        raise ClientError({"Error": {"Code": "ThrottlingException"}}, "UpdateItem")

    monkeypatch.setattr(stored_rates, "draw", refuse)
    assert all(admit(CALLER, START) for _ in range(200))


@pytest.mark.parametrize("instances", [1, 3])
def test_sixty_tokens_of_a_workspace_share_its_limit(instances: int, monkeypatch: pytest.MonkeyPatch) -> None:
    memories: list[dict[str, LocalPermits]] = [{} for _ in range(instances)]
    admitted, refusals, seconds = 0, set(), 3
    for number in range(600 * seconds):
        monkeypatch.setattr(request_rates, "_permits", memories[number % instances])
        caller = Caller("acme", AccessRole.MEMBER, f"tok_{number % 60}")
        exceeded = request_rates.exceeded_limit(caller, LIMIT, OF_WORKSPACE, START + number / 600)
        admitted += exceeded is None
        refusals.add(exceeded)
    limit = OF_WORKSPACE.burst + OF_WORKSPACE.per_second * seconds
    assert limit * 0.9 <= admitted <= limit + instances * (FREE_BURST + FREE_PER_SECOND * seconds)
    assert refusals == {None, LimitScope.WORKSPACE}


def test_another_workspace_is_admitted_beside_one_above_its_limit() -> None:
    for number in range(1_000):
        admit(Caller("acme", AccessRole.MEMBER, f"tok_{number % 60}"), START)
    assert all(admit(Caller("other", AccessRole.MEMBER, "tok_1"), START) for _ in range(100))


def test_one_token_leaves_half_of_its_workspace_to_others() -> None:
    for _ in range(1_000):
        admit(CALLER, START)
    assert all(admit(Caller("acme", AccessRole.MEMBER, "tok_2"), START) for _ in range(90))
