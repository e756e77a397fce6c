"""Errors for callers of the API. The class determines the exit code of the command."""

from typing import NamedTuple

from cupel.json_types import Json


class RefusedField(NamedTuple):
    """A field that the API rejected, and why."""

    field: str
    message: str


class CupelError(Exception):
    """The request was valid, but the work failed."""

    exit_code = 1


class UsageError(CupelError):
    """Invalid arguments or an invalid file: repeating the call unchanged cannot help."""

    exit_code = 2


class NotConnected(CupelError):
    """The API could not be reached."""


class ApiProblem(CupelError):
    """A problem document (RFC 9457) of the API, or any other unsuccessful response."""

    def __init__(
        self,
        status: int,
        title: str,
        detail: str = "",
        errors: tuple[RefusedField, ...] = (),
        etag: str | None = None,
        estimate: Json | None = None,
    ) -> None:
        super().__init__(f"{status} {title}" + (f": {detail}" if detail else ""))
        self.status = status
        self.title = title
        self.detail = detail
        self.errors = errors
        self.etag = etag
        """Of a 412: the tag of the current state, if it is known."""
        self.estimate = estimate
        """Of a start that must be confirmed, because it may cost more than its budget."""

    @property
    def exit_code(self) -> int:  # type: ignore[override]
        return 2 if 400 <= self.status < 500 else 1
