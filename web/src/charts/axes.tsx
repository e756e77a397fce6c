import styles from "./axes.module.css";
import type { Scale } from "./scale";

export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export interface Tick {
  readonly at: number;
  readonly text: string;
  readonly isZero?: boolean;
}

interface Props {
  box: Box;
  x: readonly Tick[];
  y: readonly Tick[];
  xAxis: string;
  yAxis: string;
}

export function ticksOf(scale: Scale, format: (value: number) => string, marksZero = false): Tick[] {
  return scale.ticks.map((tick) => ({
    at: scale.at(tick),
    text: format(tick),
    isZero: marksZero && tick === 0,
  }));
}

export function Axes({ box: { left, right, top, bottom }, x, y, xAxis, yAxis }: Props) {
  return (
    <>
      {x.map(({ at, text, isZero }) => (
        <g key={at}>
          <line className={isZero ? styles.zero : styles.grid} x1={at} x2={at} y1={top} y2={bottom} />
          <text className={styles.tick} x={at} y={bottom + 18} textAnchor="middle">
            {text}
          </text>
        </g>
      ))}
      {y.map(({ at, text, isZero }) => (
        <g key={at}>
          <line className={isZero ? styles.zero : styles.grid} x1={left} x2={right} y1={at} y2={at} />
          <text className={styles.tick} x={left - 8} y={at} textAnchor="end" dominantBaseline="central">
            {text}
          </text>
        </g>
      ))}
      <text className={styles.tick} x={(left + right) / 2} y={bottom + 40} textAnchor="middle">
        {xAxis}
      </text>
      <text
        className={styles.tick}
        transform={`translate(${left - 46} ${(top + bottom) / 2}) rotate(-90)`}
        textAnchor="middle"
      >
        {yAxis}
      </text>
    </>
  );
}
