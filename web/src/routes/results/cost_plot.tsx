import { Link } from "@tanstack/react-router";
import type { ColumnResults } from "../../api/types";
import { shortened } from "../../charts/names";
import { linearScale } from "../../charts/scale";
import { columnName } from "../../lib/estimates";
import { formatInterval, formatShare, formatUsd, visible } from "../../lib/format";
import { costOf } from "../../lib/role_costs";
import styles from "./answers.module.css";

const [WIDTH, HEIGHT] = [420, 200];
const BOX = { left: 52, right: WIDTH - 16, top: 12, bottom: HEIGHT - 36 };
const TEXT_PX = 14;
const SHARES = [0, 0.5, 1];

/** Shows the pass rate of each target by what its calls cost per conversation. A name leads to the answers of the target. */
export function CostPlot({ id, columns }: { id: string; columns: readonly ColumnResults[] }) {
  const points = columns.flatMap((column, position) => {
    const { share, interval95, trials } = column.estimate.passRate;
    const cost = costOf(column, "target");
    const conversations = column.estimate.completed + column.estimate.errored;
    if (share === null || trials === 0 || cost === null || conversations === 0) return [];
    return [{ position, column, share, interval: interval95, usd: cost / conversations }];
  });
  if (points.length < 2 || points.every((each) => each.usd === 0)) return null;
  const x = linearScale([0, ...points.map((each) => each.usd)], BOX.left, BOX.right);
  const y = linearScale([0, 1], BOX.bottom, BOX.top);
  const labelAt = apart(points.map((each) => y.at(each.share)));
  return (
    <div>
      <h2 id="costs">Pass rate by cost</h2>
      <svg className={styles.plot} width={WIDTH} height={HEIGHT}>
        <title>Pass rate by cost</title>
        {SHARES.map((share) => (
          <g key={share}>
            <line x1={BOX.left} x2={BOX.right} y1={y.at(share)} y2={y.at(share)} />
            <text x={BOX.left - 6} y={y.at(share)} textAnchor="end" dominantBaseline="central">
              {formatShare(share)}
            </text>
          </g>
        ))}
        <text x={BOX.left} y={HEIGHT - 18} textAnchor="middle">
          $0
        </text>
        <text x={BOX.right} y={HEIGHT - 18} textAnchor="end">
          {formatUsd(Number(Math.max(...points.map((each) => each.usd)).toPrecision(2)))}
        </text>
        <text x={(BOX.left + BOX.right) / 2} y={HEIGHT - 4} textAnchor="middle">
          cost of the target per conversation
        </text>
        {points.map(({ position, column, share, interval, usd }, at) => {
          const [low, high] = interval ?? [share, share];
          const isRight = x.at(usd) > (BOX.left + BOX.right) / 2;
          const bounds = formatInterval(interval, formatShare);
          const words = `${visible(columnName(column))}: ${formatShare(share)}${bounds && ` (${bounds})`}, ${formatUsd(usd)}`;
          return (
            <Link
              key={`${column.targetId} ${column.promptId}`}
              to="/runs/$id"
              params={{ id }}
              search={{ column: position }}
              resetScroll={false}
              aria-label={words}
            >
              <title>{words}</title>
              <line
                className={styles.whisker}
                x1={x.at(usd)}
                x2={x.at(usd)}
                y1={y.at(low ?? share)}
                y2={y.at(high ?? share)}
              />
              <circle cx={x.at(usd)} cy={y.at(share)} r={5} />
              <text
                x={x.at(usd) + (isRight ? -9 : 9)}
                y={labelAt[at]}
                textAnchor={isRight ? "end" : "start"}
                dominantBaseline="central"
              >
                {shortened(columnName(column))}
              </text>
            </Link>
          );
        })}
      </svg>
    </div>
  );
}

/** Moves heights of texts down until none covers another one. */
function apart(heights: readonly number[]): number[] {
  const moved = [...heights];
  const order = moved.map((_, at) => at).sort((one, other) => (heights[one] ?? 0) - (heights[other] ?? 0));
  let least = Number.NEGATIVE_INFINITY;
  for (const at of order) {
    moved[at] = Math.max(moved[at] ?? 0, least);
    least = (moved[at] ?? 0) + TEXT_PX;
  }
  return moved;
}
