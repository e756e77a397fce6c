"""The cache of models' answers: repeated evaluations make no repeated calls."""

import sqlite3
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import cupel
from cupel.errors import UsageError
from cupel.in_process import Evaluation
from cupel.in_process.answer_cache import AnswerCache, CachedCalls, open_cache
from cupel_core.domain.conversations.model_parameters import ModelParameters, ResponseFormat
from cupel_core.domain.conversations.model_request import (
    Message,
    MessageRole,
    ModelRequest,
    ProbeErrorCode,
    Reply,
    Usage,
)
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.providers import prices
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError
from tests.unit.cupel.test_evaluate import responder, verdict
from tests.unit.providers.agents import serving

DAY = 86_400.0
OPENAI = Account("openai", "https://api.openai.com/v1", "key")


class Model:
    """Counts its answers: `answer 1`, `answer 2`, …"""

    def __init__(self) -> None:
        self.calls = 0
        self.error: ProviderError | None = None

    async def __call__(self, *_: object) -> Reply:
        self.calls += 1
        if self.error:
            raise self.error
        return Reply(f"answer {self.calls}", "v1", Usage(1_000, 100), "stop")


class Clock:
    time = 1_000 * DAY

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def answers(tmp_path: Path, clock: Clock) -> AsyncIterator[AnswerCache]:
    with open_cache(tmp_path / "answers.sqlite", 14 * DAY) as cache:
        assert cache
        cache.now = clock
        yield cache


async def ask(
    answers: AnswerCache,
    model: Model,
    text: str = "Hi",
    repeat: int = 0,
    account: Account = OPENAI,
    name: str = "openai/gpt-5-mini",
    **request: Any,
) -> Reply:
    """One call of a new probe."""
    asked = ModelRequest((Message(MessageRole.USER, text),), **request)
    return await CachedCalls(answers, repeat, model)(account, name, asked, 10)


async def test_the_same_request_is_answered_from_the_cache(answers: AnswerCache) -> None:
    model = Model()
    first, second = [await ask(answers, model) for _ in range(2)]
    assert model.calls == 1
    assert (second.text, second.usage, second.model_version) == (first.text, first.usage, "v1")
    assert first.cached_duration_ms is None
    assert second.cached_duration_ms is not None


@pytest.mark.parametrize(
    "other",
    [
        {"text": "Hello"},
        {"repeat": 1},
        {"parameters": ModelParameters(temperature=0.5)},
        {"parameters": ModelParameters(max_output_tokens=5)},
        {"parameters": ModelParameters(response_format=ResponseFormat.of_schema({"type": "object"}))},
        {"name": "openai/gpt-5"},
        {"account": Account("openai", "https://proxy.test/v1", "key")},
    ],
)
async def test_another_request_or_repeat_is_another_answer(answers: AnswerCache, other: dict[str, Any]) -> None:
    model = Model()
    await ask(answers, model)
    assert (await ask(answers, model, **other)).text == "answer 2"


async def test_a_key_has_no_effect_on_what_is_found(answers: AnswerCache) -> None:
    model = Model()
    await ask(answers, model)
    await ask(answers, model, account=Account("openai", OPENAI.base_url, "another"))
    assert model.calls == 1


async def test_the_same_request_of_one_probe_is_answered_anew_each_time(answers: AnswerCache) -> None:
    model = Model()
    request = ModelRequest((Message(MessageRole.USER, "Hi"),))
    texts = []
    for _ in range(2):
        probe = CachedCalls(answers, 0, model)
        texts.append([(await probe(OPENAI, "openai/x", request, 10)).text for _ in range(2)])
    assert texts == [["answer 1", "answer 2"]] * 2


async def test_a_failed_call_is_not_cached(answers: AnswerCache) -> None:
    model = Model()
    model.error = ProviderError(ProbeErrorCode.TIMEOUT, "too slow")
    with pytest.raises(ProviderError):
        await ask(answers, model)
    model.error = None
    assert (await ask(answers, model)).text == "answer 2"


async def test_an_agent_is_not_cached(answers: AnswerCache) -> None:
    model = Model()
    for _ in range(2):
        await ask(answers, model, account=Account("connector", "http://agent.test"), name="connector/agent")
    assert model.calls == 2


async def test_an_answer_expires(answers: AnswerCache, clock: Clock) -> None:
    model = Model()
    await ask(answers, model)
    clock.time += 13 * DAY
    await ask(answers, model)
    clock.time += 2 * DAY
    await ask(answers, model)
    assert model.calls == 2


async def test_the_oldest_answers_are_deleted_when_there_are_too_many(answers: AnswerCache, clock: Clock) -> None:
    model = Model()
    for text in ("old", "new"):
        clock.time += 1
        await ask(answers, model, text)
    (size,) = answers.connection.execute("SELECT max(length(answer)) FROM answers").fetchone()
    answers.max_bytes = size
    answers.trim()
    await ask(answers, model, "new")
    assert model.calls == 2
    await ask(answers, model, "old")
    assert model.calls == 3


async def test_a_cache_that_cannot_be_read_or_written_is_ignored(answers: AnswerCache) -> None:
    model = Model()
    answers.connection.execute("DROP TABLE answers")
    assert (await ask(answers, model)).text == "answer 1"


