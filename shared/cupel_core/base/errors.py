"""Every error Cupel raises on purpose. The class carries the whole policy: who is at fault and what to do next.

AppError                500  an internal error
├── ClientError         400  the request cannot be carried out
│   ├── Unauthorized    401
│   ├── Forbidden       403
│   ├── NotFound        404
│   ├── Conflict        409
│   │   ├── InProgress      by the same request, sent earlier: repeating it soon gets its answer
│   │   ├── QuotaExceeded   deleting some makes room, or the operator does
│   │   └── ConfirmationRequired: the same request with `confirmedUsd` is carried out
│   ├── PreconditionFailed 412
│   ├── TooLarge        413
│   └── Invalid         422  `errors` names each field
└── RetryableError      503  the same call may succeed after `retry_after` seconds
    ├── TooManyRequests 429  of one caller or workspace
    ├── TooManyCreations 429 of one workspace within a day
    ├── TooManyWaiting  429  of one caller, workspace or stack (cupel_core/workspace/access/waiting.py)
    └── TooManyRuns     429  that have not ended (cupel_core/runs/open_runs.py)

Providers add ProviderError (an AppError) and a RetryableError of their own (cupel_core/providers/errors.py).

gateway/problems.py turns them into RFC 9457 problem documents; nothing else maps errors to HTTP.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cupel_core.base.deferred import dataclass

if TYPE_CHECKING:
    from cupel_core.domain.estimates.run_estimate import RunEstimate
    from cupel_core.domain.limits.request_rate import LimitScope, RequestLimit

_MAX_FIELDS_IN_DETAIL = 5


@dataclass(frozen=True)
class FieldError:
    """Describes one rule that the input breaks: the field (a path such as `models.1`), and what it must be."""

    field: str
    message: str


class AppError(Exception):
    """An internal error, HTTP 500, unless a subclass says otherwise. `detail` is for the caller to read."""

    status = 500
    title = "Internal error"

    def __init__(self, detail: str, errors: tuple[FieldError, ...] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = errors


class ClientError(AppError):
    """The request cannot be carried out as it is; sending it again changes nothing."""

    status = 400
    title = "Bad request"


class Unauthorized(ClientError):
    status = 401
    title = "Unauthorized"


class Forbidden(ClientError):
    status = 403
    title = "Forbidden"


class NotFound(ClientError):
    status = 404
    title = "Not found"


class Conflict(ClientError):
    status = 409
    title = "Conflict"


class InProgress(Conflict):
    """The same request, sent earlier, has not been answered yet."""


class ConfirmationRequired(Conflict):
    """The request is expected to cost more than its budget. Nothing was written."""

    title = "Confirmation required"

    def __init__(self, reason: str, estimate: "RunEstimate", remedy: str = "") -> None:
        super().__init__(f"{reason}; {remedy}" if remedy else reason)
        self.reason = reason
        self.estimate = estimate


class QuotaExceeded(Conflict):
    """The workspace has as many of these as it may. Deleting some helps, or the operator, who sets the quotas."""

    title = "Quota exceeded"


class PreconditionFailed(ClientError):
    """`If-Match` names another state than the current one, whose entity tag is `etag`."""

    status = 412
    title = "Precondition failed"

    def __init__(self, detail: str, etag: str | None = None) -> None:
        super().__init__(detail)
        self.etag = etag


class TooLarge(ClientError):
    status = 413
    title = "Content too large"


class Invalid(ClientError):
    """The input is well-formed but breaks a rule; `errors` names each field."""

    status = 422
    title = "Invalid request"

    @classmethod
    def field(cls, field: str, message: str) -> "Invalid":
        return cls.fields([FieldError(field, message)])

    @classmethod
    def fields(cls, errors: Iterable[FieldError]) -> "Invalid":
        """Return an error about several fields: `errors` has all of them, `detail` the first five joined with "; "."""
        every_error = tuple(errors)
        named = every_error[:_MAX_FIELDS_IN_DETAIL]
        return cls("; ".join(f"{error.field}: {error.message}" for error in named), every_error)

    def with_fields(self, rename: Callable[[str], str]) -> "Invalid":
        """Return the same errors with the fields renamed to those of another request."""
        if not self.errors:
            return self
        return Invalid.fields(FieldError(rename(each.field), each.message) for each in self.errors)


@contextmanager
def named_in_body(field: str) -> Iterator[None]:
    """Turn NotFound into an invalid field, because only what the path names is answered with 404."""
    try:
        yield
    except NotFound as unknown:
        raise Invalid.field(field, unknown.detail) from unknown


class RetryableError(AppError):
    """The request is valid, but cannot be served now; the same call may succeed after `retry_after` seconds."""

    status = 503
    title = "Temporarily unavailable"

    def __init__(self, detail: str, retry_after: float = 1.0) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


class TooManyCreations(RetryableError):
    status = 429
    title = "Too many creations"


class TooManyRequests(RetryableError):
    status = 429
    title = "Too many requests"

    def __init__(self, scope: "LimitScope", limit: "RequestLimit") -> None:
        super().__init__(f"more than {limit.per_second:g} requests per second of this {scope}; repeat it later")
        self.scope = scope
        self.limit = limit


def public_detail(error: AppError) -> str:
    """Return the detail that the caller may see, which reveals nothing about an internal error."""
    return error.detail if error.status < AppError.status or isinstance(error, RetryableError) else "internal error"
