import type { ColumnResults } from "../../api/types";
import { ScatterPlot } from "../../charts/scatter";
import { columnName } from "../../lib/estimates";
import { formatInterval, formatShare, formatUsd, visible } from "../../lib/format";
import { costOf } from "../../lib/role_costs";
import { FigureHeader } from "../../ui/figure_header";

const SIZE = [520, 260] as const;
const WHOLE = [1];

/** Shows the pass rate of each target by what its calls cost per conversation. A mark leads to the target's answers. */
export function CostPlot({ id, columns }: { id: string; columns: readonly ColumnResults[] }) {
  const points = columns.flatMap((column, position) => {
    const { share, interval95, trials } = column.estimate.passRate;
    const cost = costOf(column, "target");
    const conversations = column.estimate.completed + column.estimate.errored;
    if (share === null || trials === 0 || cost === null || conversations === 0) return [];
    const [name, usd, bounds] = [
      columnName(column),
      cost / conversations,
      formatInterval(interval95, formatShare),
    ];
    const rate = `${formatShare(share)}${bounds && ` (${bounds})`}`;
    return {
      name,
      x: usd,
      y: share,
      interval: interval95,
      isMarked: false,
      rate,
      text: `${visible(name)}: ${rate}, ${formatUsd(usd)}`,
      link: { to: "/runs/$id", params: { id }, search: { column: position }, resetScroll: false } as const,
    };
  });
  if (points.length < 2 || points.every((each) => each.x === 0)) return null;
  return (
    <ScatterPlot
      title="Pass rate by cost of the target"
      description={points.map((each) => each.text).join("; ")}
      fileName={`${id}-cost`}
      points={points}
      xAxis="cost per conversation"
      yAxis="pass rate"
      xFormat={formatUsd}
      yFormat={formatShare}
      yValues={WHOLE}
      size={SIZE}
      table={
        <table>
          <thead>
            <tr>
              <th scope="col">Target</th>
              <FigureHeader>Pass rate</FigureHeader>
              <FigureHeader>Cost per conversation</FigureHeader>
            </tr>
          </thead>
          <tbody>
            {points.map((each) => (
              <tr key={each.name}>
                <th scope="row">{visible(each.name)}</th>
                <td className="figure">{each.rate}</td>
                <td className="figure">{formatUsd(each.x)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      }
    />
  );
}
