import type { Figures } from "../../api/types";
import { visible } from "../../lib/format";
import { rankingOf } from "../../lib/ranking";
import { Estimated } from "../../ui/estimated";
import page from "../../ui/page.module.css";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import styles from "./analysis.module.css";

/** Draws the compared figure of each target with its interval, from the highest to the lowest. */
export function RankingSection({ figures }: { figures: Figures }) {
  const found = rankingOf(figures);
  if (found === null) return null;
  const { what, axis, format, ranks } = found;
  return (
    <Section title={`${what} by target`}>
      <ScrollRegion label={`${what} by target`}>
        <table className={styles.ranking}>
          <thead>
            <tr>
              <th scope="col">Target</th>
              <th scope="col">
                {what} with its 95% interval, {format(axis.min)} to {format(axis.max)}
              </th>
            </tr>
          </thead>
          <tbody>
            {ranks.map((rank) => (
              <tr key={rank.name}>
                <th scope="row" className={page.name}>
                  {visible(rank.name)}
                </th>
                <td>
                  <Estimated {...rank} axis={axis} format={format} what={what} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </Section>
  );
}
