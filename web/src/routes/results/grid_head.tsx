import type { KeyboardEvent, PointerEvent } from "react";
import type { ColumnResults } from "../../api/types";
import { columnName } from "../../lib/estimates";
import { formatCount, formatInterval, formatShare, visible } from "../../lib/format";
import { type CaseOrder, nextOrder } from "../../lib/row_groups";
import styles from "./answers.module.css";
import { type Resizable, type Side, type SideKind, STEP_PX } from "./columns";

interface HeadProps {
  height: number;
  sides: readonly Side[];
  sidePx: Readonly<Record<SideKind, number>>;
  answerPx: number;
  columns: readonly number[];
  drawn: readonly number[];
  results: readonly ColumnResults[] | undefined;
  resize: (kind: Resizable, px: number) => void;
  order: string | undefined;
  sort: (order: CaseOrder | undefined) => void;
}

/** Names the columns; the edge of each changes the width of its kind, and the head of a text of the case sorts. */
export function GridHead(props: HeadProps) {
  const { height, sides, sidePx, answerPx, columns, drawn, results, resize, order, sort } = props;
  return (
    <div role="rowgroup" className={styles.head}>
      <div role="row" aria-rowindex={1} className={styles.columns} style={{ height }}>
        {sides.map((side, at) => (
          <div
            key={`${side.kind} ${side.name}`}
            role="columnheader"
            aria-colindex={at + 1}
            className={styles.headCell}
            aria-sort={sortedBy(side, order)}
            data-kind={side.kind}
            style={{ gridColumn: at + 1 }}
          >
            <SideName side={side} order={order} sort={sort} />
            <Edge of={side.name} px={sidePx[side.kind]} resize={(px) => resize(side.kind, px)} />
          </div>
        ))}
        {drawn.map((at) => (
          <div
            key={at}
            role="columnheader"
            aria-colindex={sides.length + at + 1}
            className={styles.headCell}
            style={{ gridColumn: sides.length + at + 1 }}
          >
            <Target column={columns[at] ?? 0} results={results?.[columns[at] ?? 0]} />
            <Edge of="the answers" px={answerPx} resize={(px) => resize("answer", px)} />
          </div>
        ))}
      </div>
    </div>
  );
}

function SideName({ side, order, sort }: { side: Side } & Pick<HeadProps, "order" | "sort">) {
  const column = orderOf(side);
  if (column === undefined) return <span>{visible(side.name)}</span>;
  const mark = { ascending: " ↑", descending: " ↓", none: "" }[sortedBy(side, order) ?? "none"];
  return (
    <button type="button" className={styles.value} onClick={() => sort(nextOrder(order, column))}>
      {visible(side.name)}
      <span aria-hidden="true">{mark}</span>
    </button>
  );
}

function orderOf({ kind, name }: Side): CaseOrder | undefined {
  return kind === "input" ? "input" : kind === "value" ? `var.${name}` : undefined;
}

function sortedBy(side: Side, order: string | undefined): "ascending" | "descending" | undefined {
  const column = orderOf(side);
  if (column === undefined) return undefined;
  return order === column ? "ascending" : order === `-${column}` ? "descending" : undefined;
}

function Target({ column, results }: { column: number; results: ColumnResults | undefined }) {
  if (!results) return <strong>column {column + 1}</strong>;
  const { passRate } = results.estimate;
  const interval = formatInterval(passRate.interval95, formatShare);
  return (
    <span title={visible(columnName(results))}>
      <strong>{visible(results.label ?? results.modelId)}</strong>
      {results.promptId && <span>{visible(results.promptLabel ?? results.promptId)}</span>}
      {passRate.trials > 0 && (
        <small>
          {formatShare(passRate.share)} {interval && `(${interval})`} of {formatCount(passRate.trials)}
        </small>
      )}
    </span>
  );
}

interface EdgeProps {
  of: string;
  px: number;
  resize: (px: number) => void;
}

/** Changes a width by dragging, or by the arrow keys while it has the focus. */
function Edge({ of, px, resize }: EdgeProps) {
  const drag = (event: PointerEvent<HTMLElement>) => {
    event.preventDefault();
    const [element, from] = [event.currentTarget, event.clientX];
    element.setPointerCapture(event.pointerId);
    const move = (moved: globalThis.PointerEvent) => resize(px + moved.clientX - from);
    element.addEventListener("pointermove", move);
    element.addEventListener("lostpointercapture", () => element.removeEventListener("pointermove", move), {
      once: true,
    });
  };
  const press = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -STEP_PX, ArrowRight: STEP_PX }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    resize(px + by);
  };
  return (
    <span
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of ${visible(of)}`}
      aria-valuenow={px}
      tabIndex={0}
      className={styles.edge}
      onPointerDown={drag}
      onKeyDown={press}
    />
  );
}
