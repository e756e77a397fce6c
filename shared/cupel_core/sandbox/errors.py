"""Why a task has no result."""


class ExpressionError(ValueError):
    """The user's expression cannot be computed; the message is for its author."""


class LimitExceeded(ExpressionError):
    """The expression needs more CPU time, memory or output than one may use."""


class SandboxFailed(RuntimeError):
    """The helper process failed for a reason that is not the expression's."""
