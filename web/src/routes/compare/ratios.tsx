import { VERDICTS } from "../../lib/comparison";
import { formatCount, formatP, formatRatio, formatRatios, UNKNOWN, visible } from "../../lib/format";
import { figuresOfRatios, leftOutText, type Ratios as RatiosOfRow } from "../../lib/usage_ratios";
import { FigureHeader } from "../../ui/figure_header";
import page from "../../ui/page.module.css";
import { ScrollRegion } from "../../ui/scroll";

/** Shows the tested changes of costs and times of the target's calls, paired by scenario. */
export function Ratios({
  row,
  sides = ["Baseline", "Other run"],
}: {
  row: RatiosOfRow;
  sides?: readonly [string, string];
}) {
  const figures = figuresOfRatios(row);
  return (
    <>
      <ScrollRegion label="cost and time, paired by scenario">
        <table>
          <thead>
            <tr>
              <th scope="col">Paired by scenario</th>
              {["Scenarios", ...sides, "Change", "Interval", "p, adjusted"].map((each) => (
                <FigureHeader key={each}>{each}</FigureHeader>
              ))}
              <th scope="col">Verdict</th>
            </tr>
          </thead>
          <tbody>
            {figures.map(({ name, ratio, format }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td className="figure">{formatCount(ratio.scenarios)}</td>
                <td className="figure">{format(ratio.baseline)}</td>
                <td className="figure">{format(ratio.comparison)}</td>
                <td className="figure">{formatRatio(ratio.ratio)}</td>
                <td className="figure">{formatRatios(ratio.interval) || UNKNOWN}</td>
                <td className="figure">{formatP(ratio.adjustedP)}</td>
                <td>{ratio.verdict ? VERDICTS[ratio.verdict].join(" ") : UNKNOWN}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      {figures.map(({ name, ratio }) => {
        const leftOut = leftOutText(ratio.leftOut);
        return (
          <p key={name} className={page.note}>
            {visible(ratio.sentence)}
            {leftOut && ` Scenarios without a ratio: ${leftOut}.`}
          </p>
        );
      })}
    </>
  );
}
