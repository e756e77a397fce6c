import { Link } from "@tanstack/react-router";
import type { ColumnResults } from "../../api/types";
import { type Axis, columnName, decisionAxis, isSimulated } from "../../lib/estimates";
import { counted, formatCount, formatDecimal, formatMs, formatUsd, UNKNOWN, visible } from "../../lib/format";
import { accuracyText } from "../../lib/judge_accuracy";
import { type CostRole, costOf, roleCostName, rolesOf } from "../../lib/role_costs";
import { Distribution } from "../../ui/bars";
import { Estimated, Share } from "../../ui/estimated";
import { FigureHeader } from "../../ui/figure_header";
import styles from "./summary.module.css";

/** Shows the figures of each target. The name of a target leads to its answers in the table below. */
export function TargetTable({ id, columns }: { id: string; columns: readonly ColumnResults[] }) {
  const axis = decisionAxis(columns);
  const roles = rolesOf(columns);
  const hasRates = columns.some((column) => column.estimate.passRate.trials > 0);
  const isLabelled = columns.some((column) => column.judgeAccuracy);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={styles.scroll} aria-label="Results by target" tabIndex={0}>
      <table className={styles.results}>
        <thead>
          <tr>
            <th scope="col">Target</th>
            <FigureHeader>Completed</FigureHeader>
            {hasRates && <th scope="col">Pass rate (95% interval)</th>}
            {isLabelled && <th scope="col">Corrected by labels</th>}
            {axis && (
              <th scope="col" className={styles.wraps}>
                Mean decision (95% interval), {axis.min} to {axis.max}
              </th>
            )}
            {axis && <th scope="col">Decisions</th>}
            <FigureHeader className={styles.wraps}>Time p50</FigureHeader>
            <FigureHeader className={styles.wraps}>Time p95</FigureHeader>
            <FigureHeader>Tokens</FigureHeader>
            {roles.map((role) => (
              <FigureHeader key={role}>{roles.length === 1 ? "Cost" : roleCostName(role)}</FigureHeader>
            ))}
          </tr>
        </thead>
        <tbody>
          {columns.map((column, position) => (
            <TargetRow
              key={`${column.targetId} ${column.promptId}`}
              id={id}
              position={position}
              column={column}
              axis={axis}
              hasRates={hasRates}
              isLabelled={isLabelled}
              roles={roles}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface RowProps {
  id: string;
  position: number;
  column: ColumnResults;
  axis: Axis | null;
  hasRates: boolean;
  isLabelled: boolean;
  roles: readonly CostRole[];
}

function TargetRow({ id, position, column, axis, hasRates, isLabelled, roles }: RowProps) {
  const { estimate, operations } = column;
  return (
    <tr>
      <th scope="row" className={styles.rowName}>
        <Link to="/runs/$id" params={{ id }} search={{ column: position }} resetScroll={false}>
          {visible(columnName(column))}
        </Link>
        {isSimulated(column.modelId) && <small>simulated</small>}
      </th>
      <td className="figure">
        {formatCount(estimate.completed)} of {formatCount(column.probes)}
        {estimate.errored > 0 && (
          <small className={styles.errored}>{counted(estimate.errored, "error")}</small>
        )}
      </td>
      {hasRates && (
        <td>
          <Share
            value={estimate.passRate.share}
            interval={estimate.passRate.interval95}
            n={estimate.passRate.trials}
            what="Pass rate"
          />
        </td>
      )}
      {isLabelled && (
        <td>
          <CorrectedRate column={column} />
        </td>
      )}
      {axis && (
        <td>
          <Estimated
            value={estimate.decision.mean}
            interval={estimate.decision.interval95}
            axis={axis}
            format={formatDecimal}
            n={estimate.decision.answers}
            what="Mean decision"
          />
        </td>
      )}
      {axis && (
        <td>
          <Distribution
            shares={estimate.distribution.map((each) => ({ code: each.code, share: each.estimate.share }))}
          />
        </td>
      )}
      <td className="figure">{formatMs(operations.durationMs?.p50)}</td>
      <td className="figure">{formatMs(operations.durationMs?.p95)}</td>
      <td className="figure">{formatCount(column.tokens)}</td>
      {roles.map((role) => (
        <td key={role} className="figure">
          {formatUsd(costOf(column, role))}
        </td>
      ))}
    </tr>
  );
}

function CorrectedRate({ column }: { column: ColumnResults }) {
  const { correctedPassRate: corrected, judgeAccuracy } = column;
  if (!corrected || !judgeAccuracy) return <>{UNKNOWN}</>;
  return (
    <>
      <Share
        value={corrected.rate}
        interval={corrected.interval95}
        n={judgeAccuracy.labels}
        what="Corrected pass rate"
      />
      <small>{accuracyText(judgeAccuracy)}</small>
    </>
  );
}
