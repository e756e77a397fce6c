"""A sandbox that runs user code (patterns, schemas, expressions, templates) in helper processes with enforced limits.

A thread cannot be stopped and a pattern does not yield to the event loop, so such work runs in a process of its own:
the kernel ends it at its CPU limit and refuses memory beyond its limit, and its result is bounded while it is read.
`run` is for the workers' event loops, `run_blocking` for synchronous callers.

A task is a function named `module:function` that takes and returns JSON. It raises ValueError, with a message for the
author of the expression. The function's module is imported in the helper only, so it should import little.
"""

from cupel_core.sandbox.errors import BudgetUsedUp, ExpressionError, LimitExceeded, SandboxFailed
from cupel_core.sandbox.limits import TaskLimits
from cupel_core.sandbox.pool import run, run_blocking, use_workspace

__all__ = [
    "BudgetUsedUp",
    "ExpressionError",
    "LimitExceeded",
    "SandboxFailed",
    "TaskLimits",
    "run",
    "run_blocking",
    "use_workspace",
]
