"""The wire formats of providers over HTTP, by their name in the provider registry."""

from cupel_core.providers import anthropic, google, openai
from cupel_core.providers.wire_format import HttpWireFormat

HTTP_WIRE_FORMATS: dict[str, HttpWireFormat] = {"openai": openai, "anthropic": anthropic, "google": google}
