import type { ColumnResults, TargetProgress } from "../api/types";
import { formatShare } from "./format";

export interface Axis {
  readonly min: number;
  readonly max: number;
}

/** Returns the range of decision codes that are numbers, in which all targets were graded; null if there are none. */
export function decisionAxis(columns: readonly Pick<ColumnResults, "estimate">[]): Axis | null {
  const codes = columns
    .flatMap((column) => column.estimate.distribution.map((each) => Number(each.code)))
    .filter(Number.isFinite);
  if (codes.length === 0) return null;
  const [min, max] = [Math.min(...codes), Math.max(...codes)];
  return min === max ? { min: min - 1, max: max + 1 } : { min, max };
}

/** Says when a target is done; nothing for one that waits or is done. */
export function etaText(target: TargetProgress, format: (seconds: number) => string): string | null {
  const isDone = target.completed + target.errored >= target.total;
  return isDone || target.etaSeconds === null ? null : `about ${format(target.etaSeconds)} left`;
}

export function columnName(column: {
  label: string | null;
  modelId: string;
  promptId: string | null;
  promptLabel?: string | null;
}): string {
  const target = column.label ?? column.modelId;
  const prompt = column.promptLabel ?? column.promptId;
  return prompt === null ? target : `${target}, ${prompt}`;
}

/** Returns the least and greatest possible pass rate, if probes errored; the command says the same. */
export function boundsText(column: ColumnResults): string | null {
  const bounds = column.estimate.passRateBounds;
  if (!bounds) return null;
  const [low, high] = [bounds.errorsAsFailures, bounds.errorsAsPasses].map(({ share }) => formatShare(share));
  const rate = `the pass rate is ${low} if all errored conversations had failed, and ${high} if they had passed`;
  return `${columnName(column)}: ${rate}`;
}

export function isSimulated(modelId: string): boolean {
  return modelId.startsWith("sim/");
}
