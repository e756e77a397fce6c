"""Resolves the targets of an evaluation: models, connectors, and Python functions as agents under test.

A function is `def agent(messages) -> str`, sync or async, optionally with the agent thread. `messages` are the
`{"role", "content"}` of the conversation so far, with a system message if there is one. The function returns a text, or
a mapping with the text in `content`; the other items are stored as the agent's `output`. A function with a second
parameter receives the `AgentThread`: `id` identifies the conversation, `turn` counts the answers so far.
"""

import asyncio
import inspect
import json
import traceback
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any

from pydantic import ValidationError

from cupel.errors import UsageError
from cupel.in_process.accounts import AccountResolver
from cupel.in_process.definition import (
    LoadedDefinition,
    parse_connector,
)
from cupel.in_process.options import CALL_TIMEOUT_SECONDS
from cupel_core.contract.parameters import TargetInput
from cupel_core.conversations.turn import CalledTarget
from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply
from cupel_core.domain.limits.backoff import MAX_ATTEMPTS
from cupel_core.domain.resources.connectors import PROVIDER, ConnectorType
from cupel_core.domain.runs.settings import RunSettings
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.text.storable import storable
from cupel_core.domain.text.validation_messages import error_message
from cupel_core.providers import simulated_model_error
from cupel_core.providers.account import Account
from cupel_core.providers.completion import Attempt
from cupel_core.providers.errors import ProviderError

type Agent = Callable[..., Any]
type TargetSpec = str | Mapping[str, Any] | Agent
"""A model, `connector/<name>`, a connector in the fields of a definition file, a function, or `{model, label,
params, maxAttempts, callTimeoutSeconds}`, in which `model` is one of the first two."""
type Targets = TargetSpec | Sequence[TargetSpec]
_TARGET_FIELDS = {"label", "params", "maxAttempts", "callTimeoutSeconds"}
"""A target has these fields besides its model, and a connector has none of them."""


@dataclass(frozen=True)
class ResolvedTarget:
    spec: Target
    account: Account
    agent: Agent | None = None

    def target(self, settings: RunSettings, executor: Executor, calls: Attempt) -> CalledTarget:
        return CalledTarget(
            account=self.account,
            model=self.spec.model,
            call_timeout_seconds=self.spec.call_timeout_seconds
            or settings.call_timeout_seconds
            or CALL_TIMEOUT_SECONDS,
            rng=Random(),  # noqa: S311
            max_attempts=self.spec.max_attempts or settings.max_attempts or MAX_ATTEMPTS,
            retry_delay_seconds=settings.retry_delay_seconds,
            attempt=FunctionTarget(self.agent, executor) if self.agent else calls,
        )


def resolve_targets(targets: Targets, loaded: LoadedDefinition, accounts: AccountResolver) -> Iterator[ResolvedTarget]:
    specs = targets if isinstance(targets, Sequence) and not isinstance(targets, str) else [targets]
    for position, spec in enumerate(specs):
        yield _resolve_target(spec, f"targets.{position}", loaded, accounts)


def _resolve_target(
    spec: TargetSpec, field: str, loaded: LoadedDefinition, accounts: AccountResolver
) -> ResolvedTarget:
    if callable(spec):
        return ResolvedTarget(Target(f"{PROVIDER}/{agent_name(spec)}"), Account(PROVIDER, ""), spec)
    if isinstance(spec, Mapping) and "model" in spec:
        own = parse_target(spec, field)
        resolved = _resolve_target(own.model, f"{field}.model", loaded, accounts)
        return replace(resolved, spec=replace(own, model=resolved.spec.model))
    if isinstance(spec, Mapping) and _TARGET_FIELDS & spec.keys():
        raise UsageError(f"{field}.model: is required")
    if isinstance(spec, str) and not spec.startswith(f"{PROVIDER}/"):
        if message := simulated_model_error(spec):
            raise UsageError(f"{field}: {message}")
        return ResolvedTarget(Target(spec), accounts.for_model(spec, field))
    if isinstance(spec, str):
        connector = loaded.connectors.get(spec.removeprefix(f"{PROVIDER}/"))
        if connector is None:
            known = ", ".join(loaded.connectors) or "none"
            raise UsageError(f"{field}: unknown connector {spec}; connectors of the definition: {known}")
    elif isinstance(spec, Mapping):
        connector = parse_connector(spec, field)
    else:
        kind = type(spec).__name__
        raise UsageError(f"{field}: must be a model, a connector, a mapping or a function, not {kind}")
    if connector.type is ConnectorType.TOOLS:
        raise UsageError(f"{field}: {connector.name} is a connector of type tools, which answers no messages")
    account = replace(Account(PROVIDER, connector.base_url), connector=connector, allow_private=True)
    return ResolvedTarget(Target(connector.target), account)


