"""The example of docs/webhooks.md verifies what Cupel sends."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from cupel_core.base.clock import utc_now
from cupel_core.domain.resources.webhooks import sign
from tests.conftest import ROOT

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = b'{"type":"webhook.test"}'


@pytest.fixture
def verify() -> Callable[[str, dict[str, str], bytes], bool]:
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/webhooks.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(example, names)  # noqa: S102 - our own document
    verified: Callable[[str, dict[str, str], bytes], bool] = names["verify"]
    return verified


def test_a_message_is_verified(verify: Callable[..., bool]) -> None:
    assert verify(SECRET, sign(SECRET, "msg_1", utc_now(), BODY), BODY)


def test_a_changed_body_is_refused(verify: Callable[..., bool]) -> None:
    assert not verify(SECRET, sign(SECRET, "msg_1", utc_now(), BODY), BODY + b" ")


def test_another_secret_is_refused(verify: Callable[..., bool]) -> None:
    assert not verify("whsec_" + "A" * 32, sign(SECRET, "msg_1", utc_now(), BODY), BODY)


def test_an_old_message_is_refused(verify: Callable[..., bool]) -> None:
    assert not verify(SECRET, sign(SECRET, "msg_1", utc_now() - timedelta(minutes=6), BODY), BODY)
