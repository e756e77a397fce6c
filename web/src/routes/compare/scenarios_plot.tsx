import { useQuery } from "@tanstack/react-query";
import { allChangesQuery, MOST_DRAWN } from "../../api/comparisons";
import type { Comparison } from "../../api/types";
import { PairedPlot } from "../../charts/paired";
import { formatLevel, isRate, METRICS, type Metric } from "../../lib/comparison";
import { counted, formatCount, visible } from "../../lib/format";
import { countFlips, type PairedPoint, pairedPoints } from "../../lib/paired";
import { FigureHeader } from "../../ui/figure_header";
import page from "../../ui/page.module.css";
import { Failure, Loading } from "../../ui/states";
import styles from "./compare.module.css";

interface Props {
  comparison: Comparison;
  metric: Metric;
  row: number;
  open: ((scenarioId: string) => void) | undefined;
}

/** Draws each scenario by its value on either side, and counts those that changed sides. */
export function ScenariosPlot({ comparison, metric, row, open }: Props) {
  const query = useQuery(allChangesQuery(comparison.id, row));
  if (query.isPending) return <Loading what="the values of scenarios" rows={3} />;
  if (query.isError)
    return <Failure error={query.error} what="Values of scenarios" retry={() => void query.refetch()} />;
  const { items, isCut } = query.data;
  if (items.length === 0) return null;
  const points = pairedPoints(items);
  const count = (change: PairedPoint["change"]) => items.filter((each) => each.change === change).length;
  const sentence =
    `${counted(items.length, "scenario")}: ${formatCount(count("increased"))} higher in the other run, ` +
    `${formatCount(count("decreased"))} lower, ${formatCount(count("unchanged"))} unchanged.`;
  return (
    <>
      <p className={page.measured}>
        {sentence}
        {isRate(metric) && ` ${flipText(items)}`}
        {isCut && ` These are the ${formatCount(MOST_DRAWN)} that changed most.`}
      </p>
      <PairedPlot
        title={`${titled(METRICS[metric])} of each scenario`}
        description={visible(sentence)}
        fileName="scenarios"
        points={points}
        range={rangeOf(metric, items)}
        format={(value) => (isRate(metric) ? `${Math.round(100 * value)}%` : String(value))}
        xAxis="baseline"
        yAxis="other run"
        pointText={(point) => pointText(metric, point)}
        choose={open && ((point) => point.scenarios[0] && open(point.scenarios[0].scenarioId))}
        table={<PointTable points={points} metric={metric} />}
      />
    </>
  );
}

const titled = (text: string) => text[0]?.toUpperCase() + text.slice(1);

function rangeOf(
  metric: Metric,
  items: readonly { baseline: number; comparison: number }[],
): readonly [number, number] {
  if (isRate(metric)) return [0, 1];
  const values = items.flatMap((each) => [each.baseline, each.comparison]);
  return [Math.min(1, ...values), Math.max(5, ...values)];
}

function flipText(items: Parameters<typeof countFlips>[0]): string {
  const { toPassed, toFailed } = countFlips(items);
  return (
    `By the majority of repeats, ${formatCount(toPassed)} changed from failed to passed ` +
    `and ${formatCount(toFailed)} from passed to failed.`
  );
}

const MOST_NAMED = 5;

function pointText(metric: Metric, point: PairedPoint): string {
  const named = point.scenarios.slice(0, MOST_NAMED).map((each) => visible(each.scenarioName));
  const more = point.scenarios.length - named.length;
  const names = named.join(", ") + (more > 0 ? ` and ${formatCount(more)} more` : "");
  return `${formatLevel(metric, point.x)} → ${formatLevel(metric, point.y)}: ${names}`;
}

function PointTable({ points, metric }: { points: readonly PairedPoint[]; metric: Metric }) {
  return (
    <table>
      <thead>
        <tr>
          <FigureHeader>Baseline</FigureHeader>
          <FigureHeader>Other run</FigureHeader>
          <FigureHeader>Scenarios</FigureHeader>
          <th scope="col">Names</th>
        </tr>
      </thead>
      <tbody>
        {points.map((point) => (
          <tr key={`${point.x} ${point.y}`}>
            <td className="figure">{formatLevel(metric, point.x)}</td>
            <td className="figure">{formatLevel(metric, point.y)}</td>
            <td className="figure">{formatCount(point.scenarios.length)}</td>
            <td className={styles.rowName}>
              {point.scenarios.map((each) => visible(each.scenarioName)).join(", ")}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
