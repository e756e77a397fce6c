import type { RunRates } from "../api/types";
import { formatCount, formatShare } from "../lib/format";
import type { PassRates } from "../lib/pass_rates";
import styles from "./bars.module.css";

interface Segments {
  total: number;
  completed: number;
  errored: number;
  running?: number;
}

/** Shows completed, failed and running probes of all, as lengths and in words. */
export function ProgressBar({ total, completed, errored, running = 0 }: Segments) {
  const words = [
    `${formatCount(completed)} of ${formatCount(total)} completed`,
    errored > 0 && `${formatCount(errored)} errored`,
    running > 0 && `${formatCount(running)} running`,
  ].filter(Boolean);
  const width = (count: number) => (total > 0 ? (100 * count) / total : 0);
  const runningNow = Math.min(running, Math.max(0, total - completed - errored));
  return (
    <svg
      className={styles.bar}
      role="img"
      aria-label={words.join(", ")}
      viewBox="0 0 100 6"
      preserveAspectRatio="none"
    >
      <rect className={styles.rest} width="100" height="6" />
      <rect className={styles.completed} width={width(completed)} height="6" />
      <rect className={styles.errored} x={width(completed)} width={width(errored)} height="6" />
      <rect className={styles.running} x={width(completed + errored)} width={width(runningNow)} height="6" />
    </svg>
  );
}

/** Shows how many probes of a run passed, failed, were not scored, and errored, as lengths and in words. */
export function OutcomeBar({ total, outcomes }: { total: number; outcomes: RunRates }) {
  const kinds = [
    ["passed", outcomes.passed],
    ["failed", outcomes.failed],
    ["unscored", outcomes.unscored],
    ["errored", outcomes.errored],
  ] as const;
  const words = kinds.flatMap(([kind, count]) => (count > 0 ? `${formatCount(count)} ${NAMES[kind]}` : []));
  const width = (count: number) => (total > 0 ? (100 * count) / total : 0);
  let end = 0;
  return (
    <svg
      className={styles.bar}
      role="img"
      aria-label={words.join(", ") || "no results"}
      viewBox="0 0 100 6"
      preserveAspectRatio="none"
    >
      <rect className={styles.rest} width="100" height="6" />
      {kinds.map(([kind, count]) => {
        const x = end;
        end += width(count);
        return <rect key={kind} className={styles[kind]} x={x} width={width(count)} height="6" />;
      })}
    </svg>
  );
}

const NAMES = { passed: "passed", failed: "failed", unscored: "not scored", errored: "errored" } as const;

interface Whisker {
  value: number;
  interval: readonly number[] | null | undefined;
  min: number;
  max: number;
  label: string;
  /** If true, 0 is marked, as for differences. */
  hasZero?: boolean;
}

/** Shows an estimate as a dot and its interval as a whisker, on an axis that all rows of a table share. */
export function IntervalMark({ value, interval, min, max, label, hasZero = false }: Whisker) {
  const x = (position: number) => 4 + (92 * (Math.min(max, Math.max(min, position)) - min)) / (max - min);
  const [low, high] = interval ?? [];
  return (
    <svg className={styles.interval} role="img" aria-label={label} viewBox="0 0 100 16">
      <line className={styles.axis} x1="4" x2="96" y1="8" y2="8" />
      {hasZero && <line className={styles.zero} x1={x(0)} x2={x(0)} y1="1" y2="15" />}
      {low !== undefined && high !== undefined && (
        <line className={styles.whisker} x1={x(low)} x2={x(high)} y1="8" y2="8" />
      )}
      <circle className={styles.dot} cx={x(value)} cy="8" r="3.5" />
    </svg>
  );
}

const DOT = { left: 4, width: 112, y: 8 };

/** Shows the pass rate of each target of a run as a dot from 0 to 100%, with the interval of a single one. */
export function RateDots({ rates: { marks, rest } }: { rates: PassRates }) {
  const x = (share: number) => DOT.left + DOT.width * share;
  const [low, high] = (marks.length === 1 && marks[0]?.interval) || [];
  const label = [...marks.map((each) => each.text), ...(rest ? [rest] : [])].join("; ");
  return (
    <svg className={styles.interval} role="img" aria-label={label} viewBox="0 0 120 16">
      <title>{label}</title>
      <line className={styles.axis} x1={x(0)} x2={x(1)} y1={DOT.y} y2={DOT.y} />
      {[0, 0.5, 1].map((share) => (
        <line key={share} className={styles.zero} x1={x(share)} x2={x(share)} y1="4" y2="12" />
      ))}
      {low !== undefined && high !== undefined && (
        <line className={styles.whisker} x1={x(low)} x2={x(high)} y1={DOT.y} y2={DOT.y} />
      )}
      {marks.map((each, position) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: targets of a run never move
        <circle key={position} className={styles.dot} cx={x(each.share)} cy={DOT.y} r="3.5" />
      ))}
    </svg>
  );
}

/** Shows the frequency of each decision as columns, and in words for screen readers. */
export function Distribution({ shares }: { shares: readonly { code: string; share: number | null }[] }) {
  const words = shares.map((each) => `${each.code}: ${formatShare(each.share ?? 0)}`).join(", ");
  const width = 12;
  return (
    <svg
      className={styles.distribution}
      role="img"
      aria-label={`Distribution of decisions: ${words}`}
      viewBox={`0 0 ${shares.length * width} 20`}
    >
      {shares.map(({ code, share }, index) => {
        const height = Math.max(1, 18 * (share ?? 0));
        return (
          <rect
            key={code}
            className={styles.column}
            x={index * width + 1}
            y={19 - height}
            width={width - 2}
            height={height}
          />
        );
      })}
    </svg>
  );
}
