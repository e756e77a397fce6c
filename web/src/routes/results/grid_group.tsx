import { counted, formatCount, formatShare, visible } from "../../lib/format";
import type { GroupCount, RowGroup } from "../../lib/row_groups";
import styles from "./answers.module.css";

export const GROUP_PX = 38;

interface GroupRowProps {
  name: string;
  group: RowGroup;
  isFolded: boolean;
  position: number;
  top: number;
  /** The number of columns that say something about the case. */
  sides: number;
  columns: readonly number[];
  drawn: readonly number[];
  activeColumn: number | undefined;
  toggle: (at?: number) => void;
}

/** Heads the rows with one value of a variable, with the rates of each target in them. */
export function GroupRow(props: GroupRowProps) {
  const { name, group, isFolded, position, top, sides, columns, drawn, activeColumn, toggle } = props;
  return (
    <div
      role="row"
      data-index={position}
      aria-rowindex={position + 2}
      className={`${styles.columns} ${styles.row} ${styles.group}`}
      style={{ transform: `translateY(${top}px)`, height: GROUP_PX }}
    >
      <div role="rowheader" aria-colindex={1} className={styles.side} data-kind="input">
        <button
          type="button"
          className={styles.value}
          aria-expanded={!isFolded}
          tabIndex={-1}
          onClick={() => toggle()}
        >
          <span aria-hidden="true">{isFolded ? "▸" : "▾"}</span> {visible(name)}:{" "}
          <strong>{group.value === null ? "none" : visible(group.value)}</strong>{" "}
          <span className={styles.muted}>{counted(group.rows.length, "row")}</span>
        </button>
      </div>
      {drawn.map((at) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keys of all its cells
        <div
          key={columns[at]}
          role="gridcell"
          aria-colindex={sides + at + 1}
          tabIndex={activeColumn === at ? 0 : -1}
          className={styles.cell}
          style={{ gridColumn: sides + at + 1 }}
          onClick={() => toggle(at)}
        >
          <span>{rateText(group.counts[columns[at] ?? 0])}</span>
        </div>
      ))}
    </div>
  );
}

function rateText(count: GroupCount | undefined): string {
  if (count === undefined || count.conversations === 0) return "none listed";
  if (count.judged === 0) return counted(count.conversations, "conversation");
  const { passed, judged } = count;
  return `${formatShare(passed / judged)} passed (${formatCount(passed)} of ${formatCount(judged)})`;
}
