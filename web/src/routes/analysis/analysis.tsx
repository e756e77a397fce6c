import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ApiError } from "../api/client";
import { type Analysis, analysisQuery } from "../api/queries";
import { counted, formatInterval, UNKNOWN, visible } from "../lib/format";
import { FigureHeader } from "../ui/figure_header";
import { Empty, Failure, Loading } from "../ui/states";
import styles from "./analysis.module.css";

const route = getRouteApi("/runs/$id");
type Figures = NonNullable<Analysis["figures"]>;

export function AnalysisPage() {
  const { id } = route.useParams();
  const query = useQuery(analysisQuery(id));
  if (query.isPending) return <Loading what="the analysis" />;
  if (query.error instanceof ApiError && query.error.status === 404) {
    return (
      <Empty title="No analysis yet">
        <p>
          It is made when the run completes; <code>cupel analyze</code> makes one of any run.
        </p>
      </Empty>
    );
  }
  if (query.data === undefined) {
    return <Failure error={query.error} what="Analysis" retry={() => void query.refetch()} />;
  }
  const { figures, failure, isStale, staleReason } = query.data;
  if (!figures) {
    return (
      <Empty title={failure ? "The analysis failed" : "No analysis yet"}>
        <p>{failure ? visible(`${failure.where}: ${failure.why}`) : "It is made when the run completes."}</p>
      </Empty>
    );
  }
  return (
    <>
      {isStale && (
        <p role="status" className={styles.note}>
          Out of date:{" "}
          {staleReason === "inputs" ? "outcomes have changed since" : "it was made by an older version"}.
        </p>
      )}
      <Findings figures={figures} />
      <AgreementSection figures={figures} />
      <Contested figures={figures} />
    </>
  );
}

function Findings({ figures }: { figures: Figures }) {
  return (
    <section className={styles.section} aria-labelledby="findings">
      <h2 id="findings">Findings</h2>
      {figures.insights.length === 0 && <p className={styles.note}>None that the figures support.</p>}
      <ul className={styles.list}>
        {figures.insights.map((insight) => (
          <li key={insight.text}>{visible(insight.text)}</li>
        ))}
      </ul>
      {figures.cautions.length > 0 && (
        <>
          <h3>Cautions</h3>
          <ul className={styles.list}>
            {figures.cautions.map((caution) => (
              <li key={`${caution.code} ${caution.text}`}>{visible(caution.text)}</li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

const figure = (value: number | null | undefined) =>
  value === null || value === undefined ? UNKNOWN : value.toFixed(2);

/** Pairwise agreement, with the value in each cell: its color only repeats it. */
function AgreementSection({ figures }: { figures: Figures }) {
  const { agreement, columns } = figures;
  if (!agreement || columns.length < 2) {
    return (
      <section className={styles.section} aria-labelledby="agreement">
        <h2 id="agreement">Agreement between targets</h2>
        <p className={styles.note}>It needs two targets with decisions on the same scenarios.</p>
      </section>
    );
  }
  const between = (one: number, other: number) =>
    agreement.pairs.find(
      (pair) => pair.first === Math.min(one, other) && pair.second === Math.max(one, other),
    );
  return (
    <section className={styles.section} aria-labelledby="agreement">
      <h2 id="agreement">Agreement between targets</h2>
      <p>
        Krippendorff's α {figure(agreement.alpha)}{" "}
        {agreement.interval95 && `(95% interval ${formatInterval(agreement.interval95, figure)})`} over{" "}
        {counted(agreement.scenarios, "scenario")}
        {agreement.level && `: ${agreement.level}`}.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={styles.scroll} aria-label="Cohen's kappa by pair" tabIndex={0}>
        <table className={styles.heatmap}>
          <caption>Cohen's κ of each pair, weighted by distance</caption>
          <thead>
            <tr>
              <td />
              {columns.map((column) => (
                <th key={column.name} scope="col">
                  {visible(column.name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {columns.map((row, first) => (
              <tr key={row.name}>
                <th scope="row">{visible(row.name)}</th>
                {columns.map((column, second) => {
                  const kappa = first === second ? null : between(first, second)?.kappa;
                  return (
                    <td key={column.name} className="figure" data-level={level(kappa)}>
                      {first === second ? "–" : figure(kappa)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

/** From -2, clear disagreement, to 3, near perfect agreement. */
function level(kappa: number | null | undefined): number | undefined {
  if (kappa === null || kappa === undefined) return undefined;
  if (kappa < 0) return kappa < -0.3 ? -2 : -1;
  return Math.min(3, Math.floor(kappa * 4));
}

function Contested({ figures }: { figures: Figures }) {
  if (figures.contested.length === 0) return null;
  return (
    <section className={styles.section} aria-labelledby="contested">
      <h2 id="contested">Contested scenarios</h2>
      <p className={styles.note}>Where the targets differ most.</p>
      <table className={styles.contested}>
        <thead>
          <tr>
            <th scope="col">Scenario</th>
            <FigureHeader>Variance</FigureHeader>
            <FigureHeader>Range</FigureHeader>
          </tr>
        </thead>
        <tbody>
          {figures.contested.map((each) => (
            <tr key={each.scenarioId}>
              <td>{visible(each.scenarioName)}</td>
              <td className="figure">{figure(each.variance)}</td>
              <td className="figure">{figure(each.range)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
