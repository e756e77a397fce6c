import styles from "../../ui/status.module.css";

const SIGNS: Readonly<Record<string, readonly [sign: string, color: string]>> = {
  queued: ["○", "PENDING"],
  running: ["▸", "RUNNING"],
  done: ["✓", "COMPLETED"],
  skipped: ["–", "CANCELLED"],
  aborted: ["–", "CANCELLED"],
  failed: ["!", "FAILED"],
  error: ["!", "FAILED"],
};

/** Shows the status of a turn or of one of its operations by sign, word and color. */
export function TurnState({ status }: { status: string }) {
  const [sign, color] = SIGNS[status] ?? ["", "PENDING"];
  return (
    <span className={styles.status} data-status={color}>
      <span aria-hidden="true">{sign}</span> {status}
    </span>
  );
}
