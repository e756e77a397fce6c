import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { transcriptQuery, useCaseNames } from "../api/tables";
import type { Run } from "../api/types";
import { lastAnswer } from "../lib/answers";
import { visible } from "../lib/format";
import { sideBySide } from "../lib/matrix";
import type { ProbeTable } from "../lib/probe_table";
import { useKeys } from "../ui/keys";
import { Conversation, hasTranscript } from "./conversation";
import styles from "./matrix.module.css";
import { useFormat } from "./transcript/format";
import { FormatChoice } from "./transcript/format_choice";

const route = getRouteApi("/runs/$id/matrix");
const MOST = 4;

interface RowProps {
  run: Run;
  table: ProbeTable;
  row: number;
  column: number;
  repeat: number;
  close: () => void;
}

/** Shows the conversations of one case with up to four targets, scrolled together. */
export function MatrixRow({ run, table, row, column, repeat, close }: RowProps) {
  const navigate = route.useNavigate();
  const panel = useRef<HTMLElement>(null);
  const title = useRef<HTMLHeadingElement>(null);
  const format = useFormat();
  const name = useCaseNames(run.id, [row]).get(row);
  const columns = sideBySide(table.columns, Math.min(column, table.columns - 1), MOST);
  const indexes = columns.map((each) => {
    const first = table.firstIndex[row * table.columns + each] ?? -1;
    return first < 0 ? undefined : first + repeat;
  });
  useEffect(() => {
    title.current?.focus({ preventScroll: true });
    panel.current?.scrollIntoView({ block: "nearest" });
  }, []);
  const step = (direction: 1 | -1) => {
    const to = column + direction;
    if (to >= 0 && to < table.columns)
      void navigate({ search: (old) => ({ ...old, column: to || undefined }), replace: true });
  };
  useKeys("Conversations of the row", {
    "]": { does: "choose the next target", act: () => step(1) },
    "[": { does: "choose the previous target", act: () => step(-1) },
    Escape: { does: "close them", act: close },
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
  return (
    <section className={styles.panel} ref={panel} aria-labelledby="opened">
      <div className={styles.panelHead} data-actions>
        <h2 id="opened" ref={title} tabIndex={-1}>
          {visible(name?.scenarioName ?? `Scenario ${row}`)}
        </h2>
        {table.repeats > 1 && (
          <label>
            Repeat{" "}
            <select
              value={repeat}
              onChange={(event) =>
                void navigate({
                  search: (old) => ({ ...old, repeat: Number(event.target.value) || undefined }),
                  replace: true,
                })
              }
            >
              {Array.from({ length: table.repeats }, (_, number) => (
                <option key={String(number)} value={number}>
                  {number + 1} of {table.repeats}
                </option>
              ))}
            </select>
          </label>
        )}
        <FormatChoice />
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      {columns.length > 1 && format === "text" && (
        <p className={styles.note}>Words that the first answer does not have are marked.</p>
      )}
      <div className={styles.panes} data-count={columns.length}>
        {columns.map((each, position) => (
          <section
            key={each}
            className={styles.pane}
            data-pane=""
            data-chosen={each === column && columns.length > 1}
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
            tabIndex={0}
            aria-label={`Conversation ${position + 1} of ${columns.length}`}
            onPointerEnter={() => {
              if (panel.current) panel.current.dataset["leader"] = String(position);
            }}
            onFocus={() => {
              if (panel.current) panel.current.dataset["leader"] = String(position);
            }}
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
              against={position > 0 ? lastAnswer(first.data) : undefined}
            />
          </section>
        ))}
      </div>
    </section>
  );
}
