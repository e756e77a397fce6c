"""Evaluations in this process: the loop, the judges and the scoring of a stack, a memory that ends with the call."""

from cupel.evaluating.calling import evaluate, evaluate_async
from cupel.evaluating.evaluation import Evaluation
from cupel.evaluating.options import Options
from cupel.evaluating.probes import Probe, ProbeResult

__all__ = ["Evaluation", "Options", "Probe", "ProbeResult", "evaluate", "evaluate_async"]
