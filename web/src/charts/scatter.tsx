import type { LinkProps } from "@tanstack/react-router";
import { Axes, ticksOf } from "./axes";
import { ChartFigure } from "./figure";
import { shortened } from "./names";
import { linearScale } from "./scale";
import styles from "./scatter.module.css";

export interface Point {
  readonly name: string;
  readonly x: number;
  readonly y: number;
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
  table: React.ReactNode;
}

const [WIDTH, HEIGHT] = [720, 420];
const BOX = { left: 72, right: WIDTH - 24, top: 16, bottom: HEIGHT - 52 };

/** Draws named points in a plane. */
export function ScatterPlot({ title, description, fileName, points, xAxis, yAxis, table }: Props) {
  const x = linearScale([...points.map((each) => each.x), 0], BOX.left, BOX.right);
  const y = linearScale([...points.map((each) => each.y), 0], BOX.bottom, BOX.top);
  const marks = points.map((point) => {
    const [left, top] = [x.at(point.x), y.at(point.y)];
    const isRight = left > (BOX.left + WIDTH) / 2;
    return {
      key: point.name,
      x: left,
      y: top,
      radius: point.isMarked ? 10 : 5,
      text: point.text,
      link: point.link,
      shape: (
        <>
          {point.isMarked && <circle className={styles.ring} cx={left} cy={top} r={10} />}
          <circle className={styles.mark} cx={left} cy={top} r={5} />
          <text
            x={left + (isRight ? -14 : 14)}
            y={top}
            textAnchor={isRight ? "end" : "start"}
            dominantBaseline="central"
          >
            {shortened(point.name)}
          </text>
        </>
      ),
    };
  });
  const ticks = (scale: typeof x) => ticksOf(scale, String, true);
  return (
    <ChartFigure
      title={title}
      description={description}
      fileName={fileName}
      width={WIDTH}
      height={HEIGHT}
      table={table}
      marks={marks}
    >
      <Axes box={BOX} x={ticks(x)} y={ticks(y)} xAxis={xAxis} yAxis={yAxis} />
    </ChartFigure>
  );
}
