import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { runQuery } from "../api/queries";
import { useCanWrite } from "../api/role";
import type { Run } from "../api/types";
import { formatSeconds, visible } from "../lib/format";
import page from "../ui/page.module.css";
import { PlainText } from "../ui/plain_text";
import { ScrollRegion } from "../ui/scroll";
import { Section } from "../ui/section";
import { Loading } from "../ui/states";
import { RunAgain } from "./run_actions/run_again";

const route = getRouteApi("/runs/$id/settings");

/** Shows the settings of a run, and starts it again. */
export function RunSettings() {
  const { id } = route.useParams();
  const canWrite = useCanWrite();
  const { data: run } = useQuery(runQuery(id));
  if (!run) return <Loading what="the settings" />;
  const { definitionSnapshot } = run.config;
  return (
    <div className={page.sections}>
      <Section title="Settings">
        <dl className={page.pairs}>
          {settingsOf(run).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{visible(value)}</dd>
            </div>
          ))}
        </dl>
        {run.rerunOf && (
          <p className={page.below}>
            It repeats{" "}
            <Link to="/runs/$id" params={{ id: run.rerunOf }}>
              another run
            </Link>
            .
          </p>
        )}
        {canWrite && <Repeat run={run} />}
      </Section>
      <Section title="Targets">
        <ScrollRegion label="targets">
          <table>
            <thead>
              <tr>
                <th scope="col">Target</th>
                <th scope="col">Model or agent</th>
                <th scope="col">Own parameters</th>
              </tr>
            </thead>
            <tbody>
              {run.config.targets.map((target) => (
                <tr key={target.id}>
                  <th scope="row" className={page.name}>
                    {visible(target.id)}
                  </th>
                  <td className={page.cell}>
                    {visible(target.model ?? target.agentName ?? target.connectorId ?? "")}
                  </td>
                  <td className={page.cell}>
                    {Object.keys(target.params).length > 0 ? visible(JSON.stringify(target.params)) : "none"}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      </Section>
      {definitionSnapshot && (
        <Section title="Definition snapshot">
          <PlainText
            label="Content of the definition"
            text={JSON.stringify(definitionSnapshot, null, 2)}
            isCode
          />
        </Section>
      )}
    </div>
  );
}

function settingsOf({ config, priority, startedBy }: Run): [string, string][] {
  const all: [string, string | number | null | undefined][] = [
    ["Sample", `${config.samplePercentage}%, seed ${config.sampleSeed}`],
    ["Prompts", config.promptIds.join(", ") || null],
    ["Repeats", config.repeats],
    ["Maximum turns", config.maxTurns],
    ["Parameters", Object.keys(config.params).length > 0 ? JSON.stringify(config.params) : null],
    ["Attempts per call", config.maxAttempts],
    [
      "Longest wait before the second",
      config.retryDelaySeconds === null ? null : formatSeconds(config.retryDelaySeconds),
    ],
    ["Concurrency", config.maxConcurrency],
    ["Judge", config.judgeModel],
    ["Simulated users", config.personaModel],
    ["Embeddings", config.embeddingModel],
    ["Summaries of reports", config.summarizerModel],
    ["External evaluator", config.evaluatorUrl],
    ["Operation profile", config.profileId && `${config.profileId}, version ${config.profileVersion}`],
    ["Prices", config.priceList],
    ["Priority", priority.toLowerCase()],
    ["Started by", `${startedBy.type} ${startedBy.name ?? startedBy.id}`],
  ];
  return all.flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, String(value)]],
  );
}

function Repeat({ run }: { run: Run }) {
  const [isAsking, ask] = useState(false);
  return (
    <div className={page.below}>
      <button type="button" onClick={() => ask(true)}>
        Run it again…
      </button>
      {isAsking && <RunAgain run={run} close={() => ask(false)} />}
    </div>
  );
}
