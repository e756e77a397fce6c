import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useCallback, useMemo, useState } from "react";
import { ApiError, api, read, type Schemas } from "../../api/client";
import type { Definition } from "../../api/definitions";
import { changedAt, currentIssues, type Issue } from "../../lib/content_fields";
import type { Content } from "../../lib/definitions";
import { visible } from "../../lib/format";
import { FURTHER_SCENARIO_FIELDS, SCENARIO_FIELDS } from "../../lib/scenario_fields";
import { Field } from "../../ui/field";
import page from "../../ui/page.module.css";
import { Failure } from "../../ui/states";
import { UnsavedGuard } from "../../ui/unsaved";
import { FormContext, useForm, useIssues, useReports } from "./form/context";
import { ValueControl } from "./form/controls";
import styles from "./form/form.module.css";
import { Offers } from "./form/parts";

const EMPTY: Content = {};
const NO_ISSUES: readonly Issue[] = [];
const PREFIX = "items.0.";

/** One scenario, by its fields. */
export function WriteScenario({ definition }: { definition: Definition }) {
  const client = useQueryClient();
  const [scenario, set] = useState<Content>(EMPTY);
  const [round, setRound] = useState(0);
  const [key, setKey] = useState(() => crypto.randomUUID());
  const [invalid, report] = useReports();
  const add = useMutation({
    mutationFn: (written: Content) =>
      read(
        api.POST("/v1/definitions/{definition_id}/scenarios", {
          params: { path: { definition_id: definition.id }, header: { "Idempotency-Key": key } },
          // Whatever was typed: the API checks it.
          body: { items: [written as Schemas["CreateScenario"]] },
        }),
      ),
    onSuccess: () => {
      set(EMPTY);
      setRound((before) => before + 1);
      return client.invalidateQueries({ queryKey: ["definition", definition.id] });
    },
    onSettled: () => setKey(crypto.randomUUID()),
  });
  const { error, variables } = add;
  const issues = useMemo(() => {
    if (!(error instanceof ApiError) || variables === undefined) return NO_ISSUES;
    const own = error.fields.filter((each) => each.field.startsWith(PREFIX));
    const inside = own.map((each) => ({ ...each, field: each.field.slice(PREFIX.length) }));
    return currentIssues(inside, variables, scenario);
  }, [error, variables, scenario]);
  const change = useCallback(
    (path: string, value: unknown) =>
      set((now) => (path === "" ? (value as Content) : changedAt(now, path, value))),
    [],
  );
  const context = useMemo(() => ({ change, issues, report }), [change, issues, report]);
  const isEmpty = Object.keys(scenario).length === 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isEmpty && invalid.size === 0 && !add.isPending) add.mutate(scenario);
  };
  return (
    <form className={`${page.form} ${styles.form}`} onSubmit={submit}>
      <UnsavedGuard isUnsaved={!isEmpty && !add.isPending} />
      <FormContext key={round} value={context}>
        <Offers content={EMPTY} />
        <Controls fields={SCENARIO_FIELDS} scenario={scenario} />
        <Scores definition={definition} scenario={scenario} />
        <details className={styles.fold}>
          <summary>More fields of a scenario</summary>
          <div className={styles.fields}>
            <Controls fields={FURTHER_SCENARIO_FIELDS} scenario={scenario} />
          </div>
        </details>
      </FormContext>
      <button type="submit" data-kind="primary" disabled={isEmpty || invalid.size > 0 || add.isPending}>
        {add.isPending ? "Adding…" : "Add the scenario"}
      </button>
      {error && <Failure error={error} what="The scenario was not added" />}
      {add.data && isEmpty && (
        <p role="status">
          Added: {visible(definition.name)} has {add.data.total} in version {add.data.definitionVersion}.
        </p>
      )}
    </form>
  );
}

function Controls({ fields, scenario }: { fields: typeof SCENARIO_FIELDS; scenario: Content }) {
  return fields.map(({ name, label, control, note }) => (
    <ValueControl key={name} control={control} path={name} value={scenario[name]} label={label} note={note} />
  ));
}

/** Its level of each dimension; names may have dots, so they are no paths. */
function Scores({ definition, scenario }: { definition: Definition; scenario: Content }) {
  const dimensions = definition.content.dimensions ?? [];
  const error = useIssues("dimensions");
  const scores = (scenario["dimensions"] ?? {}) as Readonly<Record<string, number>>;
  if (dimensions.length === 0) return null;
  return (
    <fieldset className={styles.group}>
      <legend>Levels of the dimensions (optional)</legend>
      {error && <p className={styles.error}>{error}</p>}
      <div className={styles.fields}>
        {dimensions.map((each, index) => (
          <Score key={each.name} index={index} dimension={each} scores={scores} />
        ))}
      </div>
    </fieldset>
  );
}

interface ScoreProps {
  index: number;
  dimension: NonNullable<Definition["content"]["dimensions"]>[number];
  scores: Readonly<Record<string, number>>;
}

function Score({ index, dimension, scores }: ScoreProps) {
  const { change } = useForm();
  const id = `scenario-dimension-${index}`;
  const { name, levels } = dimension;
  const choose = (text: string) => {
    const others = Object.entries(scores).filter(([each]) => each !== name);
    const chosen = text === "" ? others : [...others, [name, Number(text)]];
    change("dimensions", chosen.length === 0 ? undefined : Object.fromEntries(chosen));
  };
  return (
    <Field label={visible(name)} id={id}>
      <select
        id={id}
        value={Object.hasOwn(scores, name) ? String(scores[name]) : ""}
        onChange={(event) => choose(event.target.value)}
      >
        <option value="">not set</option>
        {levels.map((level) => (
          <option key={level.score} value={level.score}>
            {level.score}: {visible(level.label)}
          </option>
        ))}
      </select>
    </Field>
  );
}
