"""Simulated runs whose judge errs in a known way, and whose transcripts are labelled by people who do not err."""

from random import Random
from typing import NamedTuple

from cupel_core.domain.calibration.carried_rates import carried_pass_rate, judge_errors
from cupel_core.domain.calibration.code_means import CorrectedMean, LabelledCode, ScenarioCodes, corrected_code_mean
from cupel_core.domain.calibration.corrected_differences import corrected_difference
from cupel_core.domain.calibration.corrected_rates import (
    CorrectedRate,
    Uncorrected,
    UncorrectedReason,
    corrected_pass_rate,
)
from cupel_core.domain.calibration.judge_agreement import judge_agreement
from cupel_core.domain.calibration.judge_choice import JudgedLabel, choose_judge
from cupel_core.domain.calibration.label_numbers import labels_needed
from cupel_core.domain.calibration.labels import ConfusionCounts, LabelledVerdict, ScenarioVerdicts
from cupel_core.domain.calibration.sampling_plans import JudgedTranscript, draw_for_labelling
from tests.statistics.grid import contains, scenario_rate

SAMPLER_DRAWS = 400
"""Draws of each interval, fewer than in the product to save time. Their seeds differ between runs, so errors of single
intervals average out."""


class JudgedSetting(NamedTuple):
    labels: int
    rate: float
    sensitivity: float
    specificity: float
    scenarios: int
    repeats: int = 1
    correlation: float = 0.0
    """Correlation of the labels within scenarios."""
    spread: float = 0.0
    """By how much sensitivity and specificity are higher in half of the scenarios and lower in the others."""
    is_simple_sample: bool = False
    """Whether scenarios are labelled whatever the verdicts, all repeats of them."""


class JudgedRun(NamedTuple):
    truth: dict[str, bool]
    judged: dict[str, bool]
    scenario_of: dict[str, str]

    @property
    def verdicts(self) -> list[ScenarioVerdicts]:
        counts: dict[str, list[int]] = {}
        for key, passed in self.judged.items():
            counts.setdefault(self.scenario_of[key], [0, 0])[not passed] += 1
        return [ScenarioVerdicts(scenario, *own) for scenario, own in counts.items()]

    @property
    def rate_of_these(self) -> float:
        return sum(self.truth.values()) / len(self.truth)

    def label(self, key: str, weight: float = 1.0) -> LabelledVerdict:
        return LabelledVerdict(self.scenario_of[key], self.judged[key], self.truth[key], weight=weight)

    def drawn(self, count: int, rng: Random) -> list[LabelledVerdict]:
        transcripts = [JudgedTranscript(key, self.scenario_of[key], judged) for key, judged in self.judged.items()]
        drawn = draw_for_labelling(transcripts, count, rng.getrandbits(32))
        return [self.label(each.key, each.weight) for each in drawn]

    def whole_scenarios(self, count: int, rng: Random) -> list[LabelledVerdict]:
        chosen = set(rng.sample(sorted(set(self.scenario_of.values())), count))
        return [self.label(key) for key in self.truth if self.scenario_of[key] in chosen]


def judged_run(setting: JudgedSetting, rng: Random, rates: list[float] | None = None) -> JudgedRun:
    """Simulate a run; `rates` are the scenarios' pass rates, drawn unless they are passed."""
    run = JudgedRun({}, {}, {})
    rates = rates or [scenario_rate(setting.rate, setting.correlation, rng) for _ in range(setting.scenarios)]
    for number, rate in enumerate(rates):
        shift = setting.spread * (1 if number % 2 else -1)
        for repeat in range(setting.repeats):
            key, scenario = f"{number}.{repeat}", str(number)
            run.truth[key] = rng.random() < rate
            right = setting.sensitivity if run.truth[key] else setting.specificity
            run.judged[key] = (rng.random() < right + shift) == run.truth[key]
            run.scenario_of[key] = scenario
    return run


