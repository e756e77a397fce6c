import { useMemo } from "react";
import { formatCount, formatShare, UNKNOWN, visible } from "../../lib/format";
import type { ProbeTable } from "../../lib/probe_table";
import { checkRows } from "../../lib/result_rows";
import type { ResultsSearch } from "../../lib/search";
import styles from "./answers.module.css";

interface Props {
  table: ProbeTable;
  version: number;
  names: readonly string[];
  change: (changes: Partial<ResultsSearch>) => void;
}

const MOST_SHOWN = 12;
const LEVELS = 5;

/** Shows how often each check passed with each target; a cell leads to the answers that failed it. */
export function ChecksTable({ table, version, names, change }: Props) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: `version` says that the table has changed
  const rows = useMemo(() => checkRows(table), [table, version]);
  if (rows.length === 0) return null;
  return (
    <div>
      <h2 id="checks">Checks</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={styles.checks} aria-labelledby="checks" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Check</th>
              {names.map((name) => (
                <th key={name} scope="col">
                  {visible(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, MOST_SHOWN).map((row) => (
              <tr key={row.name}>
                <th scope="row">{visible(row.name)}</th>
                {row.rates.map((rate, column) => (
                  <td key={names[column] ?? column} data-level={levelOf(rate.passed, rate.judged)}>
                    {rate.judged === 0 ? (
                      UNKNOWN
                    ) : (
                      <button
                        type="button"
                        disabled={rate.passed === rate.judged}
                        onClick={() => change({ check: row.name, column, outcome: undefined, t: undefined })}
                        title={`${formatCount(rate.judged - rate.passed)} of ${formatCount(rate.judged)} failed`}
                      >
                        {formatShare(rate.passed / rate.judged)}
                      </button>
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > MOST_SHOWN && (
        <p className={styles.note}>
          The {MOST_SHOWN} checks that failed most often, of {formatCount(rows.length)}.
        </p>
      )}
    </div>
  );
}

function levelOf(passed: number, judged: number): number | undefined {
  return judged === 0 ? undefined : Math.min(LEVELS - 1, Math.floor((LEVELS * passed) / judged));
}
