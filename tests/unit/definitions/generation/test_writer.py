"""A model writes scenarios: none is lost or duplicated, whatever fails. On moto, with a scripted model."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

from cupel_core.accounts import keys as accounts
from cupel_core.base.errors import Conflict, Invalid, NotFound
from cupel_core.base.messages import GenerationRequest
from cupel_core.definitions import catalog
from cupel_core.definitions.generation import writer
from cupel_core.definitions.generation.generations import generation_request, get, start_generation
from cupel_core.definitions.generation.writer import ScenarioWriter, WriteResult
from cupel_core.domain.budgets.account import BudgetAccount
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode, Reply
from cupel_core.domain.definitions.definitions import Content, Dimension, Labels, Level
from cupel_core.domain.definitions.generations import Generation, GenerationMode, GenerationSpec, GenerationStatus
from cupel_core.domain.definitions.matrix import Matrix
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.resources.providers import ModelPrice
from cupel_core.providers.account import Account
from cupel_core.providers.completion import Attempt, complete
from cupel_core.providers.errors import ProviderError, RetryLater
from cupel_core.store import (
    blobs,
    budgets,
    clients,
    definition_scenarios,
    definitions,
    evaluation_settings,
    generations,
    governor,
    scenarios,
)
from cupel_core.store.budgets import GenerationRef
from cupel_core.store.settings import Settings
from tests.added_scenarios import add_scenarios, current_manifest

NOW = datetime(2026, 7, 1, tzinfo=UTC)
LONG = 300.0


class Model:
    """Writes `text <what the draft says>`, or does what `instead` says for a draft."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.instead: Callable[[str], str | None] = lambda _: None
        self.hangs = ""

    async def __call__(
        self,
        account: Account,  # noqa: ARG002 - the protocol's
        model: str,  # noqa: ARG002
        conversation: ModelRequest,
        /,
        *,
        timeout_seconds: float,  # noqa: ARG002
        max_wait_seconds: float,  # noqa: ARG002
        rng: Random,  # noqa: ARG002
        attempt: Attempt,  # noqa: ARG002
    ) -> Reply:
        draft = conversation.messages[-1].content.split("\n\n")[1]
        self.asked[draft] += 1
        if draft == self.hangs:
            await asyncio.Event().wait()
        instead = self.instead(draft)
        return Reply(f"text {draft}" if instead is None else instead)


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def queued(cloud: Settings) -> Generation:
    """250 combinations to write."""
    levels = [{"score": score, "label": str(score)} for score in range(50)]
    sizes = [{"name": "b", "levels": levels[:5]}, {"name": "a", "levels": levels}]
    content = {"template": "[b]-[a]", "dimensions": sizes}
    definition_id = catalog.create("ws", Labels("one"), content, NOW).head.id
    return start_generation("ws", definition_id, GenerationSpec(GenerationMode.LLM, model="sim/steady"), NOW)


def stored(generation: Generation) -> Generation:
    return generations.get("ws", generation.definition_id, generation.id)


def texts(generation: Generation) -> list[str]:
    manifest = current_manifest("ws", generation.definition_id)
    return [scenarios.get_scenario(manifest, position).messages[0].content for position in range(manifest.total)]


def drafts(count: int = 250) -> list[str]:
    return [f"{index // 50}-{index % 50}" for index in range(count)]


def requests(cloud: Settings) -> list[str]:
    """The messages in the queue, including delayed ones."""
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesDelayed"]
    counts = clients.sqs().get_queue_attributes(QueueUrl=cloud.generate_queue_url, AttributeNames=names)["Attributes"]
    return [counts[name] for name in names]


def one_chunk() -> Callable[[], float]:
    """Time for a single chunk: claim, write, and then too late for another."""
    left = iter([LONG, LONG])
    return lambda: next(left, 0.0)


async def proceed(generation: Generation, model: Model, remaining: Callable[[], float] = lambda: LONG) -> WriteResult:
    return await writer.write_scenarios(generation_request(generation), remaining, model)


async def test_every_combination_becomes_a_scenario_with_its_scores(queued: Generation, model: Model) -> None:
    assert await proceed(queued, model) is WriteResult.COMPLETED
    assert texts(queued) == [f"text {draft}" for draft in drafts()]
    manifest = current_manifest("ws", queued.definition_id)
    assert scenarios.get_scenario(manifest, 51).dimensions == {"b": 1, "a": 1}
    assert (stored(queued).status, stored(queued).completed) == (GenerationStatus.COMPLETED, 250)


