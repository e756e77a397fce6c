import { Outcome, type OutcomeCode } from "../lib/probe_table";
import styles from "./dots.module.css";

const MAX_DOTS = 10;
const STEP = 12;
const NAMES = ["none", "passed", "failed", "errored", "unjudged"] as const;

/** Shows the repeats of a cell: a disc passed, a cross failed, a hatched square errored, a ring is not there yet. */
export function Dots({ outcomes }: { outcomes: readonly OutcomeCode[] }) {
  if (outcomes.length > MAX_DOTS) return <Bar outcomes={outcomes} />;
  return (
    <svg className={styles.dots} aria-hidden="true" width={outcomes.length * STEP} height="12">
      {outcomes.map((outcome, repeat) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: repeats never move
        <Dot key={repeat} outcome={outcome} x={repeat * STEP + STEP / 2} />
      ))}
    </svg>
  );
}

function Dot({ outcome, x }: { outcome: OutcomeCode; x: number }) {
  const kind = NAMES[outcome];
  if (outcome === Outcome.FAILED)
    return <path className={styles.mark} data-kind={kind} d={`M${x - 3.5} 2.5l7 7m0-7l-7 7`} />;
  if (outcome === Outcome.ERRORED)
    return <path className={styles.mark} data-kind={kind} d={`M${x - 3.5} 2.5h7v7h-7zm0 7l7-7`} />;
  return (
    <circle className={styles.mark} data-kind={kind} cx={x} cy="6" r={outcome === Outcome.PASSED ? 4 : 3.5} />
  );
}

/** Shows for many repeats the number of each kind. */
function Bar({ outcomes }: { outcomes: readonly OutcomeCode[] }) {
  let x = 0;
  return (
    <svg className={styles.dots} aria-hidden="true" width="96" height="12" viewBox="0 0 96 12">
      {([Outcome.PASSED, Outcome.UNJUDGED, Outcome.FAILED, Outcome.ERRORED, Outcome.NONE] as const).map(
        (kind) => {
          const width = (96 * outcomes.filter((each) => each === kind).length) / outcomes.length;
          x += width;
          return width > 0 ? (
            <rect
              key={kind}
              className={styles.part}
              data-kind={NAMES[kind]}
              x={x - width}
              y="2"
              width={Math.max(0.5, width - 1)}
              height="8"
            />
          ) : null;
        },
      )}
    </svg>
  );
}

export function DotsLegend() {
  const entries = [
    [Outcome.PASSED, "passed"],
    [Outcome.FAILED, "failed"],
    [Outcome.UNJUDGED, "without a result"],
    [Outcome.ERRORED, "errored"],
    [Outcome.NONE, "not there yet"],
  ] as const;
  return (
    <ul className={styles.legend} aria-label="Marks">
      {entries.map(([outcome, text]) => (
        <li key={outcome}>
          <svg className={styles.dots} aria-hidden="true" width="12" height="12">
            <Dot outcome={outcome} x={6} />
          </svg>{" "}
          {text}
        </li>
      ))}
    </ul>
  );
}
