import { lazy, memo, Suspense, useState } from "react";
import type { CaseName, CaseText, Excerpt } from "../../api/types";
import { formatCount, visible } from "../../lib/format";
import { metricText } from "../../lib/metrics";
import { type Cell, Outcome, type OutcomeCode, type ProbeTable, readCell } from "../../lib/probe_table";
import { decisionText, labelText, type Shown } from "../../lib/probes";
import type { Lines } from "../../lib/search";
import { Dots } from "../../ui/dots";
import styles from "./answers.module.css";
import type { Side } from "./columns";

const Markdown = lazy(() => import("../transcript/markdown"));

function sideProps(kind: Side["kind"], at: number) {
  return { role: kind === "input" ? "rowheader" : "gridcell", "aria-colindex": at + 1 };
}

interface RowProps {
  measure: ((element: HTMLElement | null) => void) | undefined;
  table: ProbeTable;
  version: number;
  row: number;
  position: number;
  top: number;
  height: number | undefined;
  sides: readonly Side[];
  columns: readonly number[];
  drawn: readonly number[];
  shown: readonly Shown[];
  lines: Lines;
  /** It is true while the table is scrolled. */
  isMoving: boolean;
  name: CaseName | undefined;
  texts: CaseText | undefined;
  excerpts: ReadonlyMap<number, Excerpt>;
  probeAt: (row: number, column: number) => number;
  activeColumn: number | undefined;
  openedColumn: number | undefined;
  choose: (at: number) => void;
  filter: (side: Side, value: string) => void;
}

export function GridRow(props: RowProps) {
  const { table, row, position, top, height, sides, columns, drawn, name, texts } = props;
  return (
    <div
      ref={props.measure}
      data-index={position}
      role="row"
      aria-rowindex={position + 2}
      className={`${styles.columns} ${styles.row}`}
      data-open={props.openedColumn !== undefined}
      style={{ transform: `translateY(${top}px)`, height }}
    >
      {sides.map((side, at) => (
        <div
          key={`${side.kind} ${side.name}`}
          {...sideProps(side.kind, at)}
          className={styles.side}
          data-kind={side.kind}
          style={{ gridColumn: at + 1 }}
        >
          {side.kind === "input" ? (
            <Input row={row} name={name} texts={texts} />
          ) : side.kind === "expected" ? (
            <span className={styles.clamped}>{texts && visible(texts.expected ?? "")}</span>
          ) : (
            <Value side={side} texts={texts} filter={props.filter} />
          )}
        </div>
      ))}
      {drawn.map((at) => {
        const column = columns[at] ?? 0;
        const cell = readCell(table, row, column);
        const index = cell ? props.probeAt(row, column) : -1;
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keys of all its cells
          <div
            key={column}
            role="gridcell"
            aria-colindex={sides.length + at + 1}
            aria-selected={props.openedColumn === at}
            tabIndex={props.activeColumn === at ? 0 : -1}
            className={styles.cell}
            style={{ gridColumn: sides.length + at + 1 }}
            onClick={() => props.choose(at)}
          >
            {cell && index >= 0 ? (
              <Answer
                table={table}
                version={props.version}
                cell={cell}
                index={index}
                excerpt={props.excerpts.get(index)}
                shown={props.shown}
                isMoving={props.isMoving}
              />
            ) : (
              <span className={styles.muted}>not there yet</span>
            )}
          </div>
        );
      })}
    </div>
  );
}

function Input({ row, name, texts }: Pick<RowProps, "row" | "name" | "texts">) {
  const title = name ? (name.scenarioName ?? (name.scenarioId || `scenario ${row}`)) : "…";
  const isSame = texts?.input?.startsWith(title) ?? false;
  return (
    <>
      {!isSame && <strong>{visible(title)}</strong>}
      {name?.personaName && <small>{visible(name.personaName)}</small>}
      <span className={styles.clamped}>{texts && visible(texts.input ?? "")}</span>
    </>
  );
}

