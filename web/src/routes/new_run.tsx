import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { ApiError, api, read, type Schemas } from "../api/client";
import {
  definitionsQuery,
  type Estimate,
  estimateQuery,
  modelsQuery,
  type RunInput,
  sessionQuery,
} from "../api/queries";
import { counted, formatSeconds, formatUsd, visible } from "../lib/format";
import { Empty, Failure, Loading } from "../ui/states";
import styles from "./new_run.module.css";

const route = getRouteApi("/new");
const SETTLE_MS = 400;
const DEFAULT_MODELS = ["sim/steady", "sim/bold", "sim/contrarian"];

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
  const navigate = useNavigate();
  const definition = definitions.find((each) => each.id === chosen) ?? definitions[0];
  const [selected, select] = useState<readonly string[]>(() =>
    DEFAULT_MODELS.filter((id) => models.some((each) => each.id === id)),
  );
  const [name, setName] = useState("");
  const [sample, setSample] = useState(100);
  const [repeats, setRepeats] = useState("1");
  // Made with the form: a second click, or an answer that was lost, starts nothing twice.
  const [key] = useState(() => crypto.randomUUID());

  const repeatCount = Number(repeats);
  const isValid =
    selected.length > 0 &&
    Number.isInteger(repeatCount) &&
    repeatCount >= 1 &&
    repeatCount <= 100 &&
    definition;
  const body: RunInput | null = isValid
    ? {
        definitionId: definition.id,
        models: [...selected],
        samplePercentage: sample,
        repeats: repeatCount,
        ...(name.trim() && { name: name.trim() }),
      }
    : null;
  const start = useMutation({
    mutationFn: (input: RunInput) =>
      read(api.POST("/v1/runs", { body: input, params: { header: { "Idempotency-Key": key } } })),
    onSuccess: (started) => navigate({ to: "/runs/$id", params: { id: started.run.id } }),
    retry: (count, error) => count < 3 && error instanceof ApiError && error.isTransient,
  });
  const isSending = start.isPending || start.isSuccess;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (body && !isSending) start.mutate(body);
  };
  return (
    <form className={styles.form} onSubmit={submit}>
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
        <Field label="Repeats of each scenario (1 to 100)" id="repeats">
          <input
            id="repeats"
            type="number"
            min={1}
            max={100}
            required
            value={repeats}
            onChange={(event) => setRepeats(event.target.value)}
          />
        </Field>
        <Field label="Name (optional)" id="name">
          <input id="name" maxLength={100} value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
      </div>
      <aside className={styles.card} aria-label="Estimate">
        {body ? (
          <EstimateCard body={body} />
        ) : (
          <p>
            {selected.length === 0
              ? "Choose at least one model."
              : "Repeats must be a whole number from 1 to 100."}
          </p>
        )}
        <button type="submit" data-kind="primary" disabled={!body || isSending}>
          {isSending ? "Starting…" : "Start"}
        </button>
        {start.isError && <Failure error={start.error} what="The run was not started" />}
      </aside>
    </form>
  );
}

function Field({ label, id, children }: { label: string; id: string; children: ReactNode }) {
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children}
    </div>
  );
}

interface ModelsProps {
  models: readonly Schemas["Model"][];
  selected: readonly string[];
  select: (ids: readonly string[]) => void;
}

function Models({ models, selected, select }: ModelsProps) {
  const [sought, seek] = useState("");
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  const usable = models.filter((each) => each.usable || selected.includes(each.id));
  const shown = usable.filter((each) => words.every((word) => each.id.toLowerCase().includes(word)));
  const withoutKey = models.length - usable.length;
  const toggle = (id: string) =>
    select(selected.includes(id) ? selected.filter((each) => each !== id) : [...selected, id]);
  return (
    <fieldset className={styles.models}>
      <legend>Models: {selected.length} chosen</legend>
      <input
        type="search"
        aria-label="Search models"
        placeholder="Search models"
        value={sought}
        onChange={(event) => seek(event.target.value)}
      />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={styles.options} aria-label="Models" tabIndex={0}>
        {shown.map((model) => (
          <label key={model.id}>
            <input type="checkbox" checked={selected.includes(model.id)} onChange={() => toggle(model.id)} />
            <span className={styles.modelName}>{visible(model.id)}</span>
            <small>{price(model)}</small>
          </label>
        ))}
        {shown.length === 0 && <p>No model matches.</p>}
      </section>
      {withoutKey > 0 && (
        <small className={styles.note}>
          {counted(withoutKey, "model")} of providers without a key: <code>cupel providers set</code> stores
          one.
        </small>
      )}
    </fieldset>
  );
}

function price(model: Schemas["Model"]): string {
  if (model.simulated) return "simulated, free";
  if (model.inputUsdPerMillion === null || model.outputUsdPerMillion === null) return "price unknown";
  return `${formatUsd(model.inputUsdPerMillion)} in, ${formatUsd(model.outputUsdPerMillion)} out per million tokens`;
}

/** What the run will cost, a moment after the last change of the form. */
function EstimateCard({ body }: { body: RunInput }) {
  const text = JSON.stringify({ ...body, name: undefined });
  const [settled, settle] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => settle(text), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const query = useQuery(estimateQuery(JSON.parse(settled) as RunInput));
  if (query.isError)
    return <Failure error={query.error} what="The estimate" retry={() => void query.refetch()} />;
  if (!query.data) return <Loading rows={3} what="the estimate" />;
  return (
    <div data-stale={settled !== text || query.isFetching} className={styles.estimate}>
      <Figures estimate={query.data} />
    </div>
  );
}

function Figures({ estimate }: { estimate: Estimate }) {
  const { usd, seconds } = estimate;
  return (
    <>
      <p className={styles.count}>{counted(estimate.jobCount, "conversation")}</p>
      <dl>
        <dt>Cost</dt>
        <dd>
          {formatUsd(usd.expected)}
          {usd.high > usd.low && (
            <small>
              {formatUsd(usd.low)} to {formatUsd(usd.high)}
            </small>
          )}
        </dd>
        <dt>Time</dt>
        <dd>
          {formatSeconds(seconds.expected)}
          <small>
            {formatSeconds(seconds.low)} to {formatSeconds(seconds.high)}
          </small>
        </dd>
      </dl>
      {estimate.unpriced.length > 0 && (
        <p className={styles.note}>
          Without a price, and not included: {visible(estimate.unpriced.join(", "))}
        </p>
      )}
    </>
  );
}
