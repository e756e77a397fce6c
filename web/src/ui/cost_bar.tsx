import type { Interval } from "../lib/budget";
import { formatUsd } from "../lib/format";
import styles from "./cost_bar.module.css";

/** Shows an estimated cost as an interval, against the budget if there is one. */
export function CostBar({ cost, budget }: { cost: Interval; budget: number | null }) {
  const max = Math.max(cost.high, budget ?? 0) || 1;
  const x = (usd: number) => 2 + (96 * usd) / max;
  const words = `Expected ${formatUsd(cost.expected)}, between ${formatUsd(cost.low)} and ${formatUsd(cost.high)}`;
  const label = budget === null ? words : `${words}; budget ${formatUsd(budget)}`;
  return (
    <svg className={styles.bar} role="img" aria-label={label} viewBox="0 0 100 16" preserveAspectRatio="none">
      <line className={styles.axis} x1="2" x2="98" y1="8" y2="8" />
      <line className={styles.interval} x1={x(cost.low)} x2={x(cost.high)} y1="8" y2="8" />
      <line className={styles.expected} x1={x(cost.expected)} x2={x(cost.expected)} y1="4" y2="12" />
      {budget !== null && <line className={styles.budget} x1={x(budget)} x2={x(budget)} y1="0" y2="16" />}
    </svg>
  );
}
