"""Amazon Bedrock Converse over boto3, which is synchronous: each call occupies a thread while it waits.

boto3 is imported at the first call, so that evaluations without AWS do not load it.
"""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import cache, lru_cache
from itertools import count, groupby
from typing import TYPE_CHECKING, Any, cast

import orjson

from cupel_core.domain.conversations.model_parameters import ModelParameters, ReasoningEffort
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode, Reply
from cupel_core.domain.conversations.parts import TextPart
from cupel_core.domain.conversations.reply_ends import ReplyEnd, end_of
from cupel_core.domain.conversations.tools import ToolCall, ToolChoice, ToolMode
from cupel_core.providers.account import Account
from cupel_core.providers.addresses import is_bedrock_address
from cupel_core.providers.errors import ErrorDetail, ProviderError, malformed_reply, refusal_error, reply_error
from cupel_core.providers.reply_ends import check_end
from cupel_core.providers.reply_fields import arguments_of, content_of, label, mapping, mappings
from cupel_core.providers.retry_after import retry_after_seconds
from cupel_core.providers.token_usage import bedrock_usage
from cupel_core.providers.wire_format import (
    AttachedFile,
    api_key_of,
    content_filtered_error,
    enforced_schema,
    is_closed_schema,
    json_instruction,
    without_none,
)

if TYPE_CHECKING:
    from botocore.exceptions import BotoCoreError, ClientError
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

MAX_THREADS = 440
"""More than a worker has calls to one account, because waiting for a thread would count as the model's latency.

Threads start as they are needed.
"""

_NATIVE_SCHEMA = re.compile(
    r"(?:.*[./])?(anthropic\.claude-(opus|sonnet|haiku)-(4-[5-9]|[5-9])(?!\d)|deepseek\.v3|google\.gemma-3"
    r"|minimax\.minimax-m2|mistral\.(magistral-small|ministral-3|mistral-large-3|voxtral)|moonshot(ai)?\.kimi-k2"
    r"|nvidia\.nemotron-nano|openai\.gpt-oss|qwen\.qwen3).*"
)
"""Amazon documents that Converse enforces schemas for these models. Where it does not, it refuses the field by name."""


type ClientFor = Callable[[Account, float], "BedrockRuntimeClient"]


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="bedrock")


def client_for(account: Account, timeout_seconds: float) -> "BedrockRuntimeClient":
    """Return a client that uses the account's Amazon Bedrock API key, or the process's own role if the account may.
    Raise `ProviderError` without either, and for an address that is not Bedrock's unless the stack allows private
    endpoints."""
    if account.base_url and not (account.allow_private or is_bedrock_address(account.base_url)):
        message = "the baseUrl of bedrock is not an endpoint of Amazon Bedrock"
        raise ProviderError(ProbeErrorCode.INVALID_REQUEST, message, final=True)
    key = api_key_of(account)
    if not key and not account.uses_role:
        raise ProviderError(ProbeErrorCode.AUTH, "provider bedrock has no API key", final=True)
    return _client(account.base_url or None, key, timeout_seconds)


def has_role() -> bool:
    from botocore.session import get_session

    return get_session().get_credentials() is not None


@lru_cache(maxsize=16)
def _client(endpoint_url: str | None, key: str, timeout_seconds: float) -> "BedrockRuntimeClient":
    from botocore import UNSIGNED
    from botocore.config import Config
    from botocore.session import get_session

    config = Config(
        # AWS_ENDPOINT_URL may name an emulator, which would answer in place of the model.
        ignore_configured_endpoint_urls=True,  # type: ignore[call-arg]  # the stubs lack it
        connect_timeout=10,
        read_timeout=timeout_seconds,
        retries={"total_max_attempts": 1},
        max_pool_connections=MAX_THREADS,
        signature_version=UNSIGNED if key else None,
    )
    client = cast(
        "BedrockRuntimeClient",
        get_session().create_client("bedrock-runtime", endpoint_url=endpoint_url, config=config),
    )
    if key:
        # boto3 reads such a key only from the environment, which all workspaces share.
        def add_bearer_token(params: dict[str, Any], **_: object) -> None:
            params["headers"]["Authorization"] = f"Bearer {key}"

        client.meta.events.register("before-call.bedrock-runtime", add_bearer_token)
    return client


