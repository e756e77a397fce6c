"""The wire formats of providers over HTTP, by their names in the registry."""

from shared.providers import anthropic, google, openai
from shared.providers.wire import HttpWire

HTTP_WIRES: dict[str, HttpWire] = {"openai": openai, "anthropic": anthropic, "google": google}
