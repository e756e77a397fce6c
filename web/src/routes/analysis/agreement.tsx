import type { Figures } from "../../api/types";

import { Heatmap } from "../../charts/heatmap";
import { counted, formatDecimal, formatInterval, visible } from "../../lib/format";
import { FigureHeader } from "../../ui/figure_header";
import { Section } from "../../ui/section";
import styles from "./analysis.module.css";

/** The pairs of so many targets are still legible as squares. */
const MAX_DRAWN = 20;

export function Agreement({ figures }: { figures: Figures }) {
  const { agreement, columns } = figures;
  if (!agreement || columns.length < 2) {
    return (
      <Section title="Agreement between targets">
        <p className={styles.note}>It needs two targets with decisions on the same scenarios.</p>
      </Section>
    );
  }
  const names = columns.map((each) => each.name);
  const kappaOf = (one: number, other: number) =>
    agreement.pairs.find(
      (pair) => pair.first === Math.min(one, other) && pair.second === Math.max(one, other),
    )?.kappa;
  const pairs = agreement.pairs.map((each) => ({
    ...each,
    names: [names[each.first] ?? "", names[each.second] ?? ""] as const,
  }));
  const table = (
    <table>
      <thead>
        <tr>
          <th scope="col">Target</th>
          <th scope="col">Target</th>
          <FigureHeader>κ</FigureHeader>
        </tr>
      </thead>
      <tbody>
        {pairs.map((each) => (
          <tr key={each.names.join(" ")}>
            <th scope="row">{visible(each.names[0])}</th>
            <td>{visible(each.names[1])}</td>
            <td className="figure">{formatDecimal(each.kappa)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
  return (
    <Section title="Agreement between targets">
      <p>
        Krippendorff's α {formatDecimal(agreement.alpha)}{" "}
        {agreement.interval95 && `(95% interval ${formatInterval(agreement.interval95, formatDecimal)})`} over{" "}
        {counted(agreement.scenarios, "scenario")}
        {agreement.level && `: ${agreement.level}`}.
      </p>
      {names.length > MAX_DRAWN ? (
        table
      ) : (
        <Heatmap
          title="Cohen's κ of each pair, weighted by distance"
          description={pairs
            .map(
              (each) =>
                `${visible(each.names[0])} and ${visible(each.names[1])}: ${formatDecimal(each.kappa)}`,
            )
            .join("; ")}
          fileName="agreement"
          names={names}
          valueAt={kappaOf}
          format={formatDecimal}
          table={table}
        />
      )}
    </Section>
  );
}