def parse_target(body: Mapping[str, Any], field: str) -> Target:
    try:
        return TargetInput.model_validate(dict(body)).target()
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, (field, *first["loc"])))
        raise UsageError(f"{where}: {error_message(first)}") from None


def account_json(account: Account) -> list[Any]:
    return [account.base_url, account.connector and account.connector.to_json()]


@dataclass(frozen=True)
class FunctionTarget:
    """Calls a function for its next answer. A sync function runs in a thread, which continues after a timeout."""

    agent: Agent
    executor: Executor

    async def __call__(self, account: Account, model: str, request: ModelRequest, timeout_seconds: float) -> Reply:
        """Raise ProviderError on a timeout and for any exception of the function: neither is an answer to judge."""
        del account, model
        messages = [{"role": str(message.role), "content": message.content} for message in request.messages]
        arguments = (messages, request.thread) if _takes_thread(self.agent) else (messages,)
        work = asyncio.ensure_future(self._call(arguments))
        try:
            await asyncio.wait({work}, timeout=timeout_seconds)
        finally:
            timed_out = work.cancel()
        if timed_out:
            raise ProviderError(ProbeErrorCode.TIMEOUT, f"no answer within {timeout_seconds:g} s")
        error = work.exception()
        if error is not None:
            raise _provider_error(error) from error
        return _reply(work.result())

    async def _call(self, arguments: tuple[Any, ...]) -> object:
        call = partial(self.agent, *arguments)
        if _is_async(self.agent):
            return await call()
        answer = await asyncio.get_running_loop().run_in_executor(self.executor, call)
        return await answer if isinstance(answer, Awaitable) else answer


def agent_name(agent: Agent) -> str:
    return str(getattr(agent, "__name__", None) or type(agent).__name__)


def _is_async(agent: Agent) -> bool:
    """Return whether it is async, which includes an object with an async `__call__`."""
    return inspect.iscoroutinefunction(agent) or inspect.iscoroutinefunction(type(agent).__call__)


def _takes_thread(agent: Agent) -> bool:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(agent).parameters.values()
    return sum(each.kind in kinds and each.default is each.empty for each in parameters) > 1


def _provider_error(error: BaseException) -> ProviderError:
    if isinstance(error, ProviderError):
        return error
    *_, last = traceback.extract_tb(error.__traceback__)
    where = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
    return ProviderError(ProbeErrorCode.PROVIDER_ERROR, f"{type(error).__name__}: {error} ({where})", final=True)


def _as_json(output: Mapping[Any, object]) -> dict[str, Any]:
    """Return values that can be saved and sent to a judge: other values and keys are replaced by their texts."""
    try:
        text = json.dumps({str(name): value for name, value in output.items()}, default=str, skipkeys=True)
    except (TypeError, ValueError, RecursionError) as error:
        message = f"the function returned a mapping that JSON cannot represent: {error}"
        raise ProviderError(ProbeErrorCode.PROVIDER_ERROR, message, final=True) from error
    return dict(json.loads(storable(text)))


def _reply(answer: object) -> Reply:
    if isinstance(answer, str):
        return Reply(storable(answer))
    if isinstance(answer, Mapping) and isinstance(answer.get("content"), str):
        output = {name: value for name, value in answer.items() if name != "content"}
        return Reply(storable(answer["content"]), output=_as_json(output) or None)
    raise ProviderError(
        ProbeErrorCode.PROVIDER_ERROR,
        f"the function must return a string or a mapping with `content`, not {type(answer).__name__}",
        final=True,
    )
