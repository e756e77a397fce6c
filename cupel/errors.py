"""What can go wrong for a caller of the API. The class carries the exit code of the command."""

from typing import NamedTuple


class Problem(NamedTuple):
    """One field the API refused, and why."""

    field: str
    message: str


class CupelError(Exception):
    """The work failed although it was asked for correctly."""

    exit_code = 1


class WrongUse(CupelError):
    """Bad arguments or a bad file: asking again the same way cannot help."""

    exit_code = 2


class NotConnected(CupelError):
    """The API could not be reached."""


class ApiProblem(CupelError):
    """A problem document (RFC 9457) of the API, or any other answer that is no success."""

    def __init__(self, status: int, title: str, detail: str = "", errors: tuple[Problem, ...] = ()) -> None:
        super().__init__(f"{status} {title}" + (f": {detail}" if detail else ""))
        self.status = status
        self.title = title
        self.detail = detail
        self.errors = errors

    @property
    def exit_code(self) -> int:  # type: ignore[override]
        return 2 if 400 <= self.status < 500 else 1
