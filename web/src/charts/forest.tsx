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

const [NAME, PLOT, TEXT, ROW, TOP, BOTTOM] = [220, 420, 240, 30, 12, 52];

/** Draws differences with their intervals, one below the other, on one axis with 0. */
export function ForestPlot({ title, description, fileName, rows, margin, axis, format, table }: Props) {
  const values = rows.flatMap((row) => [row.value, ...(row.interval ?? [])]);
  const scale = linearScale([...values, -margin, margin, 0], NAME + 12, NAME + PLOT - 12);
  const height = TOP + rows.length * ROW + BOTTOM;
  const bottom = TOP + rows.length * ROW;
  return (
    <ChartFigure
      title={title}
      description={description}
      fileName={fileName}
      width={NAME + PLOT + TEXT}
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
      <text className={styles.tick} x={NAME + PLOT / 2} y={bottom + 40} textAnchor="middle">
        {axis}
      </text>
      {rows.map((row, position) => {
        const y = TOP + position * ROW + ROW / 2;
        return (
          <g key={row.name} className={row.isOverall ? styles.overall : undefined}>
            <text x={0} y={y} dominantBaseline="central">
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
            <text x={NAME + PLOT + 12} y={y} dominantBaseline="central">
              {row.text}
            </text>
          </g>
        );
      })}
    </ChartFigure>
  );
}