async def test_a_damaged_answer_is_requested_again(answers: AnswerCache) -> None:
    model = Model()
    await ask(answers, model)
    answers.connection.execute("UPDATE answers SET answer = ?", (b"?",))
    assert (await ask(answers, model)).text == "answer 2"


async def test_two_processes_may_use_a_cache(tmp_path: Path) -> None:
    model, path = Model(), tmp_path / "answers.sqlite"
    with open_cache(path, DAY) as first, open_cache(path, DAY) as second:
        assert first
        assert second
        await ask(first, model)
        await ask(second, model)
    assert model.calls == 1


def test_another_file_is_refused_and_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes, which are not a database, and long enough to be read as the header of one" * 3)
    before = path.read_text()
    with pytest.raises(UsageError, match=r"cache: .*notes\.txt"), open_cache(path, DAY):
        pass
    assert path.read_text() == before


def test_only_the_owner_can_read_the_cache(tmp_path: Path) -> None:
    with open_cache(tmp_path / "answers.sqlite", DAY):
        pass
    assert (tmp_path / "answers.sqlite").stat().st_mode & 0o777 == 0o600


def test_a_cached_answer_costs_nothing_and_shows_what_it_cost() -> None:
    reply = Reply("x", usage=Usage(1_000_000, 0), cached_duration_ms=5)
    spend = prices.spend_of(Account("openai", ""), "openai/gpt-5-mini", reply)
    assert (spend.calls, spend.cached_calls, spend.cost_usd) == (1, 1, 0.0)
    assert spend.cached_cost_usd == prices.cost_usd("openai/gpt-5-mini", reply.usage)


def definition(**content: Any) -> dict[str, Any]:
    scenarios = [{"name": "one", "prompt": "one", "successCriteria": "answered"}]
    return {"content": {"system": "Answer"} | content, "scenarios": scenarios}


def evaluate(path: Path, **options: Any) -> Evaluation:
    source = options.pop("source", None) or definition()
    options = {"judge_model": "sim/steady", "seed": 1, "cache": path} | options
    return cupel.evaluate(source, "sim/steady", **options)


def test_targets_judges_and_simulated_users_are_answered_from_the_cache(tmp_path: Path) -> None:
    first, second = (evaluate(tmp_path / "answers.sqlite") for _ in range(2))
    assert first.total_spend.cached_calls == 0
    assert second.total_spend.cached_calls == second.total_spend.calls == first.total_spend.calls > 1
    assert [each.messages for each in second.results] == [each.messages for each in first.results]
    assert second.results[0].spends["judge"].cached_calls > 0
    assert second.to_json()["cachedCalls"] == second.total_spend.calls


def test_the_duration_of_a_cached_answer_is_that_of_its_call(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    evaluate(path)
    connection = sqlite3.connect(path, autocommit=True)
    connection.execute("""UPDATE answers SET answer = json_set(CAST(answer AS TEXT), '$.cached_duration_ms', 12345)""")
    connection.close()
    (result,) = evaluate(path).results
    assert result.transcript
    assert result.transcript.conversation.duration_ms == 12345 * result.transcript.conversation.turns


def test_a_short_time_to_live_may_be_given(tmp_path: Path) -> None:
    evaluate(tmp_path / "answers.sqlite")
    assert evaluate(tmp_path / "answers.sqlite", cache_ttl=timedelta(microseconds=1)).total_spend.cached_calls == 0


def test_true_stands_for_the_cache_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    evaluate(True)  # type: ignore[arg-type]
    assert Path(".cupel/answers.sqlite").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cache": 5}, "cache: must be True, False or a path"),
        ({"cache_ttl": 0}, "cache_ttl: must be a positive number of seconds, or a timedelta"),
    ],
)
def test_an_invalid_option_is_named(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        evaluate(tmp_path / "answers.sqlite", **options)


async def test_replies_of_a_judge_that_could_not_be_used_are_requested_again(answers: AnswerCache) -> None:
    model = Model()
    graded = ModelRequest((Message(MessageRole.USER, "Judge"),), role=ModelRole.JUDGE)
    answered = ModelRequest((Message(MessageRole.USER, "Hi"),))
    probe = CachedCalls(answers, 0, model)
    for request in (answered, graded):
        await probe(OPENAI, "openai/x", request, 10)
    probe.delete_grades()
    again = CachedCalls(answers, 0, model)
    assert [(await again(OPENAI, "openai/x", each, 10)).text for each in (answered, graded)] == ["answer 1", "answer 3"]


async def test_unusable_verdicts_are_not_found_again(tmp_path: Path) -> None:
    async with serving(responder("nonsense", "nonsense", verdict(success=True))) as server:
        options: Any = {"judge_model": "custom/judge", "providers": {"custom": {"base_url": server.url}}, "seed": 1}
        options["cache"] = tmp_path / "answers.sqlite"
        first, second = [await cupel.evaluate_async(definition(), "sim/steady", **options) for _ in range(2)]
    assert [each.results[0].success for each in (first, second)] == [None, True]