async def complete(
    account: Account,
    model_name: str,
    request: ModelRequest,
    timeout_seconds: float,
    now: datetime,
    client_for: ClientFor = client_for,
) -> Reply:
    """Make one attempt at the next message. Raise `ProviderError`."""
    arguments = converse_arguments(model_name, request)
    body = await call(lambda client: client.converse(**arguments), account, timeout_seconds, now, client_for)
    return parse(body)


async def call[T](
    operation: "Callable[[BedrockRuntimeClient], T]",
    account: Account,
    timeout_seconds: float,
    now: datetime,
    client_for: ClientFor = client_for,
) -> T:
    """Run one boto3 call in a thread. Raise `ProviderError`. An abandoned call occupies its thread until boto3's own
    timeout expires."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        client = client_for(account, timeout_seconds)
        return await asyncio.get_running_loop().run_in_executor(_threads(), operation, client)
    except ClientError as error:
        raise _error_from_client_error(error, now) from None
    except BotoCoreError as error:
        raise ProviderError(_code_of_botocore_error(error), str(error)) from None


def converse_arguments(model_name: str, request: ModelRequest) -> dict[str, Any]:
    parameters, is_enforced = request.parameters, _enforces_schema(model_name, request)
    system = [{"text": request.system}] if request.system else []
    if request.wants_json and not is_enforced:
        system.append({"text": json_instruction(request.json_schema)})
    settings = without_none(
        temperature=parameters.temperature,
        topP=parameters.top_p,
        maxTokens=parameters.max_output_tokens,
        stopSequences=list(parameters.stop) or None,
    )
    return {
        "modelId": model_name,
        "messages": list(_messages(request)),
        **without_none(
            system=system or None,
            inferenceConfig=settings or None,
            toolConfig=_tool_config(parameters) if parameters.tools else None,
            outputConfig=_output_config(request, is_enforced=is_enforced) or None,
        ),
    }


def _enforces_schema(model_name: str, request: ModelRequest) -> bool:
    schema = request.json_schema
    return schema is not None and is_closed_schema(schema) and _NATIVE_SCHEMA.fullmatch(model_name) is not None


def _output_config(request: ModelRequest, *, is_enforced: bool) -> dict[str, object]:
    effort, config = request.parameters.reasoning_effort, dict[str, object]()
    if effort is not None and effort is not ReasoningEffort.NONE:
        config["effort"] = "low" if effort is ReasoningEffort.MINIMAL else effort.value
    if is_enforced and (reply_format := request.parameters.response_format):
        schema = {"name": reply_format.name, "schema": orjson.dumps(enforced_schema(request)).decode()}
        config["textFormat"] = {"type": "json_schema", "structure": {"jsonSchema": schema}}
    return config


def _tool_config(parameters: ModelParameters) -> dict[str, object] | None:
    """Return the tools. Converse cannot forbid the tools that it gets, so it gets none if they are forbidden."""
    choice = parameters.tool_choice
    if choice and choice.mode is ToolMode.NONE:
        return None
    tools = [
        {
            "toolSpec": {
                "name": tool.name,
                **without_none(description=tool.description, strict=tool.strict),
                "inputSchema": {"json": dict(tool.schema)},
            }
        }
        for tool in parameters.tools
    ]
    return {"tools": tools, **without_none(toolChoice=_tool_choice(choice) if choice else None)}


def _tool_choice(choice: ToolChoice) -> dict[str, object]:
    if choice.name:
        return {"tool": {"name": choice.name}}
    return {"any": {}} if choice.mode is ToolMode.REQUIRED else {"auto": {}}


def _messages(request: ModelRequest) -> Iterator[dict[str, object]]:
    """Yield the messages. Results of tools are a user's, and those of one turn are sent together."""
    numbers = count(1)
    for is_result, group in groupby(request.exchanges, key=lambda message: message.role is MessageRole.TOOL):
        messages = list(group)
        if is_result:
            yield {"role": "user", "content": [_tool_result(message) for message in messages]}
        else:
            for message in messages:
                yield {"role": message.role.value, "content": _content(request, message, numbers)}


