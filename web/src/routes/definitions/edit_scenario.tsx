import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useMemo, useRef, useState } from "react";
import { ApiError, api, ifMatch, readTagged } from "../../api/client";
import { scenarioQuery } from "../../api/definitions";
import { useCanWrite } from "../../api/role";
import type { Definition, Scenario, Schemas } from "../../api/types";
import { currentIssues, type Issue } from "../../lib/content_fields";
import { visible } from "../../lib/format";
import { scenarioChanges, scenarioDraft } from "../../lib/scenario_fields";
import { Conflict } from "../../ui/conflict";
import page from "../../ui/page.module.css";
import { Failure, Loading } from "../../ui/states";
import { UnsavedGuard } from "../../ui/unsaved";
import { useDefinition } from "./definition";
import { DeleteScenario } from "./delete_scenario";
import { useFocusOfErrors, useReports } from "./form/context";
import styles from "./form/form.module.css";
import { ScenarioControls } from "./scenario_controls";
import { ScenarioDetails } from "./scenario_details";

const route = getRouteApi("/definitions/$id/scenarios/$scenario");

/** Shows one scenario: as it is, for viewers and in earlier versions; otherwise its fields. */
export function EditScenario() {
  const { id, scenario } = route.useParams();
  const { v } = route.useSearch();
  const isEdited = useCanWrite() && v === undefined;
  const definition = useDefinition();
  const query = useQuery(scenarioQuery(id, scenario, v));
  return (
    <>
      <p>
        <Link to="/definitions/$id/scenarios" params={{ id }} search={v === undefined ? {} : { v }}>
          All scenarios
        </Link>
      </p>
      {query.isPending && <Loading what="the scenario" />}
      {query.isError && (
        <Failure
          error={query.error}
          what={`Scenario ${visible(scenario)}`}
          retry={() => void query.refetch()}
        />
      )}
      {query.data &&
        definition.data &&
        (isEdited ? (
          <Editor
            key={query.dataUpdatedAt}
            definition={definition.data}
            stored={query.data.value}
            etag={query.data.etag}
            reload={() => void query.refetch()}
          />
        ) : (
          <>
            <h2>{visible(query.data.value.name || scenario)}</h2>
            <ScenarioDetails scenario={query.data.value} />
          </>
        ))}
    </>
  );
}

interface Props {
  definition: Definition;
  stored: Scenario;
  etag: string | null;
  reload: () => void;
}

const NO_ISSUES: readonly Issue[] = [];

/** Saving makes the definition's next version; the saved scenario stays open. */
function Editor({ definition, stored, etag, reload }: Props) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [base, setBase] = useState(() => ({ draft: scenarioDraft(stored), etag }));
  const [scenario, set] = useState(base.draft);
  const [hasMessages] = useState(base.draft["messages"] !== undefined);
  const [invalid, report] = useReports();
  const form = useRef<HTMLFormElement>(null);
  const path = { definition_id: definition.id, scenario_id: stored.id };
  /** This overwrites the stored state, whatever it is. */
  const latestTag = async () =>
    (
      await readTagged(
        api.GET("/v1/definitions/{definition_id}/scenarios/{scenario_id}", { params: { path } }),
      )
    ).etag;
  const saving = useMutation({
    mutationFn: async ({ written, isOver }: { written: typeof scenario; isOver: boolean }) => {
      const header = ifMatch(isOver ? await latestTag() : base.etag);
      return readTagged(
        api.PATCH("/v1/definitions/{definition_id}/scenarios/{scenario_id}", {
          params: { path, header },
          // The API checks whatever was typed.
          body: scenarioChanges(base.draft, written) as Schemas["UpdateScenario"],
        }),
      );
    },
    onSuccess: (saved) => {
      const draft = scenarioDraft(saved.value);
      setBase({ draft, etag: saved.etag });
      set(draft);
      return client.invalidateQueries({ queryKey: ["definition", definition.id] });
    },
  });
  const { error, variables } = saving;
  const issues = useMemo(
    () =>
      error instanceof ApiError && variables !== undefined
        ? currentIssues(error.fields, variables.written, scenario)
        : NO_ISSUES,
    [error, variables, scenario],
  );
  useFocusOfErrors(form, error);
  const isChanged = invalid.size > 0 || Object.keys(scenarioChanges(base.draft, scenario)).length > 0;
  const send = (isOver: boolean) => saving.mutate({ written: scenario, isOver });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isChanged && invalid.size === 0 && !saving.isPending) send(false);
  };
  const leave = () =>
    navigate({ to: "/definitions/$id/scenarios", params: { id: definition.id }, ignoreBlocker: true });
  return (
    <>
      <UnsavedGuard isUnsaved={isChanged && !saving.isPending} />
      <h2>{visible(stored.name || stored.id)}</h2>
      <p className={page.note}>
        Saving makes the next version of the definition. Earlier versions, and their runs, keep the scenario
        as it was.
      </p>
      <form ref={form} className={`${page.form} ${styles.form}`} onSubmit={submit}>
        <ScenarioControls
          definition={definition}
          scenario={scenario}
          hasMessages={hasMessages}
          issues={issues}
          report={report}
          set={set}
        />
        <button
          type="submit"
          data-kind="primary"
          disabled={!isChanged || invalid.size > 0 || saving.isPending}
        >
          {saving.isPending ? "Saving…" : "Save"}
        </button>
        {error && <Failure error={error} what="The scenario was not saved" />}
        <Conflict error={error} overwrite={() => send(true)} reload={reload} />
        {saving.isSuccess && !isChanged && (
          <p role="status">Saved in version {saving.data.value.definitionVersion} of the definition.</p>
        )}
      </form>
      <div className={page.apart}>
        <DeleteScenario definitionId={definition.id} scenario={stored} etag={base.etag} deleted={leave} />
      </div>
    </>
  );
}
