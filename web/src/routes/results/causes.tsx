import { Link } from "@tanstack/react-router";
import type { Results } from "../../api/types";
import { helpOf } from "../../lib/error_help";
import { boundsText, columnName } from "../../lib/estimates";
import { formatCount, visible } from "../../lib/format";
import { causeOf, helpOfUnscored } from "../../lib/unscored";
import { FigureHeader } from "../../ui/figure_header";
import styles from "./summary.module.css";

interface Cause {
  readonly column: Results["columns"][number];
  readonly name: string;
  readonly count: number;
  readonly example: string | null | undefined;
  readonly probeIndex: number | null;
  readonly help: string;
}

/** Shows causes by target, each with an example and a remedy. */
function CausesTable({ id, label, causes }: { id: string; label: string; causes: readonly Cause[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={styles.scroll} aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Target</th>
            <th scope="col">Cause</th>
            <FigureHeader>Conversations</FigureHeader>
            <th scope="col">Example</th>
            <th scope="col">What to do</th>
          </tr>
        </thead>
        <tbody>
          {causes.map(({ column, name, count, example, probeIndex, help }) => (
            <tr key={`${column.targetId} ${column.promptId} ${name}`}>
              <td className={styles.rowName}>{visible(columnName(column))}</td>
              <td>
                <code>{visible(name)}</code>
              </td>
              <td className="figure">{formatCount(count)}</td>
              <td className={styles.example}>
                {example ? `${visible(example)}, ` : ""}
                {probeIndex !== null && (
                  <Link to="/runs/$id" params={{ id }} search={{ t: probeIndex }} resetScroll={false}>
                    conversation {probeIndex}
                  </Link>
                )}
              </td>
              <td className={styles.example}>{help}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export function ErrorsSection({ id, results }: { id: string; results: Results }) {
  const causes = results.columns.flatMap((column) =>
    column.errors.map(({ code, count, example, probeIndex }) => ({
      column,
      name: code,
      count,
      example,
      probeIndex,
      help: helpOf(code),
    })),
  );
  if (causes.length === 0) return null;
  return (
    <section className={styles.section} aria-labelledby="errors">
      <h2 id="errors">Infrastructure errors</h2>
      <p className={styles.note}>These are not failures of a model: no result counts them.</p>
      {results.columns
        .flatMap((column) => boundsText(column) ?? [])
        .map((text) => (
          <p key={text} className={styles.note}>
            {visible(text)}
          </p>
        ))}
      <CausesTable id={id} label="Errors by target and cause" causes={causes} />
    </section>
  );
}

/** A rescore scores those conversations whose judge gave no verdict. */
export function UnscoredSection({ id, results }: { id: string; results: Results }) {
  const causes = results.columns.flatMap((column) =>
    column.unscoredReasons.map((reason) => ({
      column,
      name: causeOf(reason),
      count: reason.count,
      example: reason.example,
      probeIndex: reason.probeIndex,
      help: helpOfUnscored(reason.code),
    })),
  );
  if (causes.length === 0) return null;
  return (
    <section className={styles.section} aria-labelledby="unscored">
      <h2 id="unscored">Not scored</h2>
      <p className={styles.note}>
        The answers are here, but a check could not be computed: they count neither as passed nor as failed.
      </p>
      <CausesTable id={id} label="Not scored, by target and cause" causes={causes} />
    </section>
  );
}
