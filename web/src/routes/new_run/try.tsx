import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, read } from "../../api/client";
import { CreateScaleRun } from "../../api/limits";
import { useModels } from "../../api/models";
import { scaleRunEstimateQuery } from "../../api/queries";
import { connectorNamesQuery } from "../../api/resources";
import { useCanWrite } from "../../api/role";
import type { Schemas } from "../../api/types";
import { inOrder } from "../../lib/model_choice";
import { useKept } from "../../ui/kept";
import { Failure, Loading, RoleTooLow } from "../../ui/states";
import { TextField } from "../../ui/text_field";
import { Choices } from "./choices";
import { EstimateCard, useEstimate } from "./estimate";
import { Models } from "./models";
import styles from "./new_run.module.css";
import { NewRunTabs } from "./new_run_tabs";
import { Start } from "./start";

type ScaleRun = Schemas["CreateScaleRun"];
/** Only refusals are checked, which calls no judge. */
const EVALUATORS = { goal: false, format: false, toxicity: false, external: null };

/** Sends one message to several models or agents, and shows their answers beside each other. */
export function TryPrompt() {
  const canWrite = useCanWrite();
  const models = useModels();
  return (
    <>
      <title>Try a prompt · Cupel</title>
      <h1>Try a prompt</h1>
      <NewRunTabs />
      {models.isPending && <Loading what="models" />}
      {models.isError && <Failure error={models.error} what="Models" retry={() => void models.refetch()} />}
      {models.data &&
        (canWrite ? (
          <Form models={models.data} />
        ) : (
          <RoleTooLow detail="Starting a run needs the role member or admin." />
        ))}
    </>
  );
}

const FORM = "try";

function Form({ models }: { models: readonly Schemas["Model"][] }) {
  const navigate = useNavigate();
  const [selected, select] = useKept<readonly string[]>(FORM, "selected", []);
  const [agents, setAgents] = useKept<readonly string[]>(FORM, "agents", []);
  const [system, setSystem] = useKept(FORM, "system", "");
  const [message, setMessage] = useKept(FORM, "message", "");
  // A connector of the type "tools" executes calls of tools; it answers nobody.
  const connectors = useQuery(connectorNamesQuery).data?.filter((each) => each.type !== "tools") ?? [];
  const missing =
    selected.length + agents.length === 0
      ? "Choose at least one model or agent."
      : message.trim() === "" && "Write a message.";
  const body: ScaleRun | null = missing
    ? null
    : ({
        name: "Tried prompt",
        models: [...selected, ...agents.map((id) => `connector/${id}`)],
        systemPrompt: system || null,
        userMessage: message,
        count: 1,
        maxTurns: 1,
        evaluators: EVALUATORS,
        report: false,
      } as ScaleRun);
  const estimate = useEstimate(body, scaleRunEstimateQuery);
  const send = (input: ScaleRun, key: string) =>
    read(api.POST("/v1/scale-runs", { body: input, params: { header: { "Idempotency-Key": key } } }));
  return (
    <div className={styles.form}>
      <div className={styles.fields}>
        <Models models={inOrder(models)} selected={selected} select={select} />
        <Choices
          label="Agents"
          legend={`Agents: ${agents.length} chosen`}
          items={connectors}
          chosen={agents}
          choose={setAgents}
        />
        <TextField
          label="System prompt (optional)"
          id="system"
          rows={6}
          maxLength={CreateScaleRun.systemPrompt.maxLength}
          value={system}
          onChange={setSystem}
        />
        <TextField
          label="Message"
          id="message"
          rows={4}
          maxLength={CreateScaleRun.userMessage.maxLength}
          value={message}
          onChange={setMessage}
        />
      </div>
      <aside className={styles.card} aria-label="Estimate">
        {missing ? <p>{missing}</p> : <EstimateCard estimate={estimate} budget={null} />}
        <Start
          form={FORM}
          body={body}
          budget={null}
          estimate={estimate.isStale ? undefined : estimate.data}
          send={send}
          show={(id) => navigate({ to: "/runs/$id", params: { id }, search: { t: 0, beside: true } })}
        />
      </aside>
    </div>
  );
}