async def test_a_short_invocation_requeues_the_rest_and_no_text_is_requested_twice(
    queued: Generation, model: Model, cloud: Settings
) -> None:
    steps = [await proceed(queued, model, one_chunk()) for _ in range(2)]
    assert (steps, stored(queued).completed, texts(queued)) == ([WriteResult.REQUEUED] * 2, 200, [])
    assert requests(cloud) == ["3", "0"]
    assert await proceed(queued, model) is WriteResult.COMPLETED
    assert model.asked == Counter(drafts())


async def test_a_message_redelivered_after_the_end_does_nothing(queued: Generation, model: Model) -> None:
    await proceed(queued, model)
    assert await proceed(queued, model) is WriteResult.NOTHING
    assert (model.asked, len(texts(queued))) == (Counter(drafts()), 250)


async def test_a_message_delivered_twice_at_once_is_processed_once(queued: Generation, model: Model) -> None:
    now = datetime.now(UTC)
    assert generations.claim(generation_request(queued), now, now + timedelta(minutes=5))
    assert await proceed(queued, model) is WriteResult.NOTHING
    assert not model.asked


async def test_work_of_a_dead_worker_continues_when_its_lease_expires(queued: Generation, model: Model) -> None:
    earlier = datetime.now(UTC) - timedelta(minutes=10)
    held = generations.claim(generation_request(queued), earlier, earlier + timedelta(minutes=5))
    assert held
    generations.append_part(held, ["text 0-0"], earlier, earlier + timedelta(minutes=5))
    assert await proceed(queued, model) is WriteResult.COMPLETED
    assert model.asked == Counter(drafts()[1:])


async def test_a_worker_that_lost_its_lease_stores_nothing(queued: Generation) -> None:
    until = NOW + timedelta(minutes=5)
    late = generations.claim(generation_request(queued), NOW, until)
    quick = generations.claim(generation_request(queued), until + timedelta(seconds=1), until + timedelta(minutes=5))
    assert late
    assert quick
    assert generations.append_part(quick, ["quick", "quick"], until, until)
    assert generations.append_part(late, ["late"], until, until) is None
    assert list(generations.read_texts(stored(queued))) == ["quick", "quick"]


async def test_a_final_error_ends_the_generation_and_adds_nothing(queued: Generation, model: Model) -> None:
    def refuse(draft: str) -> None:
        if draft == "3-7":
            raise ProviderError(ProbeErrorCode.CONTENT_FILTERED, "not that")

    model.instead = refuse
    assert await proceed(queued, model) is WriteResult.FAILED
    assert (stored(queued).status, stored(queued).error) == (GenerationStatus.ERROR, "content_filtered: not that")
    assert texts(queued) == []


async def test_a_temporary_error_is_retried_later_and_earlier_texts_are_kept(
    queued: Generation, model: Model, cloud: Settings
) -> None:
    def wait(draft: str) -> None:
        if draft == "0-30":
            raise RetryLater(120, ProbeErrorCode.RATE_LIMITED)

    model.instead = wait
    assert await proceed(queued, model) is WriteResult.REQUEUED
    assert (stored(queued).completed, stored(queued).failed_attempts, requests(cloud)) == (30, 1, ["1", "1"])
    model.instead = lambda _: None
    assert await proceed(queued, model) is WriteResult.COMPLETED
    assert texts(queued) == [f"text {draft}" for draft in drafts()]


async def test_retries_are_limited(queued: Generation, model: Model) -> None:
    def fail(_: str) -> None:
        raise ProviderError(ProbeErrorCode.NETWORK, "no route")

    model.instead = fail
    steps = [await proceed(queued, model) for _ in range(writer.MAX_FAILED_ATTEMPTS + 1)]
    assert steps == [WriteResult.REQUEUED] * writer.MAX_FAILED_ATTEMPTS + [WriteResult.FAILED]
    assert stored(queued).error == "network: no route"


async def test_a_paused_provider_postpones_a_generation_without_a_failed_attempt(queued: Generation) -> None:
    governor.set_paused("ws", "sim", True)
    assert await writer.write_scenarios(generation_request(queued), lambda: LONG) is WriteResult.REQUEUED
    assert (stored(queued).failed_attempts, texts(queued)) == (0, [])


async def test_an_empty_text_is_requested_again(queued: Generation, model: Model) -> None:
    model.instead = lambda draft: " \n" if draft == "1-1" and model.asked[draft] < 3 else None
    assert await proceed(queued, model) is WriteResult.COMPLETED
    assert texts(queued)[51] == "text 1-1"


async def test_a_model_that_writes_no_text_fails_the_generation(queued: Generation, model: Model) -> None:
    model.instead = lambda draft: "" if draft == "1-1" else None
    assert await proceed(queued, model) is WriteResult.FAILED
    assert "replies for combination 51 were empty" in (stored(queued).error or "")
    assert texts(queued) == []


