"""Quotas of workspaces, as the operator sets them."""

import pytest

from cupel_core.domain.limits.quotas import QUOTAS, Quota, Quotas, refusal


def test_quotas_that_the_operator_has_not_set_have_their_defaults() -> None:
    quotas = Quotas.parse("tokens=50, fileBytes=1000000")
    assert (quotas.limit(Quota.TOKENS), quotas.limit(Quota.FILE_BYTES)) == (50, 1_000_000)
    assert quotas.limit(Quota.CHATS) == QUOTAS[Quota.CHATS].default


@pytest.mark.parametrize("text", ["token=5", "tokens", "tokens=-1", "tokens=many", "tokens=1.5", "tokens=²"])
def test_a_quota_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Quotas.parse(text)


def test_every_quota_has_a_default_and_a_reason() -> None:
    assert QUOTAS.keys() == set(Quota)
    assert all(rule.default > 0 and rule.reason for rule in QUOTAS.values())


def test_a_refusal_names_the_quota_its_limit_and_who_may_raise_it() -> None:
    text = refusal(Quota.TOKENS, 1_200)
    assert "1,200 API tokens" in text
    assert "operator" in text
    assert text.endswith("quota tokens")


def test_twice_the_requests_of_a_second_may_be_sent_at_once() -> None:
    limit = Quotas.parse("requestsPerSecond=30").requests
    assert (limit.per_second, limit.burst) == (30, 60)
