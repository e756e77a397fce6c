from typing import NamedTuple

from cupel.json_types import Json


class RefusedField(NamedTuple):
    """Names a field that the API rejected, and says why."""

    field: str
    message: str


class CupelError(Exception):
    """The request was valid, but the work failed."""

    exit_code = 1


class UsageError(CupelError):
    """Arguments or a file are invalid: repeating the call unchanged cannot help."""

    exit_code = 2


class NotConnected(CupelError):
    """The API could not be reached."""


class ApiProblem(CupelError):
    """The API responded with a problem document (RFC 9457), or anything else responded without success."""

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
        """On a 412, it is the tag of the current state, if it is known."""
        self.estimate = estimate
        """A start that must be confirmed, because it may cost more than its budget, has this."""

    @property
    def exit_code(self) -> int:  # type: ignore[override]
        return 2 if 400 <= self.status < 500 else 1


class GraphqlError(CupelError):
    """A GraphQL request was refused, or fields of it failed."""

    def __init__(self, errors: list[Json], data: Json | None) -> None:
        super().__init__("; ".join(_graphql_message(error) for error in errors))
        self.errors = errors
        """Each has its `message`, `path` and `extensions`, which have the `code` and the `status`."""
        self.data = data
        """The partial answer; fields that failed are null."""

    @property
    def exit_code(self) -> int:  # type: ignore[override]
        statuses = [(error.get("extensions") or {}).get("status") or 500 for error in self.errors]
        return 2 if all(400 <= status < 500 for status in statuses) else 1


def _graphql_message(error: Json) -> str:
    path = ".".join(map(str, error.get("path") or ()))
    refused = (error.get("extensions") or {}).get("errors") or [{"message": error.get("message")}]
    texts = (": ".join(filter(None, (each.get("field"), str(each.get("message"))))) for each in refused)
    return ": ".join(filter(None, (path, ", ".join(texts))))