@pytest.mark.parametrize("kept", [["x"] * 249, ["x"] * 249 + [" "]])
async def test_a_missing_text_is_noticed_before_anything_is_added(
    queued: Generation, model: Model, kept: list[str]
) -> None:
    until = NOW + timedelta(minutes=5)
    held = generations.claim(generation_request(queued), NOW, until)
    assert held
    whole = generations.append_part(held, ["x"] * 250, NOW, until)
    assert whole
    blobs.put_json(whole.parts[0].key, kept)
    assert await proceed(queued, model) is WriteResult.FAILED
    assert stored(queued).error == "combination 249 has no text"
    assert texts(queued) == []


async def test_other_scenarios_stay_unless_they_are_to_be_replaced(queued: Generation, model: Model) -> None:
    add_scenarios("ws", queued.definition_id, [Scenario("", "", (Message(MessageRole.USER, "mine"),))])
    await proceed(queued, model)
    assert texts(queued)[:2] == ["mine", "text 0-0"]
    spec = GenerationSpec(GenerationMode.LLM, model="sim/steady", replace=True)
    await proceed(start_generation("ws", queued.definition_id, spec, NOW), model)
    assert texts(queued)[:2] == ["text 0-0", "text 0-1"]


async def test_a_finished_generation_is_not_finished_again(queued: Generation, model: Model) -> None:
    await proceed(queued, model)
    current = definition_scenarios.get_current("ws", queued.definition_id)
    grown = scenarios.write_pages("ws", queued.definition_id, current.manifest, [])
    assert generations.finish(stored(queued), current, grown, NOW) is False
    assert len(texts(queued)) == 250


async def test_scenarios_added_meanwhile_are_not_lost(queued: Generation) -> None:
    current = definition_scenarios.get_current("ws", queued.definition_id)
    grown = scenarios.write_pages("ws", queued.definition_id, current.manifest, [])
    add_scenarios("ws", queued.definition_id, [Scenario("", "", (Message(MessageRole.USER, "mine"),))])
    with pytest.raises(Conflict):
        generations.finish(queued, current, grown, NOW)
    assert (texts(queued), stored(queued).status) == (["mine"], GenerationStatus.QUEUED)


async def test_a_definition_that_was_deleted_ends_its_generation(queued: Generation, model: Model) -> None:
    catalog.delete("ws", queued.definition_id, NOW)
    assert await proceed(queued, model) is WriteResult.FAILED
    assert stored(queued).status is GenerationStatus.ERROR


async def test_a_changed_definition_is_written_as_it_was(queued: Generation, model: Model) -> None:
    catalog.update("ws", queued.definition_id, Labels(), {"template": "new [a] [b]"}, NOW)
    await proceed(queued, model)
    assert texts(queued)[0] == "text 0-0"


def test_a_request_whose_invocations_died_is_given_up(queued: Generation) -> None:
    assert writer.give_up(generation_request(queued)) is WriteResult.FAILED
    assert stored(queued).status is GenerationStatus.ERROR
    assert writer.give_up(generation_request(queued)) is WriteResult.NOTHING


async def test_a_request_for_an_unknown_generation_is_not_found(cloud: Settings, model: Model) -> None:
    order = GenerationRequest(workspace="ws", definition_id="def_1", generation_id="gen_1")
    with pytest.raises(NotFound):
        await writer.write_scenarios(order, lambda: LONG, model)


async def test_a_model_that_hangs_is_cancelled_when_the_time_is_up(cloud: Settings, model: Model) -> None:
    levels = tuple(Level(score, str(score)) for score in range(50))
    matrix = Matrix(Content(template="0-[a]", dimensions=(Dimension("a", levels),)))
    writer = ScenarioWriter(matrix, Account("sim", ""), "sim/steady", model, complete)
    model.hangs = "0-40"
    assert await writer.write(range(50), 0.2) == ([f"text {draft}" for draft in drafts(40)], None)
    texts, setback = await writer.write(range(40, 50), 0.2)
    assert texts == []
    assert isinstance(setback, ProviderError)
    assert setback.retryable


PRICE = ModelPrice(None, 1_000.0, 1_000.0)


async def test_texts_are_charged_to_the_workspaces_budget(queued: Generation) -> None:
    accounts.update_provider("ws", "sim", {"prices": (PRICE,)})
    evaluation_settings.update("ws", {"budget_day_usd": 10_000.0})
    assert await writer.write_scenarios(generation_request(queued), lambda: LONG) is WriteResult.COMPLETED
    limits = evaluation_settings.get_budgets("ws")
    day = limits.day_at(time.time())
    account = budgets.get_month("ws", day)
    assert account.used(BudgetScope.DAY, day) > 250 * 10**6
    assert (account.reserved(BudgetScope.DAY, day), account.uncertain(BudgetScope.DAY, day)) == (0, 0)


