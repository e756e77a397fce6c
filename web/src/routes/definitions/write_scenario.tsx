import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useMemo, useRef, useState } from "react";
import { ApiError, api, read } from "../../api/client";
import type { Definition, Schemas } from "../../api/types";

import { currentIssues, type Issue } from "../../lib/content_fields";
import type { Content } from "../../lib/definitions";
import { visible } from "../../lib/format";
import page from "../../ui/page.module.css";
import { Failure } from "../../ui/states";
import { UnsavedGuard } from "../../ui/unsaved";
import { useFocusOfErrors, useReports } from "./form/context";
import styles from "./form/form.module.css";
import { ScenarioControls } from "./scenario_controls";

const EMPTY: Content = {};
const NO_ISSUES: readonly Issue[] = [];
const PREFIX = "items.0.";

export function WriteScenario({ definition }: { definition: Definition }) {
  const client = useQueryClient();
  const [scenario, set] = useState<Content>(EMPTY);
  const [round, setRound] = useState(0);
  const [key, setKey] = useState(() => crypto.randomUUID());
  const [invalid, report] = useReports();
  const form = useRef<HTMLFormElement>(null);
  const add = useMutation({
    mutationFn: (written: Content) =>
      read(
        api.POST("/v1/definitions/{definition_id}/scenarios", {
          params: { path: { definition_id: definition.id }, header: { "Idempotency-Key": key } },
          // The API checks whatever was typed.
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
  useFocusOfErrors(form, error);
  const isEmpty = Object.keys(scenario).length === 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isEmpty && invalid.size === 0 && !add.isPending) add.mutate(scenario);
  };
  return (
    <form ref={form} className={`${page.form} ${styles.form}`} onSubmit={submit}>
      <UnsavedGuard isUnsaved={!isEmpty && !add.isPending} />
      <ScenarioControls
        key={round}
        definition={definition}
        scenario={scenario}
        issues={issues}
        report={report}
        set={set}
      />
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
