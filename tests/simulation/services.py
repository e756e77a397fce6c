"""What the in-memory services have in common."""

from typing import Any


class Refused(Exception):
    """An error that a service answers with; `more` goes into the response beside it."""

    def __init__(self, code: str, message: str = "", **more: Any) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.more = more
