import type { LinkProps } from "@tanstack/react-router";
import { Axes, ticksOf } from "./axes";
import { ChartFigure } from "./figure";
import { shortened } from "./names";
import { apart, linearScale } from "./scale";
import styles from "./scatter.module.css";

export interface Point {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  /** It is the interval of `y`, drawn as a vertical line. */
  readonly interval?: readonly number[] | null;
  readonly isMarked: boolean;
  readonly text: string;
  readonly link: LinkProps | undefined;
}

interface Props {
  title: string;
  description: string;
  fileName: string;
  points: readonly Point[];
  xAxis: string;
  yAxis: string;
  xFormat?: (value: number) => string;
  yFormat?: (value: number) => string;
  /** The axis has at least these values and 0. */
  yValues?: readonly number[];
  size?: readonly [width: number, height: number];
  table: React.ReactNode;
}

const SIZE = [720, 420] as const;
const NAME_PX = 14;

/** Draws named points in a plane. */
export function ScatterPlot(props: Props) {
  const { title, description, fileName, points, xAxis, yAxis, yValues = [], table } = props;
  const { xFormat = String, yFormat = String, size: [width, height] = SIZE } = props;
  const box = { left: 72, right: width - 24, top: 16, bottom: height - 52 };
  const x = linearScale([...points.map((each) => each.x), 0], box.left, box.right);
  const y = linearScale([...points.map((each) => each.y), ...yValues, 0], box.bottom, box.top);
  const names = apart(
    points.map((each) => y.at(each.y)),
    NAME_PX,
    box.bottom,
  );
  const marks = points.map((point, at) => {
    const [left, top] = [x.at(point.x), y.at(point.y)];
    const isRight = left > (box.left + width) / 2;
    const [low, high] = point.interval ?? [];
    return {
      key: point.name,
      x: left,
      y: top,
      radius: point.isMarked ? 10 : 5,
      text: point.text,
      link: point.link,
      shape: (
        <>
          {low !== undefined && high !== undefined && (
            <line className={styles.whisker} x1={left} x2={left} y1={y.at(low)} y2={y.at(high)} />
          )}
          {point.isMarked && <circle className={styles.ring} cx={left} cy={top} r={10} />}
          <circle className={styles.mark} cx={left} cy={top} r={5} />
          <text
            x={left + (isRight ? -14 : 14)}
            y={names[at]}
            textAnchor={isRight ? "end" : "start"}
            dominantBaseline="central"
          >
            {shortened(point.name)}
          </text>
        </>
      ),
    };
  });
  return (
    <ChartFigure
      title={title}
      description={description}
      fileName={fileName}
      width={width}
      height={height}
      table={table}
      marks={marks}
    >
      <Axes
        box={box}
        x={ticksOf(x, xFormat, true)}
        y={ticksOf(y, yFormat, true)}
        xAxis={xAxis}
        yAxis={yAxis}
      />
    </ChartFigure>
  );
}
