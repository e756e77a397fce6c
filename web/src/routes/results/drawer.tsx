import { lazy, Suspense, useEffect, useRef } from "react";
import { useCaseNames } from "../../api/tables";
import type { Run } from "../../api/types";
import { visible } from "../../lib/format";
import type { ProbeTable } from "../../lib/probe_table";
import { caseOf } from "../../lib/result_rows";
import { useKeys } from "../../ui/keys";
import { Loading } from "../../ui/states";
import { Conversation, hasTranscript } from "../conversation";
import { FormatChoice } from "../transcript/format_choice";
import { ScrollElement } from "../transcript/scroll_element";
import styles from "./answers.module.css";
import { Review } from "./review";

const Panes = lazy(() => import("./panes").then((each) => ({ default: each.Panes })));

interface DrawerProps {
  run: Run;
  table: ProbeTable;
  index: number;
  find: string | undefined;
  /** If true, the conversations of all shown targets are beside each other. */
  isBeside: boolean;
  columns: readonly number[];
  compare: (isBeside: boolean) => void;
  open: (index: number) => void;
  step: (direction: 1 | -1, onlyFailures: boolean) => void;
  close: () => void;
}

/** Shows the opened conversation beside the table, and takes what a person says about it. */
export function Drawer(props: DrawerProps) {
  const { run, table, index, find, isBeside, columns, compare, open, step, close } = props;
  const panel = useRef<HTMLElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const row = caseOf(table, index);
  const name = useCaseNames(run.id, [row]).get(row);
  const first = table.firstIndex[table.cell[index] ?? 0] ?? index;
  const canCompare = columns.length > 1;
  useEffect(() => {
    panel.current?.scrollIntoView({ block: "nearest" });
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another conversation is shown from its beginning
  useEffect(() => {
    if (body.current) body.current.scrollTop = 0;
  }, [index]);
  useKeys("Conversation", {
    b: {
      does: "show the conversations of all targets beside each other",
      act: () => compare(!isBeside),
      isUsable: () => canCompare,
    },
  });
  return (
    <section className={styles.drawer} aria-label="Conversation" ref={panel}>
      <div className={styles.bar} data-actions>
        <button type="button" aria-keyshortcuts="p" onClick={() => step(-1, true)}>
          Previous failure
        </button>
        <button type="button" aria-keyshortcuts="n" onClick={() => step(1, true)}>
          Next failure
        </button>
        {canCompare && (
          <button
            type="button"
            aria-keyshortcuts="b"
            aria-pressed={isBeside}
            onClick={() => compare(!isBeside)}
          >
            All targets
          </button>
        )}
        {table.repeats > 1 && (
          <label>
            Repeat{" "}
            <select value={index - first} onChange={(event) => open(first + Number(event.target.value))}>
              {Array.from({ length: table.repeats }, (_, repeat) => (
                <option key={String(repeat)} value={repeat}>
                  {repeat + 1} of {table.repeats}
                </option>
              ))}
            </select>
          </label>
        )}
        {isBeside && <FormatChoice />}
        <button type="button" className={styles.close} onClick={close}>
          Close
        </button>
      </div>
      <div className={styles.opened} ref={body}>
        {isBeside && canCompare ? (
          <>
            <h2>{visible(name?.scenarioName ?? `Scenario ${row}`)}</h2>
            <Suspense fallback={<Loading what="the conversations" />}>
              <Panes run={run} table={table} index={index} columns={columns} />
            </Suspense>
          </>
        ) : (
          <ScrollElement value={body}>
            <Conversation key={index} run={run} table={table} index={index} find={find} />
          </ScrollElement>
        )}
      </div>
      {!isBeside && hasTranscript(table, index) && <Review key={index} runId={run.id} index={index} />}
    </section>
  );
}
