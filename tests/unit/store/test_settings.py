"""A function's environment variables as read by shared/cupel_core/store/settings.py."""

from dataclasses import FrozenInstanceError

import pytest

from cupel_core.domain.runs.run import Priority
from cupel_core.store.settings import Lane, Settings, settings

QUEUE = "https://sqs.us-east-1.amazonaws.com/000000000000/cupel"
REQUIRED = {
    "table_name": "table",
    "bucket_name": "bucket",
    "dispatch_queue_url": f"{QUEUE}-dispatch",
    "generate_queue_url": f"{QUEUE}-generate",
}


def test_a_provider_queue_has_the_prefix_of_the_dispatch_queue() -> None:
    assert Settings(**REQUIRED).probe_queue_url("openai") == f"{QUEUE}-probe_openai"


@pytest.mark.parametrize(("priority", "name"), [("HIGH", "openai-high"), ("NORMAL", "openai"), ("LOW", "openai-low")])
def test_a_provider_has_a_queue_of_each_priority(priority: str, name: str) -> None:
    url = Settings(**REQUIRED).probe_queue_url("openai", Priority(priority))
    assert url == f"{QUEUE}-probe_{name}"
    assert Lane.from_arn(f"arn:aws:sqs:us-east-1:000000000000:my-probe-stack-probe_{name}") == ("openai", priority)


def test_a_dead_letter_queue_is_named_after_its_queue() -> None:
    assert Settings(**REQUIRED).probe_dlq_url("sim") == f"{QUEUE}-probe_sim-dlq"


def test_origins_are_separated_by_commas_and_blank_ones_ignored() -> None:
    assert Settings(**REQUIRED, allowed_origins="http://a, http://b,").origins == ("http://a", "http://b")


def test_no_origin_is_allowed_by_default() -> None:
    assert Settings(**REQUIRED).origins == ()


def test_settings_come_from_upper_case_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in REQUIRED.items():
        monkeypatch.setenv(name.upper(), value)
    monkeypatch.setenv("TRANSCRIPT_RETENTION_DAYS", "7")
    settings.cache_clear()
    loaded = settings()
    settings.cache_clear()
    assert (loaded.table_name, loaded.transcript_retention_days) == ("table", 7)


def test_variables_are_numbers_and_flags() -> None:
    variables = {name.upper(): value for name, value in REQUIRED.items()}
    read = Settings.read({**variables, "REQUESTS_PER_SECOND": "2.5", "ALLOW_PRIVATE_ENDPOINTS": "true", "HOME": "/"})
    assert (read.requests_per_second, read.allow_private_endpoints, read.request_burst) == (2.5, True, 100)


def test_missing_and_wrong_variables_are_named() -> None:
    variables = {name.upper(): value for name, value in REQUIRED.items() if name != "table_name"}
    wrong = {"TRANSCRIPT_RETENTION_DAYS": "a year", "ALLOW_PRIVATE_ENDPOINTS": "maybe"}
    with pytest.raises(ValueError, match="TABLE_NAME is not set") as caught:
        Settings.read({**variables, **wrong})
    assert "TRANSCRIPT_RETENTION_DAYS is no int: 'a year'" in str(caught.value)
    assert "ALLOW_PRIVATE_ENDPOINTS is no bool: 'maybe'" in str(caught.value)


def test_settings_are_immutable() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings(**REQUIRED).table_name = "other"  # type: ignore[misc]
