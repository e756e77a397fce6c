import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { transcriptQuery } from "../../api/tables";
import type { Run } from "../../api/types";
import { lastAnswer } from "../../lib/answers";
import type { ProbeTable } from "../../lib/probe_table";
import { columnOf, sideBySide } from "../../lib/result_rows";
import { Conversation, hasTranscript } from "../conversation";
import { useFormat } from "../transcript/format";
import styles from "./answers.module.css";

const MOST = 4;

interface PanesProps {
  run: Run;
  table: ProbeTable;
  index: number;
  /** They are the positions of the targets that are shown. */
  columns: readonly number[];
}

/** Shows the conversations of one case and repeat with up to four targets, scrolled together. */
export function Panes({ run, table, index, columns }: PanesProps) {
  const panel = useRef<HTMLDivElement>(null);
  const format = useFormat();
  const own = columnOf(table, index);
  const cell = table.cell[index] ?? 0;
  const repeat = index - (table.firstIndex[cell] ?? index);
  const chosen = sideBySide(columns.length, Math.max(0, columns.indexOf(own)), MOST).map(
    (at) => columns[at] ?? 0,
  );
  const indexes = chosen.map((each) => {
    const first = table.firstIndex[cell - own + each] ?? -1;
    return first < 0 ? undefined : first + repeat;
  });
  const first = useQuery({
    ...transcriptQuery(run.id, indexes[0] ?? 0),
    enabled: hasTranscript(table, indexes[0]),
  });
  const scrollTogether = (source: HTMLElement) => {
    const share = source.scrollTop / Math.max(1, source.scrollHeight - source.clientHeight);
    for (const other of panel.current?.querySelectorAll<HTMLElement>("[data-pane]") ?? []) {
      if (other !== source) other.scrollTop = share * (other.scrollHeight - other.clientHeight);
    }
  };
  const lead = (position: number) => {
    if (panel.current) panel.current.dataset["leader"] = String(position);
  };
  return (
    <>
      {format === "text" && (
        <p className={styles.note}>Words that the first answer does not have are marked.</p>
      )}
      <div className={styles.panes} data-count={chosen.length} ref={panel}>
        {chosen.map((each, position) => (
          <section
            key={each}
            className={styles.pane}
            data-pane=""
            data-chosen={each === own}
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
            tabIndex={0}
            aria-label={`Conversation ${position + 1} of ${chosen.length}`}
            onPointerEnter={() => lead(position)}
            onFocus={() => lead(position)}
            onScroll={(event) => {
              if ((panel.current?.dataset["leader"] ?? "0") === String(position))
                scrollTogether(event.currentTarget);
            }}
          >
            <Conversation
              run={run}
              table={table}
              index={indexes[position]}
              isSideBySide
              against={position > 0 && format === "text" ? lastAnswer(first.data) : undefined}
            />
          </section>
        ))}
      </div>
    </>
  );
}
