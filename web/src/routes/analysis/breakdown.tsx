import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { breakdownQuery } from "../../api/analyses";
import type { Breakdown } from "../../api/types";
import { hasDecisions, hasVerdicts } from "../../lib/breakdown";
import {
  counted,
  formatCount,
  formatDecimal,
  formatInterval,
  formatShare,
  UNKNOWN,
  visible,
  withInterval,
} from "../../lib/format";
import { Share } from "../../ui/estimated";
import { FigureHeader } from "../../ui/figure_header";
import page from "../../ui/page.module.css";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import { Failure, Loading } from "../../ui/states";
import styles from "./analysis.module.css";

/** Shows figures by persona, dimension or metadata; nothing for a run whose cases have none of them in common. */
export function BreakdownSection({ id }: { id: string }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const { data: offered } = useQuery(breakdownQuery(id, null));
  const first = offered?.fields[0]?.name;
  if (offered === undefined || first === undefined) return null;
  const by = chosen ?? first;
  return (
    <Section title="By persona, dimension or metadata">
      <label className={page.bar}>
        Group by
        <select value={by} onChange={(event) => setChosen(event.target.value)}>
          {offered.fields.map((field) => (
            <option key={field.name} value={field.name}>
              {visible(field.name)} ({counted(field.values, "value")})
            </option>
          ))}
        </select>
      </label>
      <Groups id={id} by={by} />
    </Section>
  );
}

function Groups({ id, by }: { id: string; by: string }) {
  const query = useQuery(breakdownQuery(id, by));
  if (query.isError) {
    return <Failure error={query.error} what="These figures" retry={() => void query.refetch()} />;
  }
  if (query.data === undefined) return <Loading what="the figures" />;
  return <GroupsTable breakdown={query.data} />;
}

function GroupsTable({ breakdown: { by, groups, forPersonas } }: { breakdown: Breakdown }) {
  const [judged, decided] = [hasVerdicts(groups), hasDecisions(groups)];
  return (
    <>
      <ScrollRegion label={`figures by ${visible(by ?? "")}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">{visible(by ?? "")}</th>
              <th scope="col">Target</th>
              <FigureHeader>Scenarios</FigureHeader>
              <FigureHeader>Probes</FigureHeader>
              <FigureHeader>Errors</FigureHeader>
              {judged && <th scope="col">Pass rate (95% interval)</th>}
              {decided && <th scope="col">Mean decision (95% interval)</th>}
            </tr>
          </thead>
          <tbody>
            {groups.flatMap((group) =>
              group.columns.map(({ name, estimate }) => (
                <tr key={JSON.stringify([group.value, name])}>
                  <th scope="row" className={page.name}>
                    {group.value === null ? UNKNOWN : visible(group.value)}
                  </th>
                  <td>{visible(name)}</td>
                  <td className="figure">{formatCount(group.scenarios)}</td>
                  <td className="figure">{formatCount(estimate.completed + estimate.errored)}</td>
                  <td className="figure">{formatCount(estimate.errored)}</td>
                  {judged && (
                    <td>
                      <Share
                        value={estimate.passRate.share}
                        interval={estimate.passRate.interval95}
                        what="Pass rate"
                        n={estimate.passRate.trials}
                      />
                    </td>
                  )}
                  {decided && (
                    <td>
                      {withInterval(estimate.decision.mean, estimate.decision.interval95, formatDecimal)}
                    </td>
                  )}
                </tr>
              )),
            )}
          </tbody>
        </table>
      </ScrollRegion>
      {groups.some((group) => group.value === null) && (
        <p className={styles.note}>
          {UNKNOWN}: conversations without a value of {visible(by ?? "")}.
        </p>
      )}
      {forPersonas.map((column) => (
        <p key={column.name} className={styles.note}>
          {visible(column.name)}, for scenarios and personas like these: {likeThese(column)}.
        </p>
      ))}
    </>
  );
}

function likeThese(column: Breakdown["forPersonas"][number]): string {
  const figures = [
    ["pass rate", formatInterval(column.passRateInterval95, formatShare)],
    ["mean decision", formatInterval(column.decisionInterval95, formatDecimal)],
  ].filter(([, interval]) => interval);
  return (
    figures.map((each) => each.join(" ")).join(", ") ||
    "no interval, because too few have results, or all are equal"
  );
}
