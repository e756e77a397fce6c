"""Provides Cupel in Python: `cupel.evaluate` runs in this process, `cupel.client.Client` uses a stack.

Both are loaded on first use, so that the command starts quickly.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cupel.in_process import (
        Evaluation,
        Probe,
        ProbeResult,
        ToolFailed,
        compare_results,
        evaluate,
        evaluate_async,
        plan_comparison,
    )

__version__: str

__all__ = [
    "Evaluation",
    "Probe",
    "ProbeResult",
    "ToolFailed",
    "compare_results",
    "evaluate",
    "evaluate_async",
    "plan_comparison",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("cupel")
    if name not in __all__:
        raise AttributeError(f"module 'cupel' has no attribute {name!r}")
    from cupel import in_process

    return getattr(in_process, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])
