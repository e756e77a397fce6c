import { useMemo } from "react";
import { formatCount, visible } from "../../lib/format";
import type { ProbeTable } from "../../lib/probe_table";
import { tagCounts } from "../../lib/result_rows";
import type { ResultsSearch } from "../../lib/search";
import styles from "./summary.module.css";

const MAX_SHOWN = 20;

interface Props {
  table: ProbeTable;
  version: number;
  change: (changes: Partial<ResultsSearch>) => void;
}

/** Shows failure tags with their numbers of conversations, to which each leads; nothing where there are none. */
export function FailureTags({ table, version, change }: Props) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: `version` says that the table has changed
  const counts = useMemo(() => tagCounts(table), [table, version]);
  if (counts.length === 0) return null;
  return (
    <div>
      <h2 id="tags">Failure tags</h2>
      <ul className={styles.tags} aria-labelledby="tags">
        {counts.slice(0, MAX_SHOWN).map(({ tag, count }) => (
          <li key={tag}>
            <button type="button" onClick={() => change({ tag, outcome: undefined, t: undefined })}>
              {visible(tag)} <span className={styles.badge}>{formatCount(count)}</span>
            </button>
          </li>
        ))}
      </ul>
      {counts.length > MAX_SHOWN && (
        <p className={styles.note}>
          The {MAX_SHOWN} most frequent of {formatCount(counts.length)}.
        </p>
      )}
    </div>
  );
}
