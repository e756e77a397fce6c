import type { Probe } from "../../api/types";

import { costText, counted, visible } from "../../lib/format";
import { Ago } from "../../ui/time";
import styles from "./transcript.module.css";

type ProbeError = NonNullable<Probe["error"]>;

export function ErrorView({ error }: { error: ProbeError }) {
  return (
    <>
      <p className={styles.errorLine}>
        <strong>
          ! <code>{error.code}</code>
        </strong>{" "}
        {visible(error.message)}
      </p>
      <p className={styles.note}>
        {counted(error.attempts, "call")}
        {error.totalSpend.calls > 0 && `, ${costText(error.totalSpend.costUsd)}`},{" "}
        <Ago time={error.createdAt} />
      </p>
    </>
  );
}

export function Attempts({ probe }: { probe: Probe }) {
  if (probe.attempts.length === 0) return null;
  return (
    <section aria-label="Earlier attempts">
      <h3 className={styles.subhead}>{counted(probe.attempts.length, "earlier attempt")}, before retries</h3>
      <ol className={styles.attempts}>
        {probe.attempts.map((each) => (
          <li key={each.createdAt}>
            <ErrorView error={each} />
          </li>
        ))}
      </ol>
    </section>
  );
}
