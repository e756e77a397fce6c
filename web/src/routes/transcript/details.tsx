import { useQuery } from "@tanstack/react-query";
import { probeQuery } from "../../api/probes";
import type { Probe, Transcript } from "../../api/types";

import { formatCount, formatUsd, visible } from "../../lib/format";
import { useToggle } from "../../ui/fold";
import page from "../../ui/page.module.css";
import { PlainText } from "../../ui/plain_text";
import { Failure, Loading } from "../../ui/states";
import { Attempts } from "./error_view";
import styles from "./transcript.module.css";

/** Shows figures that few readers want; those of the probe alone are read once they are opened. */
export function Details({ transcript }: { transcript: Transcript }) {
  const [isOpen, toggle] = useToggle();
  const probe = useQuery({ ...probeQuery(transcript.id), enabled: isOpen });
  const content = transcript.content;
  return (
    <details className={styles.fold} onToggle={toggle}>
      <summary>Details</summary>
      <Pairs pairs={factsOf(transcript, probe.data?.value)} />
      {isOpen && probe.isPending && <Loading what="attempts and output" rows={2} />}
      {probe.isError && (
        <Failure error={probe.error} what="Attempts and output" retry={() => void probe.refetch()} />
      )}
      {probe.data && <Attempts probe={probe.data.value} />}
      {probe.data?.value.output && (
        <Fold title="Structured output" text={JSON.stringify(probe.data.value.output, null, 2)} />
      )}
      {content?.simulatedUserPrompt && (
        <Fold
          title="Simulated user’s prompt"
          text={content.simulatedUserPrompt}
          note="By it, a model wrote the user's messages, after those of the scenario."
        />
      )}
      {Object.keys(transcript.metadata).length > 0 && (
        <Fold title="Scenario metadata" text={JSON.stringify(transcript.metadata, null, 2)} />
      )}
    </details>
  );
}

export function Fold({ title, text, note }: { title: string; text: string; note?: string }) {
  return (
    <details className={styles.fold}>
      <summary>{title}</summary>
      {note && <p className={styles.note}>{note}</p>}
      <PlainText label={title} text={text} isCode />
    </details>
  );
}

function Pairs({ pairs }: { pairs: readonly (readonly [string, string])[] }) {
  return (
    <dl className={page.pairs}>
      {pairs.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{visible(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

const time = (text: string | null | undefined) => text && new Date(text).toLocaleString();
const listed = (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");

function factsOf(transcript: Transcript, probe: Probe | undefined): [string, string][] {
  const { usage } = transcript;
  const spends = [
    ["judges", transcript.judgeSpend],
    ["simulated user", transcript.personaSpend],
    ["decision", transcript.summarySpend],
    ["operations", transcript.operationSpend],
  ] as const;
  const further = spends
    .filter(([, spend]) => spend.calls > 0)
    .map(([name, spend]) => `${name} ${formatUsd(spend.costUsd)}`);
  const all: [string, string | null | undefined][] = [
    ["Model", [transcript.modelId, transcript.modelVersion].filter(Boolean).join(", version ")],
    ["Finish reason", transcript.finishReason],
    ["Stopped by Cupel", transcript.stopReason?.replaceAll("_", " ")],
    ["Tokens", `${formatCount(usage.inputTokens)} in, ${formatCount(usage.outputTokens)} out`],
    ["Cost", [`target ${formatUsd(transcript.costUsd)}`, ...further].join(", ")],
    ["Rounds of tools", transcript.toolRounds > 0 ? formatCount(transcript.toolRounds) : null],
    ["Parameters left out", transcript.omittedParameters.join(", ")],
    ["Variables", listed(transcript.variables)],
    ["Dimensions", listed(transcript.dimensions)],
    ["Thread of the agent", probe?.threadId],
    ["Started", time(probe?.startedAt)],
    ["Completed", time(probe?.completedAt)],
    ["Content until", time(transcript.contentExpiresAt)],
    ["Id", transcript.id],
  ];
  return all.flatMap(([name, value]) => (value ? [[name, value]] : []));
}
