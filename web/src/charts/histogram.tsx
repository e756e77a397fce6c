import { useState } from "react";
import { visible } from "../lib/format";
import { ChartFigure } from "./figure";
import styles from "./histogram.module.css";
import { shortened } from "./names";

export interface HistogramRow {
  readonly name: string;
  readonly text: string;
  readonly counts: readonly number[];
}

interface Props {
  title: string;
  description: string;
  fileName: string;
  rows: readonly HistogramRow[];
  starts: readonly number[];
  /** It is true if the last bin has values that are further away than its width. */
  isOpen: boolean;
  binText: (bin: number) => string;
  format: (value: number) => string;
  axis: string;
  width: number;
  /** They are the first and last selected bin; null selects all. */
  selected: readonly [number, number] | null;
  select: (first: number, last: number) => void;
  table: React.ReactNode;
}

const [SIDE, TOP, NAME, BARS, GAP, BOTTOM] = [28, 4, 20, 48, 12, 44];
const LABEL_PX = 72;

/** Draws histograms of several targets on one axis, one below the other; a pointer selects bins by dragging. */
export function Histogram({
  title,
  description,
  fileName,
  rows,
  starts,
  isOpen,
  binText,
  format,
  axis,
  width,
  selected,
  select,
  table,
}: Props) {
  const [dragged, setDragged] = useState<readonly [number, number] | null>(null);
  const bins = starts.length;
  const step = (width - 2 * SIDE) / bins;
  const most = Math.max(1, ...rows.flatMap((row) => row.counts));
  const bottom = TOP + rows.length * (NAME + BARS + GAP) - GAP;
  const labelEvery = Math.max(1, Math.ceil(LABEL_PX / step));
  const shown = dragged ?? selected;
  const binAt = (x: number) => Math.max(0, Math.min(bins - 1, Math.floor((x - SIDE) / step)));
  const drag = (from: number, to: number, isOver: boolean) => {
    const [one, other] = [binAt(from), binAt(to)];
    const [first, last] = [Math.min(one, other), Math.max(one, other)];
    setDragged(isOver ? null : [first, last]);
    if (isOver) select(first, last);
  };
  return (
    <ChartFigure
      title={title}
      description={description}
      fileName={fileName}
      width={width}
      height={bottom + BOTTOM}
      table={table}
      drag={drag}
    >
      {shown && (
        <rect
          className={styles.selected}
          x={SIDE + shown[0] * step}
          y={TOP}
          width={(shown[1] - shown[0] + 1) * step}
          height={bottom - TOP}
        />
      )}
      {rows.map((row, position) => {
        const top = TOP + position * (NAME + BARS + GAP);
        const base = top + NAME + BARS;
        return (
          <g key={row.name}>
            <text className={styles.name} x={SIDE} y={top + 13}>
              <title>{visible(row.name)}</title>
              {shortened(row.name)}
            </text>
            <text className={styles.tick} x={width - SIDE} y={top + 13} textAnchor="end">
              {row.text}
            </text>
            {row.counts.map((count, bin) => {
              const height = count === 0 ? 0 : Math.max(1, (BARS * count) / most);
              return (
                <rect
                  key={starts[bin]}
                  className={styles.bar}
                  data-in={shown === null || (bin >= shown[0] && bin <= shown[1])}
                  data-open={isOpen && bin === bins - 1 && count > 0}
                  x={SIDE + bin * step + 0.5}
                  y={base - height}
                  width={Math.max(1, step - 1)}
                  height={height}
                >
                  <title>{`${visible(row.name)}, ${binText(bin)}: ${count}`}</title>
                </rect>
              );
            })}
            <line className={styles.axis} x1={SIDE} x2={width - SIDE} y1={base} y2={base} />
          </g>
        );
      })}
      {starts.map(
        (start, bin) =>
          bin % labelEvery === 0 && (
            <g key={start}>
              <line
                className={styles.axis}
                x1={SIDE + bin * step}
                x2={SIDE + bin * step}
                y1={bottom}
                y2={bottom + 4}
              />
              <text className={styles.tick} x={SIDE + bin * step} y={bottom + 17} textAnchor="middle">
                {format(start)}
              </text>
            </g>
          ),
      )}
      <text className={styles.tick} x={width / 2} y={bottom + 36} textAnchor="middle">
        {axis}
      </text>
    </ChartFigure>
  );
}
