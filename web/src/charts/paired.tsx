import type { PairedPoint } from "../lib/paired";
import { Axes, ticksOf } from "./axes";
import { ChartFigure } from "./figure";
import styles from "./paired.module.css";
import { linearScale } from "./scale";

interface Props {
  title: string;
  description: string;
  fileName: string;
  points: readonly PairedPoint[];
  /** These are the ends of both axes. */
  range: readonly [number, number];
  format: (value: number) => string;
  xAxis: string;
  yAxis: string;
  pointText: (point: PairedPoint) => string;
  choose: ((point: PairedPoint) => void) | undefined;
  table: React.ReactNode;
}

const [SIZE, LEFT, RIGHT, TOP, BOTTOM] = [356, 60, 18, 12, 52];
const BOX = { left: LEFT, right: SIZE - RIGHT, top: TOP, bottom: SIZE - BOTTOM };
const [SMALLEST, LARGEST] = [5, 16];

/**
 * Draws values of two sides on equal axes with the line on which they are equal. Points at one place are one mark,
 * whose area shows their number and whose shape shows the side of the line.
 */
export function PairedPlot(props: Props) {
  const { title, description, fileName, points, range, format, xAxis, yAxis, pointText, choose, table } =
    props;
  const x = linearScale(range, BOX.left, BOX.right);
  const y = linearScale(range, BOX.bottom, BOX.top);
  const [low, high] = [x.ticks[0] ?? 0, x.ticks.at(-1) ?? 1];
  const most = Math.max(1, ...points.map((each) => each.scenarios.length));
  const radiusOf = (count: number) =>
    most === 1 ? SMALLEST : SMALLEST + (LARGEST - SMALLEST) * Math.sqrt((count - 1) / (most - 1));
  const marks = points.map((point) => {
    const [left, top, radius] = [x.at(point.x), y.at(point.y), radiusOf(point.scenarios.length)];
    return {
      key: `${point.x} ${point.y}`,
      x: left,
      y: top,
      radius,
      text: pointText(point),
      choose: choose && (() => choose(point)),
      shape: (
        <path
          className={styles.mark}
          data-change={point.change}
          d={outline(point.change, left, top, radius)}
        />
      ),
    };
  });
  return (
    <ChartFigure
      title={title}
      description={description}
      fileName={fileName}
      width={SIZE}
      height={SIZE}
      table={table}
      marks={marks}
    >
      <Axes box={BOX} x={ticksOf(x, format)} y={ticksOf(y, format)} xAxis={xAxis} yAxis={yAxis} />
      <line className={styles.equal} x1={x.at(low)} y1={y.at(low)} x2={x.at(high)} y2={y.at(high)} />
    </ChartFigure>
  );
}

/** Returns a triangle that points up or down, or a circle. */
function outline(change: PairedPoint["change"], x: number, y: number, r: number): string {
  if (change === "unchanged") return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  const tip = change === "increased" ? -r : r;
  return `M${x} ${y + tip}L${x + r} ${y - tip * 0.8}H${x - r}z`;
}
