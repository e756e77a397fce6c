import type { RunStatus } from "../lib/search";
import styles from "./status.module.css";

const SIGNS: Record<RunStatus, readonly [string, string]> = {
  PENDING: ["○", "Pending"],
  RUNNING: ["▸", "Running"],
  PAUSED: ["‖", "Paused"],
  SUMMARIZING: ["▸", "Summarizing"],
  COMPLETED: ["✓", "Completed"],
  FAILED: ["!", "Failed"],
  CANCELLED: ["–", "Cancelled"],
};

/** Shows a status by sign, word and color: never by color alone. */
export function Status({ status }: { status: RunStatus }) {
  const [sign, word] = SIGNS[status];
  return (
    <span className={styles.status} data-status={status}>
      <span aria-hidden="true">{sign}</span> {word}
    </span>
  );
}

export function statusWord(status: RunStatus): string {
  return SIGNS[status][1];
}

/** Shows the result of a conversation; `null` is one that nobody has judged. */
export function Result({ success }: { success: boolean | null | undefined }) {
  if (success === null || success === undefined) return <span className={styles.none}>no result</span>;
  return (
    <span className={styles.status} data-status={success ? "PASSED" : "ANSWER_FAILED"}>
      <span aria-hidden="true">{success ? "✓" : "✕"}</span> {success ? "passed" : "failed"}
    </span>
  );
}
