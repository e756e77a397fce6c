"""The wire formats of providers over HTTP, by their names in the registry."""

from cupel_core.providers import anthropic, google, openai
from cupel_core.providers.wire_format import HttpWire

HTTP_WIRES: dict[str, HttpWire] = {"openai": openai, "anthropic": anthropic, "google": google}
