import type { PairedPoint } from "../lib/paired";
import { ChartFigure } from "./figure";
import styles from "./paired.module.css";
import { linearScale } from "./scale";

interface Props {
  title: string;
  description: string;
  fileName: string;
  points: readonly PairedPoint[];
  /** The ends of both axes. */
  range: readonly [number, number];
  format: (value: number) => string;
  xAxis: string;
  yAxis: string;
  /** Of a point, for those who point at it. */
  pointText: (point: PairedPoint) => string;
  choose: ((point: PairedPoint) => void) | undefined;
  table: React.ReactNode;
}

const [SIZE, LEFT, RIGHT, TOP, BOTTOM] = [356, 60, 12, 12, 52];
const [SMALLEST, LARGEST] = [5, 16];

/** Values of two sides on equal axes with the line on which they are equal. What lies at one place is one mark, whose
 * area says how much it is; its shape says on which side of the line. */
export function PairedPlot(props: Props) {
  const { title, description, fileName, points, range, format, xAxis, yAxis, pointText, choose, table } =
    props;
  const x = linearScale(range, LEFT, SIZE - RIGHT);
  const y = linearScale(range, SIZE - BOTTOM, TOP);
  const [low, high] = [x.ticks[0] ?? 0, x.ticks.at(-1) ?? 1];
  const most = Math.max(1, ...points.map((each) => each.scenarios.length));
  const radius = (count: number) =>
    most === 1 ? SMALLEST : SMALLEST + (LARGEST - SMALLEST) * Math.sqrt((count - 1) / (most - 1));
  return (
    <ChartFigure
      title={title}
      description={description}
      fileName={fileName}
      width={SIZE}
      height={SIZE}
      table={table}
    >
      {x.ticks.map((tick) => (
        <g key={tick}>
          <line className={styles.grid} x1={x.at(tick)} x2={x.at(tick)} y1={TOP} y2={SIZE - BOTTOM} />
          <line className={styles.grid} x1={LEFT} x2={SIZE - RIGHT} y1={y.at(tick)} y2={y.at(tick)} />
          <text className={styles.tick} x={x.at(tick)} y={SIZE - BOTTOM + 18} textAnchor="middle">
            {format(tick)}
          </text>
          <text
            className={styles.tick}
            x={LEFT - 8}
            y={y.at(tick)}
            textAnchor="end"
            dominantBaseline="central"
          >
            {format(tick)}
          </text>
        </g>
      ))}
      <line className={styles.equal} x1={x.at(low)} y1={y.at(low)} x2={x.at(high)} y2={y.at(high)} />
      <text className={styles.tick} x={(LEFT + SIZE - RIGHT) / 2} y={SIZE - 12} textAnchor="middle">
        {xAxis}
      </text>
      <text
        className={styles.tick}
        transform={`translate(16 ${(TOP + SIZE - BOTTOM) / 2}) rotate(-90)`}
        textAnchor="middle"
      >
        {yAxis}
      </text>
      {points.map((point) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: the list below has the same by keyboard
        <path
          key={`${point.x} ${point.y}`}
          className={styles.mark}
          data-change={point.change}
          d={shape(point.change, x.at(point.x), y.at(point.y), radius(point.scenarios.length))}
          data-leads={choose !== undefined}
          onClick={choose && (() => choose(point))}
        >
          <title>{pointText(point)}</title>
        </path>
      ))}
    </ChartFigure>
  );
}

/** A triangle that points up or down, or a circle. */
function shape(change: PairedPoint["change"], x: number, y: number, r: number): string {
  if (change === "unchanged") return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  const tip = change === "increased" ? -r : r;
  return `M${x} ${y + tip}L${x + r} ${y - tip * 0.8}H${x - r}z`;
}