function Value({ side, texts, filter }: Pick<RowProps, "texts" | "filter"> & { side: Side }) {
  if (!texts || !Object.hasOwn(texts.values, side.name)) return null;
  const value = texts.values[side.name] ?? "";
  return (
    <button
      type="button"
      className={styles.value}
      tabIndex={-1}
      title="Show only rows with this value"
      onClick={() => filter(side, value)}
    >
      {visible(value)}
    </button>
  );
}

interface AnswerProps {
  table: ProbeTable;
  version: number;
  cell: Cell;
  index: number;
  excerpt: Excerpt | undefined;
  shown: readonly Shown[];
  isMoving: boolean;
}

const Answer = memo(function Answer({ table, cell, index, excerpt, shown, isMoving }: AnswerProps) {
  const text = excerpt?.answer;
  // What comes into sight while the table is scrolled is plain text until it stands still.
  const [isDrawn, draw] = useState(!isMoving);
  if (!isMoving && !isDrawn) draw(true);
  const failed = table.outcome[index] === Outcome.FAILED;
  return (
    <>
      <span className={styles.result} data-outcome={table.outcome[index]}>
        <Dots outcomes={cell.outcomes} />
        <span>{resultText(table, cell, index)}</span>
        {shown.includes("checks") && <Checks table={table} index={index} />}
      </span>
      <span className={styles.answer}>
        {text && !isDrawn ? (
          visible(text)
        ) : text ? (
          <Suspense fallback={visible(text)}>
            <Markdown text={text} isInert />
          </Suspense>
        ) : (
          excerpt && <span className={styles.muted}>{missingText(excerpt)}</span>
        )}
      </span>
      {shown.includes("reason") && (
        <span className={styles.reason}>{failed && text && excerpt?.reason && visible(excerpt.reason)}</span>
      )}
      {shown.includes("figures") && <span className={styles.figures}>{figures(table, index)}</span>}
    </>
  );
});

/** Names the checks that failed, and counts those that passed. */
function Checks({ table, index }: { table: ProbeTable; index: number }) {
  const failed = labelText(table, "check", index);
  const passed = table.passedChecks[index]?.length ?? 0;
  return (
    <>
      {failed !== "" && <span className={styles.failedChecks}>✕ {visible(failed)}</span>}
      {passed > 0 && <span className={styles.muted}>✓ {formatCount(passed)}</span>}
    </>
  );
}

function missingText({ reason, contentAvailable }: Excerpt): string {
  if (reason) return visible(reason);
  return contentAvailable ? "an empty answer" : "the content is gone";
}

const WORDS: Readonly<Record<OutcomeCode, string>> = {
  [Outcome.NONE]: "not there yet",
  [Outcome.PASSED]: "passed",
  [Outcome.FAILED]: "failed",
  [Outcome.ERRORED]: "errored",
  [Outcome.UNJUDGED]: "no result",
};

function resultText(table: ProbeTable, cell: Cell, index: number): string {
  const word = WORDS[table.outcome[index] as OutcomeCode];
  const decision = decisionText(table, index);
  if (cell.outcomes.length === 1) {
    if (decision === "") return word;
    return table.outcome[index] === Outcome.UNJUDGED
      ? `decision ${decision}`
      : `${word}, decision ${decision}`;
  }
  const errored = cell.errored > 0 ? `, ${formatCount(cell.errored)} errored` : "";
  if (cell.judged > 0) return `${cell.passed}/${cell.judged} passed${errored}`;
  return decision === "" ? `${word}${errored}` : `decision ${decision}${errored}`;
}

function figures(table: ProbeTable, index: number): string {
  const tokens = metricText("tokens", table.tokens[index]);
  return [
    metricText("time", table.durationMs[index]),
    tokens && `${tokens} tokens`,
    metricText("cost", table.costUsd[index]),
  ]
    .filter(Boolean)
    .join(" · ");
}
