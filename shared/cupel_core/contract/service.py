"""The health of the service, and its version."""

from cupel_core.contract.common import ResponseModel

VERSION = "0.1.0"
"""The project's version; a test compares it with pyproject.toml."""


class HealthResponse(ResponseModel):
    status: str
    """Always `ok`. Example: ok"""
    version: str
    """Version of Cupel. Example: 0.1.0"""
