"""Agents that speak OpenAI's chat completions. They are told the whole conversation each time."""

from dataclasses import replace

from pydantic import ValidationError

from cupel_core.domain.resources.connectors import Connector
from cupel_core.domain.turns.model_request import Conversation, Reply
from cupel_core.providers import openai
from cupel_core.providers.account import Account
from cupel_core.providers.connectors.agent_client import Way
from cupel_core.providers.connectors.config import OpenAIConfig, read
from cupel_core.providers.errors import not_understood


async def answer(connector: Connector, conversation: Conversation, way: Way) -> Reply:
    """What the run asks for goes over the connector's own settings."""
    config = read(OpenAIConfig, connector)
    asked = replace(
        conversation,
        temperature=config.temperature if conversation.temperature is None else conversation.temperature,
        max_output_tokens=conversation.max_output_tokens or config.max_tokens,
    )
    request = openai.request_for(Account("connector", connector.base_url), config.model, asked)
    answered = await way.post("/chat/completions", {**config.parameters, **request.body})
    try:
        return openai.parse(answered)
    except ValidationError as error:
        raise not_understood(error) from None