class Coverage(NamedTuple):
    of_rate: float
    of_these: float
    labels_only: float
    width: float
    labels_only_width: float
    uncorrected: float

    def __str__(self) -> str:
        ratio = self.width / self.labels_only_width if self.labels_only_width else 0.0
        return (
            f"{self.of_rate:.3f}, these {self.of_these:.3f}, labels only {self.labels_only:.3f}; "
            f"width {self.width:.3f}, {ratio:.2f} of labels only; no rate in {self.uncorrected:.3f}"
        )


def corrected_run(setting: JudgedSetting, run: JudgedRun, rng: Random) -> CorrectedRate | Uncorrected:
    if setting.is_simple_sample:
        labels = run.whole_scenarios(setting.labels // setting.repeats, rng)
    else:
        labels = run.drawn(setting.labels, rng)
    return corrected_pass_rate(labels, run.verdicts, draws=SAMPLER_DRAWS)


def corrected_coverage(setting: JudgedSetting, draws: int, seed: int) -> Coverage:
    """The shares of intervals of corrected rates that contain the truth, among those that there are."""
    rng, hits, widths, found = Random(f"{seed} {setting}"), [0, 0, 0], [0.0, 0.0], 0
    for _ in range(draws):
        run = judged_run(setting, rng)
        corrected = corrected_run(setting, run, rng)
        if isinstance(corrected, Uncorrected):
            continue
        assert corrected.interval is not None
        assert corrected.labels_only is not None
        found += 1
        alone = corrected.labels_only.interval()
        hits[0] += contains(corrected.interval, setting.rate)
        hits[1] += contains(corrected.interval_of_these, run.rate_of_these)
        hits[2] += contains(alone, setting.rate)
        widths[0] += corrected.interval.high - corrected.interval.low
        widths[1] += alone.high - alone.low
    shares = [hit / found for hit in hits] if found else [0.0] * 3
    return Coverage(*shares, *(width / max(1, found) for width in widths), 1 - found / draws)


def difference_coverage(before: JudgedSetting, after: JudgedSetting, draws: int, seed: int) -> tuple[float, float]:
    """The share of intervals of the difference of two targets that contain the truth, and the mean difference of the
    judge's own rates. The targets have the same scenarios, with like pass rates, and the judge errs differently on
    each."""
    rng, hits, judged, found = Random(f"{seed} {before} {after}"), 0, 0.0, 0
    for _ in range(draws):
        ease = [rng.random() for _ in range(before.scenarios)]
        sides = []
        for setting in (before, after):
            run = judged_run(setting, rng, [_rate_at(setting, each) for each in ease])
            sides.append(corrected_run(setting, run, rng))
        if isinstance(sides[0], Uncorrected) or isinstance(sides[1], Uncorrected):
            continue
        found += 1
        difference = corrected_difference([sides[1]], [sides[0]])
        hits += contains(difference.interval, after.rate - before.rate)
        judged += (sides[1].judge_rate or 0.0) - (sides[0].judge_rate or 0.0)
    return hits / found, judged / found


def _rate_at(setting: JudgedSetting, ease: float) -> float:
    """Half of the scenarios are harder and half are easier, by as much as the rate allows."""
    reach = min(setting.rate, 1 - setting.rate) * setting.correlation
    return setting.rate + (reach if ease < 0.5 else -reach)


def carried_coverage(
    calibrated: JudgedSetting, carried: JudgedSetting, fresh: int, draws: int, seed: int
) -> tuple[float, float]:
    """The share of carried intervals that contain the truth, among those that there are, and the share of runs whose
    fresh labels contradict the calibration."""
    rng, hits, found, refused = Random(f"{seed} {calibrated} {carried}"), 0, 0, 0
    for _ in range(draws):
        calibration = judge_errors(judged_run(calibrated, rng).drawn(calibrated.labels, rng))
        run = judged_run(carried, rng)
        if calibration is None:
            continue
        corrected = carried_pass_rate(calibration, run.verdicts, run.drawn(fresh, rng))
        if isinstance(corrected, Uncorrected):
            refused += corrected.reason is UncorrectedReason.CALIBRATION_DIFFERS
            continue
        found += 1
        hits += contains(corrected.interval, carried.rate)
    return hits / max(1, found), refused / draws


def code_coverage(labels: int, scenarios: int, noise: float, draws: int, seed: int) -> tuple[float, float]:
    """The share of intervals of corrected means of codes that contain the truth, and their mean width relative to that
    of the labels alone. The judge's codes are half a point too high, and have noise."""
    rng, hits, widths = Random(f"{seed} {labels} {scenarios} {noise}"), 0, [0.0, 0.0]
    for _ in range(draws):
        true = {str(number): rng.choice((1, 2, 2, 3, 4, 4, 5)) for number in range(scenarios)}
        judged = {each: min(5, max(1, round(code + 0.5 + rng.gauss(0, noise)))) for each, code in true.items()}
        chosen = rng.sample(sorted(true), labels)
        coded = [ScenarioCodes(each, (float(judged[each]),)) for each in true]
        found = corrected_code_mean([LabelledCode(each, judged[each], true[each]) for each in chosen], coded)
        assert isinstance(found, CorrectedMean)
        hits += contains(found.interval, 3.0)
        widths[0] += found.interval.high - found.interval.low
        widths[1] += found.labels_only_interval.high - found.labels_only_interval.low
    return hits / draws, widths[0] / widths[1]


class AgreementCoverage(NamedTuple):
    kappa: float
    sensitivity: float
    specificity: float


def agreement_coverage(setting: JudgedSetting, draws: int, seed: int) -> AgreementCoverage:
    rng, hits, found = Random(f"{seed} {setting}"), [0, 0, 0], [0, 0, 0]
    for _ in range(draws):
        run = judged_run(setting, rng)
        agreement = judge_agreement(run.drawn(setting.labels, rng))
        for place, interval, true in (
            (0, agreement.kappa_interval, true_kappa(setting)),
            (1, agreement.sensitivity and agreement.sensitivity.interval(), setting.sensitivity),
            (2, agreement.specificity and agreement.specificity.interval(), setting.specificity),
        ):
            if interval is not None:
                found[place] += 1
                hits[place] += contains(interval, true)
    return AgreementCoverage(*(hit / max(1, number) for hit, number in zip(hits, found, strict=True)))


def true_kappa(setting: JudgedSetting) -> float:
    passes, failures = setting.rate, 1 - setting.rate
    kappa = ConfusionCounts(
        passes * setting.sensitivity,
        failures * (1 - setting.specificity),
        passes * (1 - setting.sensitivity),
        failures * setting.specificity,
    ).kappa
    assert kappa is not None
    return kappa


def chosen_accuracies(judges: int, labels: int, draws: int, seed: int) -> tuple[float, float]:
    """The mean accuracy of the best of equally good judges (0.8), as it seems and cross-fit."""
    rng, sums = Random(f"{seed} {judges} {labels}"), [0.0, 0.0]
    for _ in range(draws):
        labelled = []
        for number in range(labels):
            label = rng.random() < 0.7
            verdicts = {str(judge): (rng.random() < 0.8) == label for judge in range(judges)}
            labelled.append(JudgedLabel(str(number), label, verdicts))
        choice = choose_judge(labelled)
        sums[0] += choice.accuracy.share
        sums[1] += choice.cross_fit_accuracy.share
    return sums[0] / draws, sums[1] / draws


def planned_half_widths(setting: JudgedSetting, half_width: float, draws: int, seed: int) -> float:
    """The mean half-width with the number of labels that a pilot of `setting.labels` labels plans."""
    rng, reached = Random(f"{seed} {setting} {half_width}"), []
    for _ in range(draws):
        run = judged_run(setting, rng)
        plan = labels_needed(run.drawn(setting.labels, rng), run.verdicts, half_width)
        if plan.labels is None:
            continue
        corrected = corrected_pass_rate(run.drawn(plan.labels, rng), run.verdicts, draws=SAMPLER_DRAWS)
        if isinstance(corrected, CorrectedRate) and corrected.interval is not None:
            reached.append((corrected.interval.high - corrected.interval.low) / 2)
    return sum(reached) / len(reached)
