class ExpressionError(ValueError):
    """The user's expression cannot be computed. The message is for its author."""


class LimitExceeded(ExpressionError):
    """The expression needs more CPU time, memory or output than one may use."""


class BudgetUsedUp(LimitExceeded):
    """Nothing was computed, because the workspace's expressions have exceeded their limits too often. This says nothing
    about the present expression, which may be computed after `retry_after_seconds`."""

    def __init__(self, message: str, retry_after_seconds: float) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class SandboxFailed(RuntimeError):
    pass
