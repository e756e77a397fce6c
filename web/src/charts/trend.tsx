import type { LinkProps } from "@tanstack/react-router";
import { Axes, ticksOf } from "./axes";
import { ChartFigure } from "./figure";
import type { Mark } from "./marks";
import { shortened } from "./names";
import { linearScale } from "./scale";
import styles from "./trend.module.css";

export interface TrendMark {
  readonly number: number;
  readonly value: number | null;
  readonly interval: readonly [number, number] | null;
  /** It is written instead of a mark if there is no value. */
  readonly missing: string;
  readonly text: string;
  readonly isBaseline: boolean;
  readonly link: LinkProps;
}

export interface TrendPanel {
  readonly name: string;
  readonly marks: readonly TrendMark[];
}

interface Props {
  title: string;
  description: string;
  fileName: string;
  panels: readonly TrendPanel[];
  range: readonly [number, number];
  format: (value: number) => string;
  xAxis: string;
  yAxis: string;
  table: React.ReactNode;
}

const [LEFT, RIGHT, NAME, PLOT, TICKS, AXIS] = [64, 16, 28, 132, 34, 20];
const PANEL = NAME + PLOT + TICKS;
const [WIDE, NARROW, MANY, LEAST_WIDTH] = [64, 34, 12, 260];

/** Draws estimates with intervals in a row of marks for each name, one below the other, on equal axes. */
export function TrendPlot({
  title,
  description,
  fileName,
  panels,
  range,
  format,
  xAxis,
  yAxis,
  table,
}: Props) {
  const count = Math.max(1, ...panels.map((panel) => panel.marks.length));
  const step = count > MANY ? NARROW : WIDE;
  const plot = Math.max(LEAST_WIDTH, count * step);
  const xOf = (position: number) => LEFT + step * (position + 0.5);
  const boxOf = (row: number) => ({
    left: LEFT,
    right: LEFT + plot,
    top: row * PANEL + NAME,
    bottom: row * PANEL + NAME + PLOT,
  });
  const yOf = (row: number) => linearScale(range, boxOf(row).bottom, boxOf(row).top);
  return (
    <ChartFigure
      title={title}
      description={description}
      fileName={fileName}
      width={LEFT + plot + RIGHT}
      height={panels.length * PANEL + AXIS}
      table={table}
      marks={panels.flatMap(({ name, marks }, row) =>
        marks.map((mark, position) => ({
          key: `${name} ${mark.number}`,
          cell: { x: position, y: row },
          ...shapeOf(mark, xOf(position), boxOf(row).top + PLOT / 2, yOf(row).at),
          text: mark.text,
          link: mark.link,
        })),
      )}
    >
      {panels.map(({ name, marks }, row) => {
        const y = yOf(row);
        return (
          <g key={name}>
            <text className={styles.name} x={LEFT} y={row * PANEL + 16}>
              <title>{name}</title>
              {shortened(name)}
            </text>
            <Axes
              box={boxOf(row)}
              x={marks.map((mark, position) => ({ at: xOf(position), text: String(mark.number) }))}
              y={ticksOf(y, format)}
              xAxis={row === panels.length - 1 ? xAxis : ""}
              yAxis={yAxis}
            />
            <path className={styles.line} d={pathOf(marks, xOf, y.at)} />
          </g>
        );
      })}
    </ChartFigure>
  );
}

/** Connects each value with the next one, without those that have a gap between them. */
function pathOf(
  marks: readonly TrendMark[],
  xOf: (position: number) => number,
  yOf: (value: number) => number,
): string {
  return marks
    .map(({ value }, position) => {
      if (value === null) return "";
      const before = marks[position - 1]?.value ?? null;
      return `${before === null ? "M" : "L"}${xOf(position)} ${yOf(value)}`;
    })
    .join("");
}

function shapeOf(
  { value, interval, missing, isBaseline }: TrendMark,
  x: number,
  middle: number,
  yOf: (value: number) => number,
): Pick<Mark, "x" | "y" | "radius" | "shape"> {
  if (value === null) {
    return { x, y: middle, radius: 12, shape: <Missing x={x} y={middle} text={missing} /> };
  }
  const y = yOf(value);
  const shape = (
    <>
      <circle className={styles.target} cx={x} cy={y} r={12} />
      {interval && (
        <line className={styles.whisker} x1={x} x2={x} y1={yOf(interval[0])} y2={yOf(interval[1])} />
      )}
      {isBaseline ? (
        <path className={styles.mark} d={`M${x - 8} ${y}l8-8 8 8-8 8z`} />
      ) : (
        <circle className={styles.mark} cx={x} cy={y} r={5} />
      )}
    </>
  );
  return { x, y, radius: 8, shape };
}

function Missing({ x, y, text }: { x: number; y: number; text: string }) {
  return (
    <g className={styles.drawn}>
      <circle className={styles.target} cx={x} cy={y} r={12} />
      <text
        className={styles.missing}
        transform={`translate(${x} ${y}) rotate(-90)`}
        textAnchor="middle"
        dominantBaseline="central"
      >
        {text}
      </text>
    </g>
  );
}
