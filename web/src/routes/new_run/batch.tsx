import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read, type Schemas } from "../../api/client";
import { batchEstimateQuery, modelsQuery } from "../../api/queries";
import { personaNamesQuery } from "../../api/resources";
import { useCanWrite } from "../../api/role";
import { parseBudget } from "../../lib/budget";
import { visible } from "../../lib/format";
import { parseWhole } from "../../lib/forms";
import { Field } from "../../ui/field";
import { ModelField } from "../../ui/model_field";
import { Empty, Failure, Loading } from "../../ui/states";
import { TextField } from "../../ui/text_field";
import { BudgetField } from "./budget_field";
import { EstimateCard, useEstimate } from "./estimate";
import { Models } from "./models";
import styles from "./new_run.module.css";
import { NewRunTabs } from "./new_run_tabs";
import { Start } from "./start";

type Batch = Schemas["CreateScaleRun"];
const MAX_COUNT = 1000;

/** One system prompt in many conversations, without a definition. */
export function NewBatch() {
  const canWrite = useCanWrite();
  const models = useQuery(modelsQuery);
  return (
    <>
      <title>New batch · Cupel</title>
      <h1>New batch</h1>
      <NewRunTabs />
      {models.isPending && <Loading what="models" />}
      {models.isError && <Failure error={models.error} what="The form" retry={() => void models.refetch()} />}
      {models.data &&
        (canWrite ? (
          <Form models={models.data} />
        ) : (
          <Empty title="Your role does not permit this">
            <p>Starting a run needs the role member or admin.</p>
          </Empty>
        ))}
    </>
  );
}

function Form({ models }: { models: readonly Schemas["Model"][] }) {
  const [selected, select] = useState<readonly string[]>([]);
  const [system, setSystem] = useState("");
  const [message, setMessage] = useState("");
  const [goal, setGoal] = useState("");
  const [countText, setCount] = useState("20");
  const [personas, setPersonas] = useState<readonly string[]>([]);
  const [judge, setJudge] = useState("");
  const [concurrencyText, setConcurrency] = useState("3");
  const [budgetText, setBudget] = useState("");
  const [allowUnpriced, setAllowUnpriced] = useState(false);
  const [withReport, setWithReport] = useState(true);
  const [name, setName] = useState("");
  const count = parseWhole(countText, 1, MAX_COUNT);
  const concurrency = parseWhole(concurrencyText, 1, MAX_COUNT);
  const budget = parseBudget(budgetText);
  const hasNumbers = typeof count === "number" && concurrency !== undefined;
  const hasSubject = message.trim() !== "" || goal.trim() !== "";
  const missing =
    selected.length === 0
      ? "Choose at least one model."
      : !hasSubject
        ? "Write a first message of the user, a goal, or both."
        : !hasNumbers && "A number is missing.";
  const plan: Batch | null =
    hasNumbers && !missing
      ? {
          models: [...selected],
          count,
          systemPrompt: system || null,
          userMessage: message || null,
          goal: goal || null,
          personaIds: [...personas],
          maxConcurrency: concurrency,
          report: withReport,
          ...(judge.trim() && { judgeModel: judge.trim() }),
        }
      : null;
  const body: Batch | null =
    plan && budget !== undefined
      ? {
          ...plan,
          ...(name.trim() && { name: name.trim() }),
          ...(budget !== null && { maxBudgetUsd: budget, allowUnpriced }),
        }
      : null;
  const estimate = useEstimate(plan, batchEstimateQuery);
  const send = (input: Batch, key: string) =>
    read(api.POST("/v1/scale-runs", { body: input, params: { header: { "Idempotency-Key": key } } }));
  return (
    <div className={styles.form}>
      <div className={styles.fields}>
        <Models models={models} selected={selected} select={select} />
        <TextField
          label="System prompt"
          id="system"
          rows={6}
          maxLength={200_000}
          value={system}
          onChange={setSystem}
        />
        <TextField
          label="First message of the user (optional)"
          id="user-message"
          rows={3}
          maxLength={500_000}
          note="Without it, a simulated user begins with the goal"
          value={message}
          onChange={setMessage}
        />
        <TextField
          label="Goal (optional)"
          id="goal"
          rows={3}
          maxLength={50_000}
          note="When a conversation succeeds, and what the simulated user wants"
          value={goal}
          onChange={setGoal}
        />
        <Whole
          label="Conversations of each model"
          id="count"
          value={countText}
          isValid={typeof count === "number"}
          change={setCount}
        />
        <Personas chosen={personas} choose={setPersonas} />
        <ModelField
          label="Judge"
          id="judge"
          placeholder="that of the workspace"
          value={judge}
          change={setJudge}
        />
        <Whole
          label="Conversations at the same time"
          id="concurrency"
          note="Empty for no limit"
          value={concurrencyText}
          isValid={concurrency !== undefined}
          change={setConcurrency}
        />
        <BudgetField
          value={budgetText}
          change={setBudget}
          isUnlimited={(estimate.data?.unpriced.length ?? 0) > 0}
          allowUnpriced={allowUnpriced}
          setAllowUnpriced={setAllowUnpriced}
        />
        <label className={styles.check}>
          <input
            type="checkbox"
            checked={withReport}
            onChange={(event) => setWithReport(event.target.checked)}
          />
          Write a report when the run completes
        </label>
        <TextField label="Name (optional)" id="name" maxLength={200} value={name} onChange={setName} />
      </div>
      <aside className={styles.card} aria-label="Estimate">
        {plan ? <EstimateCard estimate={estimate} budget={budget ?? null} /> : <p>{missing}</p>}
        <Start
          body={body}
          budget={budget ?? null}
          estimate={estimate.isStale ? undefined : estimate.data}
          send={send}
        />
      </aside>
    </div>
  );
}

interface WholeProps {
  label: string;
  id: string;
  note?: string;
  value: string;
  isValid: boolean;
  change: (text: string) => void;
}

function Whole({ label, id, note, value, isValid, change }: WholeProps) {
  return (
    <Field label={label} id={id} note={note} error={isValid ? null : "A whole number from 1 to 1,000"}>
      <input
        id={id}
        inputMode="numeric"
        size={8}
        aria-invalid={!isValid}
        aria-describedby={isValid ? undefined : `${id}-error`}
        value={value}
        onChange={(event) => change(event.target.value)}
      />
    </Field>
  );
}

interface PersonasProps {
  chosen: readonly string[];
  choose: (ids: readonly string[]) => void;
}

/** Nothing for a workspace without personas. */
function Personas({ chosen, choose }: PersonasProps) {
  const { data } = useQuery(personaNamesQuery);
  if (!data || data.length === 0) return null;
  const toggle = (id: string) =>
    choose(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]);
  return (
    <fieldset className={styles.models}>
      <legend>Personas: {chosen.length} chosen, which share the conversations evenly</legend>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={styles.options} aria-label="Personas" tabIndex={0}>
        {data.map((each) => (
          <label key={each.id}>
            <input type="checkbox" checked={chosen.includes(each.id)} onChange={() => toggle(each.id)} />
            <span className={styles.modelName}>{visible(each.name)}</span>
          </label>
        ))}
      </section>
    </fieldset>
  );
}
