import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import { ApiError, api, read } from "../../api/client";
import { generationQuery } from "../../api/definitions";
import { useModels } from "../../api/models";
import type { Definition, Generation, Schemas } from "../../api/types";
import { parseBudget } from "../../lib/budget";
import { combinations } from "../../lib/definitions";
import { counted, formatCount, formatUsd, visible } from "../../lib/format";
import { ProgressBar } from "../../ui/bars";
import { Field } from "../../ui/field";
import page from "../../ui/page.module.css";
import { Failure } from "../../ui/states";
import { BudgetAmount } from "../new_run/budget_field";

type Options = Schemas["GenerateScenarios"];

/** Combines the levels of the dimensions, or has a model write a text for each combination. */
export function Generate({ definition }: { definition: Definition }) {
  const client = useQueryClient();
  const models = useModels();
  const [model, setModel] = useState("");
  const [isRandom, setRandom] = useState(false);
  const [replace, setReplace] = useState(false);
  const [allowUnpriced, setAllowUnpriced] = useState(false);
  const [budgetText, setBudget] = useState("");
  const [key, setKey] = useState(() => crypto.randomUUID());
  const start = useMutation({
    mutationFn: (body: Options) =>
      read(
        api.POST("/v1/definitions/{definition_id}/scenarios/generate", {
          params: { path: { definition_id: definition.id }, header: { "Idempotency-Key": key } },
          body,
        }),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: ["definition", definition.id] }),
    onSettled: () => setKey(crypto.randomUUID()),
  });
  const count = combinations(definition.content.dimensions ?? []);
  const hasRules = (definition.content.matchingRules?.length ?? 0) > 0;
  const chosen = models.data?.find((each) => each.id === model);
  const isUnpriced = chosen !== undefined && !chosen.simulated && chosen.inputUsdPerMillion === null;
  const budget = parseBudget(budgetText);
  const budgetProblem = budgetProblemOf(start.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const options = isRandom ? "random" : "first";
    const limit = typeof budget === "number" ? { maxBudgetUsd: budget } : {};
    start.mutate(
      model
        ? { mode: "llm", model, options, replace, allowUnpriced: isUnpriced && allowUnpriced, ...limit }
        : { mode: "matrix", options, replace, allowUnpriced: false },
    );
  };
  return (
    <form className={page.form} onSubmit={submit}>
      <p className={page.note}>
        {counted(count, "combination")} of levels
        {hasRules && ", before the matching rules leave some out"}: a scenario for each.
      </p>
      <Field label="Texts" id="generation-model" note={model && "One call of the model for each scenario"}>
        <select id="generation-model" value={model} onChange={(event) => setModel(event.target.value)}>
          <option value="">from the template, without a model</option>
          {(models.data ?? [])
            .filter((each) => each.usable)
            .map((each) => (
              <option key={each.id} value={each.id}>
                written by {visible(each.id)}
              </option>
            ))}
        </select>
      </Field>
      {isUnpriced && (
        <label className={page.check}>
          <input
            type="checkbox"
            checked={allowUnpriced}
            onChange={(event) => setAllowUnpriced(event.target.checked)}
          />
          Call it although its price is unknown; no budget limits it
        </label>
      )}
      {model && (
        <BudgetAmount
          id="generation-budget"
          note="When it is used up, the generation fails and adds no scenario"
          problem={budgetProblem && `It ${budgetProblem}`}
          value={budgetText}
          change={(text) => {
            setBudget(text);
            if (budgetProblem) start.reset();
          }}
        />
      )}
      <label className={page.check}>
        <input type="checkbox" checked={isRandom} onChange={(event) => setRandom(event.target.checked)} />
        Draw one of a level's texts at random instead of the first
      </label>
      <label className={page.check}>
        <input type="checkbox" checked={replace} onChange={(event) => setReplace(event.target.checked)} />
        Replace the {counted(definition.scenarioCount, "scenario")} of this definition
      </label>
      <button
        type="submit"
        data-kind="primary"
        disabled={start.isPending || (model !== "" && budget === undefined)}
      >
        {start.isPending ? "Generating…" : "Generate"}
      </button>
      {start.isError && !budgetProblem && <Failure error={start.error} what="Nothing was generated" />}
      {start.data && <Watched started={start.data} />}
    </form>
  );
}

/** Returns the problem of a refusal for its budget alone. */
function budgetProblemOf(error: Error | null): string | undefined {
  const [problem, ...others] = error instanceof ApiError ? error.fields : [];
  return problem?.field === "maxBudgetUsd" && others.length === 0 ? problem.message : undefined;
}

/** A generation by a model goes on in the background. */
function Watched({ started }: { started: Generation }) {
  const client = useQueryClient();
  const isMatrix = started.status === "COMPLETED";
  const query = useQuery({ ...generationQuery(started.definitionId, started.id), enabled: !isMatrix });
  const generation = query.data ?? started;
  const isDone = generation.status === "COMPLETED";
  useEffect(() => {
    if (isDone) void client.invalidateQueries({ queryKey: ["definition", started.definitionId] });
  }, [isDone, client, started.definitionId]);
  if (generation.status === "ERROR") {
    return <p role="alert">The generation failed: {visible(generation.error ?? "without a reason")}</p>;
  }
  if (isDone) {
    return (
      <p role="status">
        Version {generation.definitionVersion} was used; the scenarios are in the latest one.
      </p>
    );
  }
  const { total, completed } = generation.progress;
  return (
    <div role="status">
      <ProgressBar total={total} completed={completed} errored={0} />
      <p className={page.below}>
        {formatCount(completed)} of {counted(total, "text")} written
        {generation.budget &&
          `, for ${formatUsd(generation.budget.spentUsd)} of ${formatUsd(generation.budget.maxBudgetUsd)}`}
        . It goes on without this page.
      </p>
    </div>
  );
}
