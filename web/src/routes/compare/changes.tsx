import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { scenarioChangesQuery } from "../../api/comparisons";
import type { Change, Comparison } from "../../api/types";
import { formatDifference, formatLevel, type Metric } from "../../lib/comparison";
import { formatP, visible } from "../../lib/format";
import { FigureHeader } from "../../ui/figure_header";
import { More } from "../../ui/more";
import { ScrollRegion } from "../../ui/scroll";
import { Failure, Loading } from "../../ui/states";
import styles from "./compare.module.css";

const route = getRouteApi("/compare");

interface Props {
  comparison: Comparison;
  metric: Metric;
  row: number;
  /** It opens both conversations of a scenario; it is undefined where the runs have other scenarios. */
  open: ((scenarioId: string) => void) | undefined;
}

/** Lists the scenarios of a pair, most changed first, each with its cells in both runs. */
export function Changes({ comparison, metric, row, open }: Props) {
  const { only } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(scenarioChangesQuery(comparison.id, row, only));
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  const total = only === undefined ? comparison.figures?.commonScenarios : undefined;
  return (
    <>
      <label className={styles.pair}>
        Scenarios
        <select
          value={only ?? ""}
          onChange={(event) => {
            const chosen = (event.target.value || undefined) as Change | undefined;
            void navigate({ search: (old) => ({ ...old, only: chosen }) });
          }}
        >
          <option value="">all, the largest differences first</option>
          <option value="increased">higher than in the baseline</option>
          <option value="decreased">lower than in the baseline</option>
          <option value="unchanged">unchanged</option>
        </select>
      </label>
      {query.isPending && <Loading what="scenarios" />}
      {query.isError && <Failure error={query.error} what="Scenarios" retry={() => void query.refetch()} />}
      {query.isSuccess && items.length === 0 && <p className={styles.note}>None.</p>}
      {items.length > 0 && (
        <ScrollRegion label="scenarios">
          <table>
            <thead>
              <tr>
                <th scope="col">Scenario</th>
                {["Baseline", "Other run", "Difference", "p", "q"].map((each) => (
                  <FigureHeader key={each}>{each}</FigureHeader>
                ))}
                <th scope="col">Conversations</th>
              </tr>
            </thead>
            <tbody>
              {items.map((each) => (
                <tr key={each.scenarioId}>
                  <th scope="row" className={styles.rowName}>
                    {visible(each.scenarioName)}
                  </th>
                  <td className="figure">{formatLevel(metric, each.baseline)}</td>
                  <td className="figure">{formatLevel(metric, each.comparison)}</td>
                  <td className="figure">{formatDifference(metric, each.difference)}</td>
                  <td className="figure">{each.p === null ? "" : formatP(each.p)}</td>
                  <td className="figure">{each.q === null ? "" : formatP(each.q)}</td>
                  <td className={styles.links}>
                    {open && (
                      <button type="button" onClick={() => open(each.scenarioId)}>
                        both
                        <span className="hidden-text"> conversations: {visible(each.scenarioName)}</span>
                      </button>
                    )}
                    <Cells
                      run={comparison.baseline.runId}
                      scenario={each.scenarioId}
                      name={each.scenarioName}
                    >
                      baseline
                    </Cells>
                    <Cells
                      run={comparison.comparison.runId}
                      scenario={each.scenarioId}
                      name={each.scenarioName}
                    >
                      other run
                    </Cells>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
      {items.length > 0 && <More query={query} shown={items.length} total={total} noun="scenario" />}
    </>
  );
}

interface CellsProps {
  run: string;
  scenario: string;
  name: string;
  children: string;
}

/** Shows the scenario's row in the matrix of a run. */
function Cells({ run, scenario, name, children }: CellsProps) {
  return (
    <Link to="/runs/$id" params={{ id: run }} search={{ q: scenario }}>
      {children}
      <span className="hidden-text">: {visible(name)}</span>
    </Link>
  );
}
