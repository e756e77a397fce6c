import { Axes, ticksOf } from "./axes";
import { ChartFigure } from "./figure";
import styles from "./forest.module.css";
import { shortened } from "./names";
import { linearScale } from "./scale";

export interface Rate {
  readonly name: string;
  readonly value: number;
  readonly interval: readonly number[] | null;
  readonly text: string;
  /** The main rate of a group is drawn filled and bold. */
  readonly isMain: boolean;
}

export interface RateGroup {
  readonly name: string;
  readonly rates: readonly Rate[];
}

interface Props {
  title: string;
  description: string;
  fileName: string;
  groups: readonly RateGroup[];
  format: (value: number) => string;
  axis: string;
  table: React.ReactNode;
}

const [NAME, PLOT, TEXT, ROW, HEADING, TOP, BOTTOM] = [108, 320, 190, 26, 28, 8, 52];

/** Draws several rates of each group, with their intervals, below each other on one axis from 0 to 1. */
export function RatesPlot({ title, description, fileName, groups, format, axis, table }: Props) {
  const scale = linearScale([0, 1], NAME + 12, NAME + PLOT - 12);
  const heights = groups.map((group) => HEADING + group.rates.length * ROW);
  const bottom = TOP + heights.reduce((sum, each) => sum + each, 0);
  const box = { left: NAME, right: NAME + PLOT, top: TOP, bottom };
  return (
    <ChartFigure
      title={title}
      description={description}
      fileName={fileName}
      width={NAME + PLOT + TEXT}
      height={bottom + BOTTOM}
      table={table}
    >
      <Axes box={box} x={ticksOf(scale, format)} y={[]} xAxis={axis} yAxis="" />
      {groups.map((group, position) => {
        const top = TOP + heights.slice(0, position).reduce((sum, each) => sum + each, 0);
        return (
          <g key={group.name}>
            <text x={0} y={top + HEADING / 2} dominantBaseline="central">
              <title>{group.name}</title>
              {shortened(group.name)}
            </text>
            {group.rates.map((rate, row) => (
              <RateRow key={rate.name} rate={rate} y={top + HEADING + (row + 0.5) * ROW} at={scale.at} />
            ))}
          </g>
        );
      })}
    </ChartFigure>
  );
}

function RateRow({ rate, y, at }: { rate: Rate; y: number; at: (value: number) => number }) {
  const { name, value, interval, text, isMain } = rate;
  const [low, high] = interval ?? [];
  return (
    <g className={isMain ? styles.overall : styles.plain}>
      <text x={12} y={y} dominantBaseline="central">
        {name}
      </text>
      {low !== undefined && high !== undefined && (
        <line className={styles.whisker} x1={at(low)} x2={at(high)} y1={y} y2={y} />
      )}
      <circle className={styles.mark} cx={at(value)} cy={y} r={4.5} />
      <text x={NAME + PLOT + 12} y={y} dominantBaseline="central">
        {text}
      </text>
    </g>
  );
}
