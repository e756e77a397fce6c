import { visible } from "../lib/format";
import { ChartFigure } from "./figure";
import { shortened } from "./names";
import { linearScale } from "./scale";
import styles from "./scatter.module.css";

export interface Point {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  /** Drawn with a ring around it. */
  readonly isMarked: boolean;
}

interface Props {
  title: string;
  description: string;
  fileName: string;
  points: readonly Point[];
  xAxis: string;
  yAxis: string;
  table: React.ReactNode;
}

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [720, 420, 72, 24, 16, 56];

/** Named points in a plane. */
export function ScatterPlot({ title, description, fileName, points, xAxis, yAxis, table }: Props) {
  const x = linearScale([...points.map((each) => each.x), 0], LEFT, WIDTH - RIGHT);
  const y = linearScale([...points.map((each) => each.y), 0], HEIGHT - BOTTOM, TOP);
  return (
    <ChartFigure
      title={title}
      description={description}
      fileName={fileName}
      width={WIDTH}
      height={HEIGHT}
      table={table}
    >
      {x.ticks.map((tick) => (
        <g key={tick}>
          <line
            className={tick === 0 ? styles.zero : styles.grid}
            x1={x.at(tick)}
            x2={x.at(tick)}
            y1={TOP}
            y2={HEIGHT - BOTTOM}
          />
          <text className={styles.tick} x={x.at(tick)} y={HEIGHT - BOTTOM + 18} textAnchor="middle">
            {tick}
          </text>
        </g>
      ))}
      {y.ticks.map((tick) => (
        <g key={tick}>
          <line
            className={tick === 0 ? styles.zero : styles.grid}
            x1={LEFT}
            x2={WIDTH - RIGHT}
            y1={y.at(tick)}
            y2={y.at(tick)}
          />
          <text
            className={styles.tick}
            x={LEFT - 8}
            y={y.at(tick)}
            textAnchor="end"
            dominantBaseline="central"
          >
            {tick}
          </text>
        </g>
      ))}
      <text className={styles.tick} x={(LEFT + WIDTH - RIGHT) / 2} y={HEIGHT - 12} textAnchor="middle">
        {xAxis}
      </text>
      <text
        className={styles.tick}
        transform={`translate(18 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)`}
        textAnchor="middle"
      >
        {yAxis}
      </text>
      {points.map((point) => {
        const isRight = x.at(point.x) > (LEFT + WIDTH) / 2;
        return (
          <g key={point.name}>
            {point.isMarked && (
              <circle className={styles.ring} cx={x.at(point.x)} cy={y.at(point.y)} r={10} />
            )}
            <circle className={styles.mark} cx={x.at(point.x)} cy={y.at(point.y)} r={5} />
            <text
              x={x.at(point.x) + (isRight ? -14 : 14)}
              y={y.at(point.y)}
              textAnchor={isRight ? "end" : "start"}
              dominantBaseline="central"
            >
              <title>{visible(point.name)}</title>
              {shortened(point.name)}
            </text>
          </g>
        );
      })}
    </ChartFigure>
  );
}
