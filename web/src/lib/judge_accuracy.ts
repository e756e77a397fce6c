import type { ColumnResults } from "../api/types";
import { counted, formatDecimal } from "./format";

/** Returns `κ 0.71 from 60 labels`. */
export function accuracyText({ kappa, labels }: NonNullable<ColumnResults["judgeAccuracy"]>): string {
  return `${kappa === null ? "no κ" : `κ ${formatDecimal(kappa)}`} from ${counted(labels, "label")}`;
}

/** Returns whether a judge has decided results, and nobody has labelled any of them. */
export function isJudgeUncalibrated(columns: readonly ColumnResults[]): boolean {
  const isJudged = columns.some(
    ({ estimate, operations }) =>
      estimate.passRate.trials > 0 &&
      operations.costs.some(({ role, calls }) => role === "judge" && calls > 0),
  );
  return isJudged && columns.every(({ judgeAccuracy }) => !judgeAccuracy);
}
