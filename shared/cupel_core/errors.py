"""Every error Cupel raises on purpose. The class carries the whole policy: who is at fault and what to do next."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FieldError:
    """One thing wrong with the input: where (a path such as `models.1`), and what would be right."""

    field: str
    message: str


class AppError(Exception):
    """Ours until shown otherwise: HTTP 500."""

    status = 500
    title = "Internal error"

    def __init__(self, detail: str, errors: tuple[FieldError, ...] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = errors


class ClientError(AppError):
    """The request cannot be carried out as it stands."""

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


class TooLarge(ClientError):
    status = 413
    title = "Content too large"


class Invalid(ClientError):
    """The input was understood and breaks a rule; `errors` names each field."""

    status = 422
    title = "Invalid request"

    @classmethod
    def field(cls, field: str, message: str) -> "Invalid":
        return cls(f"{field}: {message}", (FieldError(field, message),))


class RetryableError(AppError):
    """Nothing is wrong with the request; the same call may succeed after `retry_after` seconds."""

    status = 503
    title = "Temporarily unavailable"

    def __init__(self, detail: str, retry_after: float = 1.0) -> None:
        super().__init__(detail)
        self.retry_after = retry_after
