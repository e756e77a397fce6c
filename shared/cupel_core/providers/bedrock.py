"""Amazon Bedrock Converse over boto3, which is synchronous: each call has a thread for as long as it waits.

boto3 is loaded with the first call: who evaluates without AWS need not have it in memory.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from cupel_core.domain.turns.model_request import Conversation, ErrorCode, Reply, Usage
from cupel_core.providers.account import Account
from cupel_core.providers.errors import Complaint, ProviderError, code_of_status, not_understood
from cupel_core.providers.retry_after import retry_after_seconds
from cupel_core.providers.wire_format import CamelModel, filtered, given, key_of, schema_instruction, without_fence

if TYPE_CHECKING:
    from botocore.exceptions import BotoCoreError, ClientError
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

MAX_THREADS = 128
"""Threads start as they are needed; the default executor would stop at six on a Lambda worker."""

_FILTERED = frozenset({"guardrail_intervened", "content_filtered"})
# Errors whose HTTP status alone does not say what is to be done.
_CODES = {
    "ExpiredTokenException": ErrorCode.AUTH,
    "ModelErrorException": ErrorCode.PROVIDER_ERROR,
    "ModelNotReadyException": ErrorCode.PROVIDER_ERROR,
    "ServiceQuotaExceededException": ErrorCode.RATE_LIMITED,
    "UnrecognizedClientException": ErrorCode.AUTH,
}

type ClientFor = Callable[[Account, float], "BedrockRuntimeClient"]


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="bedrock")


def client_for(account: Account, timeout_seconds: float) -> "BedrockRuntimeClient":
    """With a key of the account (an Amazon Bedrock API key), else with the role the process runs under."""
    return _client(account.base_url or None, key_of(account), timeout_seconds)


@lru_cache(maxsize=16)
def _client(endpoint_url: str | None, key: str, timeout_seconds: float) -> "BedrockRuntimeClient":
    import boto3
    from botocore import UNSIGNED
    from botocore.config import Config

    config = Config(
        connect_timeout=10,
        read_timeout=timeout_seconds,
        retries={"total_max_attempts": 1},
        max_pool_connections=MAX_THREADS,
        signature_version=UNSIGNED if key else None,
    )
    client = boto3.client("bedrock-runtime", endpoint_url=endpoint_url, config=config)
    if key:
        # boto3 itself takes such a key from the environment only, which all workspaces share.
        def bear(params: dict[str, Any], **_: object) -> None:
            params["headers"]["Authorization"] = f"Bearer {key}"

        client.meta.events.register("before-call.bedrock-runtime", bear)
    return client


async def answer(
    account: Account,
    model_name: str,
    conversation: Conversation,
    timeout_seconds: float,
    now: datetime,
    client_for: ClientFor = client_for,
) -> Reply:
    """One attempt. Raises `ProviderError`."""
    arguments = converse_arguments(model_name, conversation)
    body = await call(lambda client: client.converse(**arguments), account, timeout_seconds, now, client_for)
    try:
        return parse(body, structured=conversation.json_schema is not None)
    except ValidationError as error:
        raise not_understood(error) from None


async def call[T](
    work: "Callable[[BedrockRuntimeClient], T]",
    account: Account,
    timeout_seconds: float,
    now: datetime,
    client_for: ClientFor = client_for,
) -> T:
    """Raises `ProviderError`. A call given up on ends in its thread when boto3's own timeout comes."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        client = client_for(account, timeout_seconds)
        return await asyncio.get_running_loop().run_in_executor(_threads(), work, client)
    except ClientError as error:
        raise _error_of_answer(error, now) from None
    except BotoCoreError as error:
        raise ProviderError(_code_of_failure(error), str(error)) from None


def converse_arguments(model_name: str, conversation: Conversation) -> dict[str, Any]:
    """The models differ in the tools and schemas they take, so a schema goes into the instructions."""
    system = [{"text": conversation.system}] if conversation.system else []
    if conversation.json_schema:
        system.append({"text": schema_instruction(conversation.json_schema)})
    settings = given(temperature=conversation.temperature, maxTokens=conversation.max_output_tokens)
    return {
        "modelId": model_name,
        "messages": [{"role": said.role.value, "content": [{"text": said.content}]} for said in conversation.exchanges],
        **given(system=system or None, inferenceConfig=settings or None),
    }


class _Block(BaseModel):
    text: str = ""


class _Message(BaseModel):
    content: list[_Block]


class _Output(BaseModel):
    message: _Message


class _Tokens(CamelModel):
    """`inputTokens` leaves out what went through the prompt cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_write_input_tokens: int = 0


class _Converse(CamelModel):
    output: _Output
    stop_reason: str | None = None
    usage: _Tokens = _Tokens()


def parse(body: object, *, structured: bool = False) -> Reply:
    """Converse does not say which version answered: the model id is the version."""
    reply = _Converse.model_validate(body)
    if reply.stop_reason in _FILTERED:
        raise filtered(f"stopReason {reply.stop_reason}")
    text = "".join(block.text for block in reply.output.message.content)
    tokens = reply.usage
    input_tokens = tokens.input_tokens + tokens.cache_read_input_tokens + tokens.cache_write_input_tokens
    usage = Usage(input_tokens, tokens.output_tokens)
    return Reply(without_fence(text) if structured else text, None, usage, reply.stop_reason)


def _error_of_answer(error: "ClientError", now: datetime) -> ProviderError:
    name = error.response.get("Error", {}).get("Code", "")
    message = error.response.get("Error", {}).get("Message", "")
    metadata = error.response.get("ResponseMetadata", {})
    status = metadata.get("HTTPStatusCode", 500)
    code = _CODES.get(name) or code_of_status(status, Complaint(frozenset({name}), message))
    retry_after = retry_after_seconds(metadata.get("HTTPHeaders", {}), now)
    return ProviderError(code, f"HTTP {status} {name}: {message}", retry_after)


def _code_of_failure(error: "BotoCoreError") -> ErrorCode:
    from botocore import exceptions as told

    if isinstance(error, told.NoCredentialsError | told.PartialCredentialsError):
        return ErrorCode.AUTH
    if isinstance(error, told.ConnectTimeoutError | told.ReadTimeoutError):
        return ErrorCode.TIMEOUT
    lost = isinstance(error, told.EndpointConnectionError | told.ConnectionClosedError | told.HTTPClientError)
    return ErrorCode.NETWORK if lost else ErrorCode.INVALID_REQUEST
