import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api, read, type Schemas } from "../../api/client";
import { definitionsQuery, estimateQuery, modelsQuery, type RunInput, sessionQuery } from "../../api/queries";
import { parseBudget } from "../../lib/budget";
import { visible } from "../../lib/format";
import { Field } from "../../ui/field";
import { Empty, Failure, Loading, RoleTooLow } from "../../ui/states";
import { BudgetField } from "./budget_field";
import { EstimateCard, useEstimate } from "./estimate";
import { Models } from "./models";
import styles from "./new_run.module.css";
import { NewRunTabs } from "./new_run_tabs";
import { Start } from "./start";

const route = getRouteApi("/new");
const DEFAULT_MODELS = ["sim/steady", "sim/bold", "sim/contrarian"];
const MAX_REPEATS = 1000;

export function NewRun() {
  const definitions = useQuery(definitionsQuery);
  const models = useQuery(modelsQuery);
  const session = useQuery(sessionQuery);
  const error = definitions.error ?? models.error ?? session.error;
  const retry = () => {
    void definitions.refetch();
    void models.refetch();
    void session.refetch();
  };
  return (
    <>
      <title>New run · Cupel</title>
      <h1>New run</h1>
      <NewRunTabs />
      {error ? (
        <Failure error={error} what="The form" retry={retry} />
      ) : !definitions.data || !models.data || !session.data ? (
        <Loading what="definitions and models" />
      ) : session.data.role === "viewer" ? (
        <RoleTooLow detail="Starting a run needs the role member or admin; this session has viewer." />
      ) : definitions.data.items.length === 0 ? (
        <Empty title="No definitions yet">
          <p>
            A definition says what is evaluated.{" "}
            <code>cupel run samples/value-dilemma.yaml --models sim/steady</code> stores the sample and runs
            it, <code>cupel import</code> takes an evaluation of another tool.
          </p>
        </Empty>
      ) : (
        <Form definitions={definitions.data.items} models={models.data} />
      )}
    </>
  );
}

interface FormProps {
  definitions: readonly Schemas["DefinitionSummary"][];
  models: readonly Schemas["Model"][];
}

function Form({ definitions, models }: FormProps) {
  const chosen = route.useSearch().definition;
  const setSearch = route.useNavigate();
  const definition = definitions.find((each) => each.id === chosen) ?? definitions[0];
  const [selected, select] = useState<readonly string[]>(() =>
    DEFAULT_MODELS.filter((id) => models.some((each) => each.id === id)),
  );
  const [name, setName] = useState("");
  const [sample, setSample] = useState(100);
  const [repeats, setRepeats] = useState("1");
  const [budgetText, setBudgetText] = useState("");
  const [allowUnpriced, setAllowUnpriced] = useState(false);
  const [withReport, setWithReport] = useState(false);

  const repeatCount = /^\d+$/.test(repeats) ? Number(repeats) : 0;
  const hasRepeats = repeatCount >= 1 && repeatCount <= MAX_REPEATS;
  const budget = parseBudget(budgetText);
  const plan: RunInput | null =
    definition && selected.length > 0 && hasRepeats
      ? {
          definitionId: definition.id,
          models: [...selected],
          samplePercentage: sample,
          repeats: repeatCount,
        }
      : null;
  const body: RunInput | null =
    plan && budget !== undefined
      ? {
          ...plan,
          ...(name.trim() && { name: name.trim() }),
          ...(budget !== null && { maxBudgetUsd: budget, allowUnpriced }),
          ...(withReport && { report: true }),
        }
      : null;
  const estimate = useEstimate(plan, estimateQuery);
  const send = (input: RunInput, key: string) =>
    read(api.POST("/v1/runs", { body: input, params: { header: { "Idempotency-Key": key } } }));
  const isUnlimited = (estimate.data?.unpriced.length ?? 0) > 0;
  return (
    <div className={styles.form}>
      <div className={styles.fields}>
        <Field label="Definition" id="definition">
          <select
            id="definition"
            value={definition?.id}
            onChange={(event) =>
              void setSearch({ search: { definition: event.target.value }, replace: true })
            }
          >
            {definitions.map((each) => (
              <option key={each.id} value={each.id}>
                {visible(each.name)} (version {each.version})
              </option>
            ))}
          </select>
        </Field>
        <Models models={models} selected={selected} select={select} />
        <Field label={`Sample of the scenarios: ${sample}%`} id="sample">
          <input
            id="sample"
            type="range"
            min={1}
            max={100}
            value={sample}
            onChange={(event) => setSample(Number(event.target.value))}
          />
        </Field>
        <Field
          label="Repeats of each scenario (1 to 1,000)"
          id="repeats"
          error={hasRepeats ? null : "A whole number from 1 to 1,000"}
        >
          <input
            id="repeats"
            type="number"
            min={1}
            max={MAX_REPEATS}
            required
            aria-invalid={!hasRepeats}
            aria-describedby={hasRepeats ? undefined : "repeats-error"}
            value={repeats}
            onChange={(event) => setRepeats(event.target.value)}
          />
        </Field>
        <BudgetField
          value={budgetText}
          change={setBudgetText}
          isUnlimited={isUnlimited}
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
        <Field label="Name (optional)" id="name">
          <input
            id="name"
            size={40}
            maxLength={200}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
      </div>
      <aside className={styles.card} aria-label="Estimate">
        {plan ? (
          <EstimateCard estimate={estimate} budget={budget ?? null} />
        ) : (
          <p>{selected.length === 0 ? "Choose at least one model." : "Repeats are missing."}</p>
        )}
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
