from dataclasses import replace

from cupel_core.domain.estimates.run_estimate import RunEstimate, TrialEstimate
from cupel_core.domain.reports.trials import ARMS, BUDGETED_SHARE, TrialMaterial, noise_of, trial_size
from cupel_core.domain.statistics import MIN_SCENARIOS, Trials

_MAX_NOISE = 0.25
"""The variance of single results if half of them pass."""


def with_trial(estimate: RunEstimate, scenarios: int, answers: float) -> RunEstimate:
    """Return the estimate with the trial that starts by itself, whose conversations cost as much as those of the run.

    The trial's budget is the cost of the run's conversations. It is expected to be as large as that allows, and smaller
    at most if all conversations of the run have the same result. `answers` are those to a scenario per repeat.
    """
    if 1 < scenarios < MIN_SCENARIOS or not estimate.probes:
        return estimate
    usd, held = estimate.conversations_usd, estimate.probes
    share = BUDGETED_SHARE if usd.expected else 1.0
    per_arm = int(share * held / ARMS)
    least_noise = noise_of([Trials(held, 0, 0)])

    def probes(noise: float) -> int:
        size = trial_size(TrialMaterial(scenarios, answers, noise), per_arm)
        return round(ARMS * size.scenarios * size.repeats * answers)

    most, least = probes(_MAX_NOISE), probes(least_noise)
    scaled = usd.scaled(most / held)
    trial = TrialEstimate(
        most,
        replace(scaled, low=min(scaled.low, usd.low * least / held)),
        is_within_limit=most <= held or not usd.expected,
    )
    return replace(estimate, trial=trial)
