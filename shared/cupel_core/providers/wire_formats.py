from cupel_core.providers import anthropic, google, openai, openai_responses, vertex
from cupel_core.providers.wire_format import HttpWireFormat

HTTP_WIRE_FORMATS: dict[str, HttpWireFormat] = {
    "openai": openai,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "google": google,
    "vertex": vertex,
}
