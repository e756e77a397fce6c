import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { ApiError, api, read, type Schemas } from "../../api/client";
import { definitionsQuery, type Estimate, modelsQuery, type RunInput, sessionQuery } from "../../api/queries";
import { needsConfirmation, parseBudget } from "../../lib/budget";
import { formatUsd, visible } from "../../lib/format";
import { Field } from "../../ui/field";
import { Empty, Failure, Loading } from "../../ui/states";
import { ConfirmCost } from "./confirm";
import { EstimateCard, useEstimate } from "./estimate";
import { Models } from "./models";
import styles from "./new_run.module.css";

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
      {error ? (
        <Failure error={error} what="The form" retry={retry} />
      ) : !definitions.data || !models.data || !session.data ? (
        <Loading what="definitions and models" />
      ) : session.data.role === "viewer" ? (
        <Empty title="Your role does not permit this">
          <p>Starting a run needs the role member or admin; this session has viewer.</p>
        </Empty>
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
  const estimate = useEstimate(plan);
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
        <Field
          label="Budget in USD (optional)"
          id="budget"
          error={budget === undefined ? "An amount such as 5 or 0.25, at most 1,000,000" : null}
          note="What the run may spend in all. It pauses when this is used up, and loses nothing."
        >
          <input
            id="budget"
            inputMode="decimal"
            size={14}
            placeholder="no limit"
            aria-invalid={budget === undefined}
            aria-describedby={budget === undefined ? "budget-error" : undefined}
            value={budgetText}
            onChange={(event) => setBudgetText(event.target.value)}
          />
        </Field>
        {typeof budget === "number" && isUnlimited && (
          <label className={styles.check}>
            <input
              type="checkbox"
              checked={allowUnpriced}
              onChange={(event) => setAllowUnpriced(event.target.checked)}
            />
            Also call models without a known price; the budget does not limit them
          </label>
        )}
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
        <Start body={body} budget={budget ?? null} estimate={estimate.isStale ? undefined : estimate.data} />
      </aside>
    </div>
  );
}

interface StartProps {
  body: RunInput | null;
  budget: number | null;
  estimate: Estimate | undefined;
}

/** Starts the run, after the question whether it may cost more than its budget. */
function Start({ body, budget, estimate }: StartProps) {
  const navigate = useNavigate();
  // Made with the form: a second click, or an answer that was lost, starts nothing twice.
  const [key] = useState(() => crypto.randomUUID());
  const [asked, ask] = useState<Estimate | null>(null);
  const [isChanged, setChanged] = useState(false);
  const start = useMutation({
    mutationFn: (input: RunInput) =>
      read(api.POST("/v1/runs", { body: input, params: { header: { "Idempotency-Key": key } } })),
    onSuccess: (started) => navigate({ to: "/runs/$id", params: { id: started.run.id } }),
    onError: (error, input) => {
      if (!(error instanceof ApiError) || error.estimate === null) return;
      setChanged(input.confirmedUsd !== undefined);
      ask(error.estimate);
    },
    retry: (count, error) => count < 3 && error instanceof ApiError && error.isTransient,
  });
  const isSending = start.isPending || start.isSuccess;
  const isOver = needsConfirmation(budget, estimate?.usd);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!body || isSending) return;
    setChanged(false);
    if (isOver && estimate) ask(estimate);
    else start.mutate(body);
  };
  const confirm = () => {
    if (body && asked) start.mutate({ ...body, confirmedUsd: asked.usd.expected });
    ask(null);
  };
  const wasAsked = start.error instanceof ApiError && start.error.estimate !== null;
  return (
    <form onSubmit={submit}>
      <button type="submit" data-kind="primary" disabled={!body || isSending}>
        {isSending ? "Starting…" : isOver ? `Start, about ${formatUsd(estimate?.usd.expected)}…` : "Start"}
      </button>
      {asked && budget !== null && (
        <ConfirmCost
          estimate={asked}
          budget={budget}
          isChanged={isChanged}
          confirm={confirm}
          close={() => ask(null)}
        />
      )}
      {start.isError && !wasAsked && <Failure error={start.error} what="The run was not started" />}
    </form>
  );
}
