"""`cupel webhook`, against the API function on moto."""

import json

import pytest

from cupel_core.base import event_loop
from cupel_core.providers import safe_http
from tests.unit.cupel.fake_api import Cupel
from tests.unit.cupel.test_with_api_function import client, cupel  # noqa: F401 - fixtures

URL = "https://ci.example.com/cupel"


def test_a_new_secret_is_printed_alone(cupel: Cupel) -> None:  # noqa: F811
    answer = cupel("webhook", "set", URL)
    assert answer.exit_code == 0
    assert answer.stdout.startswith("whsec_")
    assert f"{URL}: runs, enabled" in cupel("webhook").stdout


def test_the_secret_comes_from_a_variable(cupel: Cupel, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setenv("HOOK_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    answer = cupel("webhook", "set", URL, "--secret-env", "HOOK_SECRET", "--probes", "--json")
    assert json.loads(answer.stdout) == json.loads(answer.stdout) | {"secret": None, "probes": True}


def test_another_address_needs_one_of_the_options_for_its_secret(cupel: Cupel) -> None:  # noqa: F811
    cupel("webhook", "set", URL)
    refused = cupel("webhook", "set", "https://other.example.com/cupel")
    assert (refused.exit_code, "--new-secret or --secret-env: " in refused.stderr) == (2, True)
    assert cupel("webhook", "set", "https://other.example.com/cupel", "--new-secret").exit_code == 0


def test_a_failed_test_is_a_failed_command(cupel: Cupel) -> None:  # noqa: F811
    cupel("webhook", "set", "http://127.0.0.1:1/hook")
    answer = cupel("webhook", "test", "--json")
    assert answer.exit_code == 1
    assert json.loads(answer.stdout)["delivered"] is False
    event_loop.run(safe_http.close())


def test_a_removed_webhook_is_gone(cupel: Cupel) -> None:  # noqa: F811
    cupel("webhook", "set", URL)
    assert cupel("webhook", "remove").exit_code == 0
    assert cupel("webhook").exit_code == 2  # there is none to show


def test_no_calls_are_an_empty_list(cupel: Cupel) -> None:  # noqa: F811
    assert json.loads(cupel("webhook", "deliveries", "--json").stdout) == []
