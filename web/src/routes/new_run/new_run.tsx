import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, api, read } from "../../api/client";
import { CreateRun } from "../../api/limits";
import { useModels } from "../../api/models";
import {
  chosenDefinitionQuery,
  definitionsQuery,
  estimateQuery,
  runQuery,
  sessionQuery,
} from "../../api/queries";
import { connectorNamesQuery } from "../../api/resources";
import type { Run, RunInput, Schemas } from "../../api/types";
import { parseBudget } from "../../lib/budget";
import { formatCount, visible } from "../../lib/format";
import { parseWhole } from "../../lib/forms";
import { carriedSettings, chosenTargets, formOf, type RunForm } from "../../lib/run_again";
import { NO_OPTIONS, optionsInput } from "../../lib/run_options";
import { Field } from "../../ui/field";
import { useKept } from "../../ui/kept";
import { wholeNumberError } from "../../ui/number_field";
import { SampleButton } from "../../ui/sample_button";
import { Empty, Failure, Loading, RoleTooLow } from "../../ui/states";
import { BudgetField } from "./budget_field";
import { Choices } from "./choices";
import { DefinitionField } from "./definition_field";
import { EstimateCard, useEstimate } from "./estimate";
import { Models } from "./models";
import styles from "./new_run.module.css";
import { NewRunTabs } from "./new_run_tabs";
import { Options } from "./options";
import { ReportField } from "./report_field";
import { Start } from "./start";

const route = getRouteApi("/new");
const DEFAULT_MODELS = ["sim/steady", "sim/bold", "sim/contrarian"];
const { repeats: REPEATS, samplePercentage: SAMPLE } = CreateRun;

export function NewRun() {
  const definitions = useQuery(definitionsQuery);
  const models = useModels();
  const session = useQuery(sessionQuery);
  const { definition: chosen, run: repeated } = route.useSearch();
  const old = useQuery({ ...runQuery(repeated ?? ""), enabled: repeated !== undefined });
  const isListed = definitions.data?.items.some((each) => each.id === chosen) ?? true;
  const other = useQuery({
    ...chosenDefinitionQuery(chosen ?? ""),
    enabled: chosen !== undefined && !isListed,
  });
  const error = definitions.error ?? models.error ?? session.error ?? other.error ?? old.error;
  const retry = () => {
    void definitions.refetch();
    void models.refetch();
    void session.refetch();
    if (repeated !== undefined) void old.refetch();
  };
  return (
    <>
      <title>New run · Cupel</title>
      <h1>New run</h1>
      <NewRunTabs />
      {error ? (
        <Failure error={error} what="Definitions and models" retry={retry} />
      ) : !definitions.data || !models.data || !session.data || other.isLoading || old.isLoading ? (
        <Loading what="definitions and models" />
      ) : session.data.role === "viewer" ? (
        <RoleTooLow detail="Starting a run needs the role member or admin; this session has viewer." />
      ) : definitions.data.items.length === 0 ? (
        <Empty title="No definitions yet">
          <p>
            A definition says what is evaluated. <Link to="/definitions/new">Write one</Link>,{" "}
            <Link to="/definitions/import">import</Link> an evaluation of another tool, or begin with the
            sample: how far should one person’s privacy yield to the safety of others? Simulated models answer
            it for free.
          </p>
          <SampleButton />
        </Empty>
      ) : (
        <Form
          key={old.data?.id}
          old={old.data}
          definitions={definitions.data.items}
          hasMore={definitions.data.nextCursor !== null}
          other={other.data}
          models={models.data}
        />
      )}
    </>
  );
}

function lacksScenarios(error: Error | null): boolean {
  return error instanceof ApiError && error.fields.some((each) => each.field === "definitionId");
}

interface FormProps {
  /** The form has the settings of this run at first. */
  old: Run | undefined;
  definitions: readonly Schemas["DefinitionSummary"][];
  hasMore: boolean;
  other: Schemas["DefinitionSummary"] | undefined;
  models: readonly Schemas["Model"][];
}

function firstForm(models: FormProps["models"], experiment = ""): RunForm {
  return {
    selected: DEFAULT_MODELS.filter((id) => models.some((each) => each.id === id)),
    agents: [],
    name: "",
    sample: SAMPLE.default,
    repeats: String(REPEATS.default),
    withReport: CreateRun.report.default,
    options: { ...NO_OPTIONS, experiment },
  };
}

/** Says whose settings the form has, and which of them it does not show. */
function Repeated({ run, names }: { run: Run; names: readonly string[] }) {
  return (
    <p className={styles.note}>
      The settings are those of{" "}
      <Link to="/runs/$id" params={{ id: run.id }}>
        {visible(run.name ?? run.definitionName)}
      </Link>
      {names.length > 0 && `, also those that are not shown: ${names.join(", ")}`}.
    </p>
  );
}