def _tool_result(message: Message) -> dict[str, object]:
    failed = {"status": "error"} if message.is_error else {}
    return {"toolResult": {"toolUseId": message.tool_call_id, "content": [{"text": message.content}], **failed}}


def _content(request: ModelRequest, message: Message, numbers: Iterator[int]) -> list[dict[str, object]]:
    if message.parts:
        return list(_blocks(request, message, numbers))
    calls: list[dict[str, object]] = [
        {"toolUse": {"toolUseId": call.id, "name": call.sendable_name, "input": call.arguments_object}}
        for call in message.tool_calls
    ]
    return [{"text": message.content}, *calls] if message.content or not calls else calls


def _blocks(request: ModelRequest, message: Message, numbers: Iterator[int]) -> Iterator[dict[str, object]]:
    """Yield the blocks of a message. A document needs a text beside it, and a name of letters and digits that no other
    document of the request has."""
    has_text = False
    for part in message.parts:
        if isinstance(part, TextPart):
            has_text = True
            yield {"text": part.text}
            continue
        file = AttachedFile(request, part)
        source = {"format": str(file.format), "source": {"bytes": file.content}}
        yield {"document": {**source, "name": f"document-{next(numbers)}"}} if file.is_pdf else {"image": source}
    if not has_text:
        yield {"text": message.content}


def parse(body: object) -> Reply:
    """Parse a reply. Converse does not report a model version; the model id identifies the version."""
    if error := reply_error(body):
        raise error
    response = mapping(body)
    tokens, reason = bedrock_usage(response.get("usage")), label(response.get("stopReason"))
    if end_of(reason) is ReplyEnd.FILTERED:
        raise content_filtered_error(f"stopReason {reason}", tokens)
    written = mapping(mapping(response.get("output")).get("message")).get("content")
    content, calls = content_of(written), tuple(_calls(mappings(written)))
    if content.text is None and not calls:
        check_end("", reason, tokens, None)
        raise malformed_reply("it has neither a text nor calls of tools", tokens)
    return Reply(content.text or "", None, tokens, reason, tool_calls=calls, reasoning=content.reasoning)


def _calls(blocks: list[Mapping[str, object]]) -> Iterator[ToolCall]:
    calls = (mapping(block["toolUse"]) for block in blocks if block.get("toolUse") is not None)
    for number, call in enumerate(calls, 1):
        call_id = label(call.get("toolUseId")) or f"call_{number}"
        yield ToolCall(call_id, label(call.get("name")) or "", arguments_of(call.get("input")))


def _error_from_client_error(error: "ClientError", now: datetime) -> ProviderError:
    name = error.response.get("Error", {}).get("Code", "")
    message = error.response.get("Error", {}).get("Message", "")
    metadata = error.response.get("ResponseMetadata", {})
    status = metadata.get("HTTPStatusCode", 500)
    retry_after = retry_after_seconds(metadata.get("HTTPHeaders", {}), now)
    detail = ErrorDetail(frozenset({name}), message, retry_after)
    return refusal_error(status, detail, f"HTTP {status} {name}: {message}", now)


def _code_of_botocore_error(error: "BotoCoreError") -> ProbeErrorCode:
    from botocore import exceptions

    if isinstance(error, exceptions.NoCredentialsError | exceptions.PartialCredentialsError):
        return ProbeErrorCode.AUTH
    if isinstance(error, exceptions.ConnectTimeoutError | exceptions.ReadTimeoutError):
        return ProbeErrorCode.TIMEOUT
    is_network_error = isinstance(
        error, exceptions.EndpointConnectionError | exceptions.ConnectionClosedError | exceptions.HTTPClientError
    )
    return ProbeErrorCode.NETWORK if is_network_error else ProbeErrorCode.INVALID_REQUEST
