"""Scores combined by functions."""


def func(named_scores, context):
    """Return the smallest score."""
    score = min(named_scores.values())
    return {"pass": score > 0, "score": score, "reason": "minimum"}


def weigh(named_scores, context):
    """Return a weighted score."""
    score = named_scores["quality"] * 0.7
    return {"pass": True, "score": score, "reason": "weighted"}
