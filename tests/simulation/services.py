"""Shared by the in-memory services."""

from typing import Any


class ServiceError(Exception):
    """An error response of a service; `fields` are added to the response body."""

    def __init__(self, code: str, message: str = "", **fields: Any) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.fields = fields
