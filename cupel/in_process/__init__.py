"""Runs evaluations in this process: conversations, judges and scoring as in a stack; nothing is stored."""

from cupel.in_process.api import evaluate, evaluate_async
from cupel.in_process.comparing import compare_results, plan_comparison
from cupel.in_process.evaluation import Evaluation
from cupel.in_process.options import EvaluationOptions
from cupel.in_process.probes import Probe, ProbeResult
from cupel.in_process.tools import ToolFailed

__all__ = [
    "Evaluation",
    "EvaluationOptions",
    "Probe",
    "ProbeResult",
    "ToolFailed",
    "compare_results",
    "evaluate",
    "evaluate_async",
    "plan_comparison",
]
