import { visible } from "../lib/format";
import { ChartFigure } from "./figure";
import styles from "./heatmap.module.css";
import { shortened } from "./names";

interface Props {
  title: string;
  description: string;
  fileName: string;
  names: readonly string[];
  /** It is from -1 to 1, or null where it could not be computed. */
  valueAt: (row: number, column: number) => number | null | undefined;
  format: (value: number | null | undefined) => string;
  table: React.ReactNode;
}

const [NAME, CELL, HEAD] = [250, 64, 32];

/** Draws the pairs of a list as squares with their values, which colors only repeat. Columns have the rows' numbers. */
export function Heatmap({ title, description, fileName, names, valueAt, format, table }: Props) {
  return (
    <ChartFigure
      title={title}
      description={description}
      fileName={fileName}
      width={NAME + names.length * CELL + 2}
      height={HEAD + names.length * CELL + 2}
      table={table}
    >
      {names.map((name, row) => (
        <g key={name}>
          <text x={NAME + row * CELL + CELL / 2} y={HEAD / 2} textAnchor="middle" dominantBaseline="central">
            {row + 1}
          </text>
          <text x={0} y={HEAD + row * CELL + CELL / 2} dominantBaseline="central">
            <title>{visible(name)}</title>
            {row + 1} {shortened(name)}
          </text>
          {names.map((other, column) => {
            const value = row === column ? undefined : valueAt(row, column);
            return (
              <g key={other}>
                <rect
                  className={styles.cell}
                  data-level={levelOf(value)}
                  x={NAME + column * CELL + 1}
                  y={HEAD + row * CELL + 1}
                  width={CELL - 2}
                  height={CELL - 2}
                />
                <text
                  x={NAME + column * CELL + CELL / 2}
                  y={HEAD + row * CELL + CELL / 2}
                  textAnchor="middle"
                  dominantBaseline="central"
                >
                  {row === column ? "–" : format(value)}
                </text>
              </g>
            );
          })}
        </g>
      ))}
    </ChartFigure>
  );
}

/** It is from -2, clearly below 0, to 3, nearly 1. */
export function levelOf(value: number | null | undefined): number | undefined {
  if (value === null || value === undefined) return undefined;
  if (value < 0) return value < -0.3 ? -2 : -1;
  return Math.min(3, Math.floor(value * 4));
}
