import { useRef } from "react";
import { useWidth } from "../ui/width";
import { ChartFigure } from "./figure";
import styles from "./forest.module.css";
import { shortened } from "./names";
import { linearScale } from "./scale";

export interface ForestRow {
  readonly name: string;
  readonly value: number;
  readonly interval: readonly [number, number] | null;
  readonly text: string;
  readonly isOverall: boolean;
}

interface Props {
  title: string;
  description: string;
  fileName: string;
  rows: readonly ForestRow[];
  /** Smaller differences do not matter; they are drawn as a band around 0. */
  margin: number;
  axis: string;
  format: (value: number) => string;
  table: React.ReactNode;
}

interface Layout {
  /** Left of the axis, between its ends, and right of it. */
  readonly name: number;
  readonly plot: number;
  readonly text: number;
  readonly row: number;
  /** The place of a row's name, its figures and its mark below the row's top. */
  readonly places: readonly [name: number, text: number, mark: number];
}

const WIDE: Layout = { name: 220, plot: 420, text: 240, row: 30, places: [15, 15, 15] };
const [LEAST_PLOT, TOP, BOTTOM] = [260, 12, 52];
const LINE = 16;

/** Returns the layout for so much width: on a narrow screen, name and figures are above the mark. */
function layoutOf(width: number): Layout {
  if (width >= WIDE.name + WIDE.plot + WIDE.text) return WIDE;
  const plot = Math.max(LEAST_PLOT, width);
  return { name: 0, plot, text: 0, row: 58, places: [10, 10 + LINE, 44] };
}

/** Draws differences with their intervals, one below the other, on one axis with 0. */
export function ForestPlot({ title, description, fileName, rows, margin, axis, format, table }: Props) {
  const values = rows.flatMap((row) => [row.value, ...(row.interval ?? [])]);
  const frame = useRef<HTMLDivElement>(null);
  const layout = layoutOf(useWidth(frame));
  const { name, plot, text, row: rowPx, places } = layout;
  const isNarrow = layout !== WIDE;
  const scale = linearScale([...values, -margin, margin, 0], name + 24, name + plot - 24);
  const bottom = TOP + rows.length * rowPx;
  const axisLines = isNarrow ? axis.split("; ") : [axis];
  const height = bottom + BOTTOM + LINE * (axisLines.length - 1);
  return (
    <div ref={frame}>
      <ChartFigure
        title={title}
        description={description}
        fileName={fileName}
        width={name + plot + text}
        height={height}
        table={table}
      >
        <rect
          className={styles.margin}
          x={scale.at(-margin)}
          y={TOP}
          width={scale.at(margin) - scale.at(-margin)}
          height={bottom - TOP}
        />
        {scale.ticks.map((tick) => (
          <g key={tick}>
            <line
              className={tick === 0 ? styles.zero : styles.grid}
              x1={scale.at(tick)}
              x2={scale.at(tick)}
              y1={TOP}
              y2={bottom + 4}
            />
            <text className={styles.tick} x={scale.at(tick)} y={bottom + 18} textAnchor="middle">
              {format(tick)}
            </text>
          </g>
        ))}
        {axisLines.map((line, at) => (
          <text
            key={line}
            className={styles.tick}
            x={name + plot / 2}
            y={bottom + 40 + at * LINE}
            textAnchor="middle"
          >
            {line}
          </text>
        ))}
        {rows.map((row, position) => {
          const top = TOP + position * rowPx;
          const y = top + places[2];
          return (
            <g key={row.name} className={row.isOverall ? styles.overall : undefined}>
              <text x={0} y={top + places[0]} dominantBaseline="central">
                <title>{row.name}</title>
                {shortened(row.name)}
              </text>
              {row.interval && (
                <line
                  className={styles.whisker}
                  x1={scale.at(row.interval[0])}
                  x2={scale.at(row.interval[1])}
                  y1={y}
                  y2={y}
                />
              )}
              {row.isOverall ? (
                <path className={styles.mark} d={`M${scale.at(row.value) - 7} ${y}l7-6 7 6-7 6z`} />
              ) : (
                <circle className={styles.mark} cx={scale.at(row.value)} cy={y} r={4.5} />
              )}
              <text x={isNarrow ? 0 : name + plot + 12} y={top + places[1]} dominantBaseline="central">
                {row.text}
              </text>
            </g>
          );
        })}
      </ChartFigure>
    </div>
  );
}
