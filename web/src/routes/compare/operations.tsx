import type { ComparisonRow } from "../../api/comparisons";
import { formatCount, formatMs, formatUsd, UNKNOWN } from "../../lib/format";
import { FigureHeader } from "../../ui/figure_header";
import { ScrollRegion } from "../../ui/scroll";

type Operations = ComparisonRow["operations"];
type Figure = keyof Operations["baseline"];

const share = (value: number) => `${(100 * value).toFixed(1)}%`;
const FIGURES: readonly (readonly [Figure, string, (value: number) => string])[] = [
  ["costUsd", "Cost of a conversation", (value) => formatUsd(Number(value.toPrecision(6)))],
  ["tokens", "Tokens", (value) => formatCount(value)],
  ["medianDurationMs", "Median time", (value) => formatMs(value)],
  ["p95DurationMs", "95th percentile of the time", (value) => formatMs(value)],
  ["errorRate", "Errored", share],
  ["otherRate", "Without a decision", share],
];

/** What the conversations took and cost. Described, not tested. */
export function Operations({
  operations,
  sides = ["Baseline", "Other run"],
}: {
  operations: Operations;
  sides?: readonly [string, string];
}) {
  const shown = FIGURES.filter(
    ([name]) => operations.baseline[name] !== null || operations.comparison[name] !== null,
  );
  return (
    <ScrollRegion label="time and cost">
      <table>
        <thead>
          <tr>
            <th scope="col">Per conversation</th>
            <FigureHeader>{sides[0]}</FigureHeader>
            <FigureHeader>{sides[1]}</FigureHeader>
            <FigureHeader>Difference</FigureHeader>
          </tr>
        </thead>
        <tbody>
          {shown.map(([name, label, format]) => (
            <tr key={name}>
              <th scope="row">{label}</th>
              <td className="figure">{orUnknown(operations.baseline[name], format)}</td>
              <td className="figure">{orUnknown(operations.comparison[name], format)}</td>
              <td className="figure">{signed(operations.difference[name], format)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

function orUnknown(value: number | null, format: (value: number) => string): string {
  return value === null ? UNKNOWN : format(value);
}

function signed(value: number | null, format: (value: number) => string): string {
  if (value === null) return UNKNOWN;
  return value === 0 ? format(0) : `${value > 0 ? "+" : "-"}${format(Math.abs(value))}`;
}