function Form({ old, definitions, hasMore, other, models }: FormProps) {
  const { definition: chosen, experiment } = route.useSearch();
  const form = old ? `again.${old.id}` : experiment ? `experiment.${experiment}` : "new";
  const setSearch = route.useNavigate();
  const definition = definitions.find((each) => each.id === chosen) ?? other ?? definitions[0];
  const [initial] = useState(() => (old ? formOf(old) : firstForm(models, experiment)));
  const carried = old && carriedSettings(old);
  const [selected, select] = useKept<readonly string[]>(form, "selected", initial.selected);
  const [name, setName] = useKept(form, "name", initial.name);
  const [sample, setSample] = useKept<number>(form, "sample", initial.sample);
  const [repeats, setRepeats] = useKept(form, "repeats", initial.repeats);
  const [budgetText, setBudgetText] = useKept(form, "budgetText", "");
  const [allowUnpriced, setAllowUnpriced] = useKept<boolean>(
    form,
    "allowUnpriced",
    CreateRun.allowUnpriced.default,
  );
  const [withReport, setWithReport] = useKept<boolean>(form, "withReport", initial.withReport);
  const [keptOptions, setOptions] = useKept(form, "options", initial.options);
  // What was kept before an update of the page lacks the options that came with it.
  const options = { ...NO_OPTIONS, ...keptOptions };
  const [agents, setAgents] = useKept<readonly string[]>(form, "agents", initial.agents);
  // A connector of the type "tools" executes calls of tools; it answers nobody.
  const connectors = useQuery(connectorNamesQuery).data?.filter((each) => each.type !== "tools") ?? [];
  const chosenOptions = optionsInput(options);

  const repeatCount = parseWhole(repeats, REPEATS);
  const hasRepeats = typeof repeatCount === "number";
  const budget = parseBudget(budgetText);
  const targets = [...selected, ...agents.map((id) => `connector/${id}`)];
  const plan: RunInput | null =
    definition && targets.length > 0 && hasRepeats && chosenOptions
      ? {
          ...chosenOptions,
          definitionId: definition.id,
          ...chosenTargets(old, selected, agents),
          samplePercentage: sample,
          repeats: repeatCount,
          ...(withReport && { report: true }),
          ...(carried && { config: { ...carried.config, ...chosenOptions.config } }),
        }
      : null;
  const body: RunInput | null =
    plan && budget !== undefined
      ? {
          ...plan,
          ...(name.trim() && { name: name.trim() }),
          ...(budget !== null && { maxBudgetUsd: budget, allowUnpriced }),
        }
      : null;
  const estimate = useEstimate(plan, estimateQuery);
  const send = (input: RunInput, key: string) =>
    read(api.POST("/v1/runs", { body: input, params: { header: { "Idempotency-Key": key } } }));
  const isUnlimited = (estimate.data?.unpriced.length ?? 0) > 0;
  return (
    <div className={styles.form}>
      <div className={styles.fields}>
        {old && <Repeated run={old} names={carried?.names ?? []} />}
        <DefinitionField
          definitions={definitions}
          hasMore={hasMore}
          chosen={definition}
          choose={(id) => {
            void setSearch({ search: (search) => ({ ...search, definition: id }), replace: true });
            setOptions({ ...options, version: "" });
          }}
        />
        <Models models={models} selected={selected} select={select} />
        <Choices
          label="Agents"
          legend={`Agents: ${agents.length} chosen`}
          items={connectors}
          chosen={agents}
          choose={setAgents}
        />
        <Field label={`Sample of the scenarios: ${sample}%`} id="sample">
          <input
            id="sample"
            type="range"
            min={SAMPLE.min}
            max={SAMPLE.max}
            value={sample}
            onChange={(event) => setSample(Number(event.target.value))}
          />
        </Field>
        <Field
          label={`Repeats per scenario (${REPEATS.min} to ${formatCount(REPEATS.max)})`}
          id="repeats"
          error={hasRepeats ? null : wholeNumberError(REPEATS)}
        >
          <input
            id="repeats"
            type="number"
            min={REPEATS.min}
            max={REPEATS.max}
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
        <ReportField isOn={withReport} change={setWithReport} />
        <Options options={options} change={setOptions} />
        <Field label="Name (optional)" id="name">
          <input
            id="name"
            size={40}
            maxLength={CreateRun.name.maxLength}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
      </div>
      <aside className={styles.card} aria-label="Estimate">
        {plan ? (
          <EstimateCard
            estimate={estimate}
            budget={budget ?? null}
            factors={{ targets: targets.length, repeats: repeatCount ?? REPEATS.default }}
          />
        ) : (
          <p>
            {targets.length === 0
              ? "Choose at least one model or agent."
              : hasRepeats
                ? "An option is invalid."
                : "Enter the number of repeats."}
          </p>
        )}
        {definition && lacksScenarios(estimate.error) && (
          <p>
            <Link to="/definitions/$id/scenarios" params={{ id: definition.id }}>
              Scenarios of this definition
            </Link>
          </p>
        )}
        <Start
          form={form}
          body={body}
          budget={budget ?? null}
          estimate={estimate.isStale ? undefined : estimate.data}
          send={send}
        />
      </aside>
    </div>
  );
}
