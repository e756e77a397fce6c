import { useContext } from "react";
import type { Progress } from "../../api/types";
import { alertsOf } from "../../lib/alerts";
import { delayText, splitDelays } from "../../lib/delays";
import { columnName, etaText } from "../../lib/estimates";
import { formatCount, formatSeconds, formatUsd, visible } from "../../lib/format";
import { ProgressBar } from "../../ui/bars";
import { Ago } from "../../ui/time";
import { FollowedEvents } from "../followed_events";
import styles from "./summary.module.css";

const MAX_ALERTS = 3;

export function ProgressSection({ progress }: { progress: Progress }) {
  const { ofRun, ofTargets } = splitDelays(progress.targets);
  const isPaused = progress.status === "PAUSED";
  return (
    <section className={styles.section} aria-labelledby="progress">
      <h2 id="progress">Progress</h2>
      <div className={styles.progress}>
        {ofTargets.map(({ target, delays }) => {
          const eta = etaText(target, formatSeconds);
          const key = `${target.targetId} ${target.promptId}`;
          return (
            <div key={key} className={styles.target}>
              <span className={styles.targetName}>{visible(columnName(target))}</span>
              <ProgressBar
                total={target.total}
                completed={target.completed}
                errored={target.errored}
                running={target.running}
              />
              <span className={styles.counts}>
                {formatCount(target.completed)} of {formatCount(target.total)}
                {target.errored > 0 && `, ${formatCount(target.errored)} errored`}
                {target.running > 0 && `, ${formatCount(target.running)} running`}
                {eta && <span>, {eta}</span>}
              </span>
              {delays.map((delay) => (
                <DelayNote key={`${delay.reason} ${delay.provider} ${delay.model}`} delay={delay} />
              ))}
            </div>
          );
        })}
      </div>
      {ofRun && <DelayNote delay={ofRun} />}
      <Alerts />
      <p className={styles.note}>
        <Spent spend={progress.spend} />{" "}
        {isPaused ? "No call starts until the run is resumed." : "The run goes on without this page."}
      </p>
    </section>
  );
}

function DelayNote({ delay }: { delay: Progress["targets"][number]["delays"][number] }) {
  return (
    <span role="status" className={styles.delay}>
      ‖ {visible(delayText(delay, (until) => new Date(until).toLocaleTimeString()))}
    </span>
  );
}

/** Shows the spending over time, against the estimate of the start. */
function Spent({ spend }: { spend: Progress["spend"] }) {
  const { costUsd, pricedUsd, estimatedUsd: estimated, asOf } = spend;
  const unpriced = costUsd === null && " for what has a price";
  return (
    <>
      {formatUsd(costUsd ?? pricedUsd)} spent{unpriced}
      {asOf && <> by {new Date(asOf).toLocaleTimeString()}</>}
      {estimated &&
        estimated.expected > 0 &&
        `, of an expected ${formatUsd(estimated.expected)} (${formatUsd(estimated.low)} to ${formatUsd(estimated.high)})`}
      .
    </>
  );
}

/** Shows events of the run inline and with their times, so that nothing covers anything. */
function Alerts() {
  const alerts = alertsOf(useContext(FollowedEvents), MAX_ALERTS);
  return (
    <div role="status">
      {alerts.map((alert) => (
        <p key={alert.seq} className={styles.alert}>
          <Ago time={alert.ts} />: {alert.text}
        </p>
      ))}
    </div>
  );
}
