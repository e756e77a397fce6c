"""Evaluations in this process: the loop, the judges and the scoring of a stack, a memory that ends with the call."""

from cupel.in_process.api import evaluate, evaluate_async
from cupel.in_process.evaluation import Evaluation
from cupel.in_process.options import Options
from cupel.in_process.probes import Probe, ProbeResult

__all__ = ["Evaluation", "Options", "Probe", "ProbeResult", "evaluate", "evaluate_async"]
