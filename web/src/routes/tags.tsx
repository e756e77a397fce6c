import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { isTerminal } from "../api/queries";
import { MAX_COUNTED, tagsQuery } from "../api/tags";
import type { Run } from "../api/types";
import { formatCount, visible } from "../lib/format";
import { Failure } from "../ui/states";
import styles from "./overview.module.css";

const MAX_SHOWN = 20;

/** Shows failure tags with their numbers of conversations, to which each leads; nothing where there are none. */
export function FailureTags({ run }: { run: Run }) {
  const { total } = run.progress;
  const isCounted = isTerminal(run.status) && total > 0 && total <= MAX_COUNTED;
  const query = useQuery({ ...tagsQuery(run.id, total), enabled: isCounted });
  if (query.isError)
    return <Failure error={query.error} what="Failure tags" retry={() => void query.refetch()} />;
  const counts = query.data ?? [];
  if (counts.length === 0) return null;
  return (
    <section className={styles.section} aria-labelledby="tags">
      <h2 id="tags">Failure tags</h2>
      <ul className={styles.tags}>
        {counts.slice(0, MAX_SHOWN).map(({ tag, count }) => (
          <li key={tag}>
            <Link to="/runs/$id/transcripts" params={{ id: run.id }} search={{ tag }}>
              {visible(tag)} <span className={styles.badge}>{formatCount(count)}</span>
            </Link>
          </li>
        ))}
      </ul>
      {counts.length > MAX_SHOWN && (
        <p className={styles.note}>
          The {MAX_SHOWN} most frequent of {formatCount(counts.length)}.
        </p>
      )}
    </section>
  );
}