async def test_a_generation_fails_when_the_workspaces_budget_is_used_up(queued: Generation) -> None:
    accounts.update_provider("ws", "sim", {"prices": (PRICE,)})
    evaluation_settings.update("ws", {"budget_day_usd": 0.01})
    assert await writer.write_scenarios(generation_request(queued), lambda: LONG) is WriteResult.FAILED
    error = stored(queued).error
    assert error is not None
    assert error.startswith("budget: the workspace's budget of $0.01 for the day is used up")
    assert texts(queued) == []


def budgeted(queued: Generation, max_usd: float) -> Generation:
    accounts.update_provider("ws", "sim", {"prices": (PRICE,)})
    spec = GenerationSpec(GenerationMode.LLM, model="sim/steady", max_budget_usd=max_usd)
    return start_generation("ws", queued.definition_id, spec, NOW)


def account_of(generation: Generation) -> BudgetAccount:
    return get("ws", generation.definition_id, generation.id).account


def spent_nano_usd(generation: Generation) -> int:
    return sum(account_of(generation).spent_by_role.values())


async def test_texts_are_charged_to_the_generations_own_budget_and_the_workspaces(queued: Generation) -> None:
    evaluation_settings.update("ws", {"budget_day_usd": 10_000.0})
    generation = budgeted(queued, 1_000.0)
    assert stored(generation).max_budget_usd == 1_000.0
    assert await writer.write_scenarios(generation_request(generation), lambda: LONG) is WriteResult.COMPLETED
    assert len(texts(generation)) == 250
    assert spent_nano_usd(generation) > 250 * 10**6
    assert (account_of(generation).reserved, account_of(generation).total_uncertain) == (0, 0)
    day = evaluation_settings.get_budgets("ws").day_at(time.time())
    assert budgets.get_month("ws", day).used(BudgetScope.DAY, day) == spent_nano_usd(generation)


async def test_a_generation_that_uses_up_its_budget_fails_and_adds_nothing(queued: Generation) -> None:
    generation = budgeted(queued, 7.0)
    assert await writer.write_scenarios(generation_request(generation), lambda: LONG) is WriteResult.FAILED
    assert 0 < spent_nano_usd(generation) < 7 * 10**9
    error = stored(generation).error or ""
    assert re.match(
        r"budget: the generation's budget of \$7 is used up: \d+ of 250 texts were stored, and the next call may cost "
        r"\$4\.\d+; no scenario was added; generate again with a greater maxBudgetUsd",
        error,
    )
    assert texts(generation) == []


async def test_a_generation_continues_with_what_is_left_of_its_budget(queued: Generation) -> None:
    generation = budgeted(queued, 1_000.0)
    request = generation_request(generation)

    def left() -> float:
        return LONG if stored(generation).completed < 100 else 0.0

    assert await writer.write_scenarios(request, left) is WriteResult.REQUEUED
    first, written = spent_nano_usd(generation), stored(generation).completed
    assert (first > 0, written) == (True, 100)
    assert await writer.write_scenarios(request, lambda: LONG) is WriteResult.COMPLETED
    assert 2 * first < spent_nano_usd(generation) < 3 * first


async def test_the_account_of_a_generation_is_erased_with_its_definition(queued: Generation) -> None:
    generation = budgeted(queued, 1_000.0)
    await writer.write_scenarios(generation_request(generation), lambda: LONG)
    assert spent_nano_usd(generation) > 0
    owner = GenerationRef("ws", generation.definition_id, generation.id)
    definitions.erase("ws", generation.definition_id)
    assert budgets.get(owner) == BudgetAccount()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"mode": GenerationMode.MATRIX, "model": None}, "maxBudgetUsd"),
        ({"model": "custom/unpriced"}, "allowUnpriced"),
        ({"max_budget_usd": 4.0}, "maxBudgetUsd"),
    ],
)
def test_a_budget_that_cannot_hold_is_refused(queued: Generation, changes: dict[str, Any], field: str) -> None:
    accounts.update_provider("ws", "sim", {"prices": (PRICE,)})
    accounts.update_provider("ws", "custom", {"base_url": "https://models.example.com/v1"})
    spec = GenerationSpec(GenerationMode.LLM, model="sim/steady", max_budget_usd=50.0)
    with pytest.raises(Invalid) as refusal:
        start_generation("ws", queued.definition_id, replace(spec, **changes), NOW)
    assert [error.field for error in refusal.value.errors] == [field]
