/** Words and rows of what the labels of people say about a judge. The command says the same in its own lines. */
import type { Judged } from "../api/labels";
import type { Calibration, ColumnResults, LabelSet, Transcript } from "../api/types";
import type { Rate, RateGroup } from "../charts/rates";
import { columnName } from "./estimates";
import { formatShare, visible, withInterval } from "./format";

const RESULT = "result";
/** Names of checks in statistics are no longer. */
const MAX_CHECK_NAME = 60;
/** Rates that differ by less are the same, rounded differently. */
const ROUNDING = 1e-9;

/** Returns what has label sets, the newest first; the run's own result if nothing has. */
export function judgedBySets(sets: readonly LabelSet[]): readonly Judged[] {
  const keys = new Map<string, Judged>();
  for (const { criterion, rescoreId } of sets.toReversed())
    keys.set(JSON.stringify([criterion, rescoreId]), { criterion, rescoreId });
  return keys.size > 0 ? [...keys.values()] : [{ criterion: RESULT, rescoreId: null }];
}

export function judgedText({ criterion, rescoreId }: Judged): string {
  return rescoreId === null ? criterion : `${criterion}, rescored by ${rescoreId}`;
}

/** Returns the pass rates of each target: by the judge, corrected, and by the labels alone. */
export function rateGroups(calibration: Calibration, results: readonly ColumnResults[]): RateGroup[] {
  return calibration.columns.map((column) => {
    const { judgeRate, rate, interval95, labelsOnly } = column.corrected;
    const byJudge = judgeRate ?? column.agreement.judgePassRate;
    const own = results.find((each) => each.targetId === column.targetId && each.promptId === column.promptId)
      ?.estimate.passRate;
    // A rate that people corrected, or that is of another criterion, has another interval.
    const isSame = own?.share != null && byJudge !== null && Math.abs(own.share - byJudge) < ROUNDING;
    const rates = [
      rateOf("by the judge", byJudge, isSame ? own.interval95 : null),
      rateOf("corrected", rate, interval95, true),
      rateOf("labels alone", labelsOnly?.share ?? null, labelsOnly?.interval95 ?? null),
    ];
    return { name: visible(columnName(column)), rates: rates.filter((each) => each !== null) };
  });
}

function rateOf(
  name: string,
  value: number | null,
  interval: readonly number[] | null,
  isMain = false,
): Rate | null {
  return value === null
    ? null
    : { name, value, interval, text: withInterval(value, interval, formatShare), isMain };
}

/** Describes the drawn rates for screen readers. */
export function ratesText(groups: readonly RateGroup[]): string {
  return groups
    .map(({ name, rates }) => `${name}: ${rates.map((each) => `${each.name} ${each.text}`).join(", ")}`)
    .join("; ");
}

/** Returns the judge's reason for its verdict on a criterion; null if it gave none, or its text was deleted. */
export function judgeReason(transcript: Transcript, criterion: string): string | null {
  const { scoring, verdict, result } = transcript;
  const results = scoring?.results ?? [];
  const names = checkNames(results.map((each) => each.metric ?? each.type));
  if (criterion !== RESULT) return results[names.indexOf(criterion)]?.reason || null;
  const ofResult = transcript.corrected ? null : result?.reason;
  // The reason of a pass names no check; that of a failure names those that failed.
  const ofChecks = results.flatMap(({ reason }, position) => (reason ? `${names[position]}: ${reason}` : []));
  const ofPass = [verdict?.reasoning, ...ofChecks].filter(Boolean).join("\n");
  return (scoring?.success && ofPass) || scoring?.reason || verdict?.reasoning || ofResult || null;
}

/** Returns the names of assertions in statistics; repeated names are numbered. */
export function checkNames(names: readonly string[]): string[] {
  const checks = new Set<string>();
  for (const full of names) {
    const name = full.slice(0, MAX_CHECK_NAME);
    let numbered = name;
    for (let number = 2; checks.has(numbered); number++) numbered = `${name} #${number}`;
    checks.add(numbered);
  }
  return [...checks];
}
