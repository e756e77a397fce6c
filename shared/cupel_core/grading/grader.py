"""A model that is asked for something beside the conversation under test: a verdict, a score, a user's next words."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import NamedTuple

from pydantic import BaseModel, ValidationError

from cupel_core.domain.turns.conversation import Spend
from cupel_core.domain.turns.model_request import Conversation, ErrorCode, Message, Reply, Role
from cupel_core.providers import prices
from cupel_core.providers.account import Account
from cupel_core.providers.completion import Attempt, complete, complete_with_retry
from cupel_core.providers.errors import PleaseWait, ProviderError


@dataclass(frozen=True)
class Grader:
    """A model and how it is called. `guard` is held around each call: it may wait, and raise what stops the call."""

    account: Account
    model: str
    timeout_seconds: float
    patience_seconds: float
    rng: Random
    attempt: Attempt = complete
    guard: Callable[[], AbstractAsyncContextManager[None]] = nullcontext


class Asked[T](NamedTuple):
    value: T
    raw: str
    """The answer it was read from."""
    spend: Spend


class JudgeError(ProviderError):
    """The judge, or the simulated user, could not be asked or made no sense. Nothing is known about the target."""

    title = "The judge failed"

    def __init__(self, message: str, spend: Spend, attempts: int = 1) -> None:
        super().__init__(ErrorCode.JUDGE_ERROR, message, attempts=attempts)
        self.spend = spend


async def ask[T: BaseModel](grader: Grader, conversation: Conversation, shape: type[T]) -> Asked[T]:
    """An object of this shape, natively where the provider can hold its model to one, and with one repair attempt.

    Raises JudgeError when the model keeps answering something else or cannot be asked; PleaseWait and whatever else
    the attempt raises to stop passes through.
    """
    conversation = _shaped(conversation, shape.model_json_schema())
    spend = Spend()
    for _ in range(2):
        reply, spend = await _answer(grader, conversation, spend)
        try:
            return Asked(shape.model_validate_json(_json_of(reply.text)), reply.text, spend)
        except ValidationError as error:
            conversation = conversation.say(Role.ASSISTANT, reply.text or "(nothing)").say(Role.USER, _repair(error))
    raise JudgeError(f"{grader.model} gave no valid answer, also when asked again", spend, attempts=2)


def quoted(messages: tuple[Message, ...]) -> str:
    """A conversation as material to read, not to take part in."""
    return "\n\n".join(f"<{message.role}>\n{message.content}\n</{message.role}>" for message in messages)


def _shaped(conversation: Conversation, schema: Mapping[str, object]) -> Conversation:
    return Conversation(
        conversation.messages, conversation.temperature, conversation.max_output_tokens, dict(schema), conversation.case
    )


async def _answer(grader: Grader, conversation: Conversation, spend: Spend) -> tuple[Reply, Spend]:
    try:
        reply = await complete_with_retry(
            grader.account,
            grader.model,
            conversation,
            timeout_seconds=grader.timeout_seconds,
            patience_seconds=grader.patience_seconds,
            rng=grader.rng,
            attempt=partial(_attempt, grader),
        )
    except PleaseWait as wait:  # Should it never end, it was not the target that asked to wait.
        raise PleaseWait(wait.retry_after_seconds, ErrorCode.JUDGE_ERROR, wait.attempts) from wait
    except ProviderError as error:
        raise JudgeError(f"{grader.model}: {error.code}: {error.message}", spend, error.attempts) from error
    price = prices.cost_usd(grader.model, reply.usage)
    return reply, spend + Spend(1, reply.usage, price)


async def _attempt(
    grader: Grader, account: Account, model: str, conversation: Conversation, timeout_seconds: float
) -> Reply:
    async with grader.guard():
        return await grader.attempt(account, model, conversation, timeout_seconds)


def _repair(error: ValidationError) -> str:
    wrong = "; ".join(f"{'.'.join(map(str, each['loc'])) or 'it'}: {each['msg']}" for each in error.errors()[:5])
    return f"That was not one JSON object as described ({wrong}). Answer with the corrected object alone."


def _json_of(text: str) -> str:
    """The object in an answer that wraps it in a code fence or in words."""
    first, last = text.find("{"), text.rfind("}")
    return text[first : last + 1] if 0 <= first < last else text
