import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, api, ifMatch, read, readTagged } from "../../api/client";
import { definitionQuery } from "../../api/definitions";
import { CreateEval } from "../../api/limits";
import { evalEditQuery } from "../../api/resources";
import { useCanWrite } from "../../api/role";
import type { Eval, Schemas } from "../../api/types";
import type { Issue } from "../../lib/content_fields";
import type { FieldSpec } from "../../lib/form_controls";
import { visible } from "../../lib/format";
import { changesOf } from "../../lib/forms";
import { MODEL_PARAMETERS, TARGETS } from "../../lib/parameter_fields";
import { areTargets, haveFields, parseTargets, targetInputs, targetsText } from "../../lib/targets";
import { DeleteResource } from "../../ui/delete_resource";
import { EditForm } from "../../ui/edit_form";
import { ModelField } from "../../ui/model_field";
import { Failure, Loading, RoleTooLow } from "../../ui/states";
import { TargetsField } from "../../ui/targets_field";
import { TextField } from "../../ui/text_field";
import { JsonFields, useEditedContent } from "../definitions/json_fields";
import { MAX_SCENARIOS, ScenarioChoice } from "./scenario_choice";

const route = getRouteApi("/evals/$id/edit");
const NO_ISSUES: readonly Issue[] = [];
const PARAMS: FieldSpec = {
  name: "params",
  label: "Parameters of every target",
  control: { ...MODEL_PARAMETERS, isFolded: true },
};

export function EditEval() {
  const { id } = route.useParams();
  const canWrite = useCanWrite();
  const query = useQuery(evalEditQuery(id));
  if (!canWrite) return <RoleTooLow detail="Changing an eval needs the role member or admin." />;
  if (query.isPending) return <Loading what="the eval" />;
  if (query.data === undefined)
    return <Failure error={query.error} what={`Eval ${visible(id)}`} retry={() => void query.refetch()} />;
  const { value: found, etag } = query.data;
  return (
    <>
      <title>{`${visible(found.name)} · Cupel`}</title>
      <p>
        <Link to="/evals/$id" params={{ id }}>
          Back to the eval
        </Link>
      </p>
      <h1>{visible(found.name)}</h1>
      <Form key={etag} found={found} etag={etag} reload={() => void query.refetch()} />
      <DeleteResource noun="eval" list="evals" remove={() => remove(id)}>
        Its runs stay. Schedules that start it start nothing any more.
      </DeleteResource>
    </>
  );
}

const remove = (id: string) => read(api.DELETE("/v1/evals/{eval_id}", { params: { path: { eval_id: id } } }));

interface FormProps {
  found: Eval;
  etag: string | null;
  reload: () => void;
}

function Form({ found, etag, reload }: FormProps) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const isListed = haveFields(found.targets);
  const names = targetsText(found.targets);
  const [name, setName] = useState(found.name);
  const [chosen, choose] = useState<readonly string[]>(found.scenarioIds);
  const [targetText, setTargets] = useState(names);
  const edited = useEditedContent({
    params: found.params,
    ...(isListed && { targets: targetInputs(found.targets) }),
  });
  const [judge, setJudge] = useState(found.judgeModel ?? "");
  const [persona, setPersona] = useState(found.personaModel ?? "");
  const [embedding, setEmbedding] = useState(found.embeddingModel ?? "");
  const [url, setUrl] = useState(found.evaluatorUrl ?? "");
  const definition = useQuery(definitionQuery(found.definitionId));
  const { params, targets } = edited.content;
  const wanted = isListed ? targets : parseTargets(targetText);
  const changes = {
    ...changesOf(found, {
      name: name.trim(),
      judgeModel: judge.trim() || null,
      personaModel: persona.trim() || null,
      embeddingModel: embedding.trim() || null,
      evaluatorUrl: url.trim() || null,
    }),
    ...(chosen.join() !== found.scenarioIds.join() && {
      scenarioIds: [...chosen],
      definitionId: found.definitionId,
    }),
    ...((targetText !== names || edited.changed.includes("targets")) && { targets: wanted }),
    ...(edited.changed.includes("params") && { params: params ?? {} }),
  };
  const save = useMutation({
    mutationFn: async ({ isOver }: { isOver: boolean }) => {
      const path = { eval_id: found.id };
      const latest = async () =>
        (await readTagged(api.GET("/v1/evals/{eval_id}", { params: { path } }))).etag;
      await read(
        api.PATCH("/v1/evals/{eval_id}", {
          params: { path, header: ifMatch(isOver ? await latest() : etag) },
          body: changes as Schemas["UpdateEval"],
        }),
      );
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["evals"], refetchType: "none" });
      await navigate({ to: "/evals/$id", params: { id: found.id } });
    },
  });
  const isChanged = Object.keys(changes).length > 0;
  const hasScenarios = chosen.length > 0 && chosen.length <= MAX_SCENARIOS;
  const isValid = name.trim() !== "" && hasScenarios && areTargets(wanted) && edited.isValid;
  const fields = save.error instanceof ApiError ? save.error.fields : NO_ISSUES;
  const of = (field: string) => fields.filter((each) => each.field.split(".")[0] === field);
  return (
    <EditForm
      failure="The eval was not changed"
      isChanged={isChanged}
      isValid={isValid}
      saving={save}
      reload={reload}
    >
      <TextField
        label="Name"
        id="name"
        maxLength={CreateEval.name.maxLength}
        value={name}
        error={of("name")[0]?.message}
        onChange={setName}
      />
      {definition.data ? (
        <ScenarioChoice definition={definition.data} chosen={chosen} choose={choose} />
      ) : (
        definition.isError && <Failure error={definition.error} what="Its definition" />
      )}
      {!isListed && <TargetsField value={targetText} change={setTargets} error={of("targets")[0]?.message} />}
      <JsonFields fields={isListed ? [TARGETS, PARAMS] : [PARAMS]} edited={edited} issues={fields} />
      <ModelField label="Judge" id="judge" value={judge} change={setJudge} />
      <ModelField label="Simulated users" id="persona" value={persona} change={setPersona} />
      <ModelField label="Embeddings" id="embedding" value={embedding} change={setEmbedding} />
      <TextField
        label="Address of an external evaluator"
        id="url"
        maxLength={CreateEval.evaluatorUrl.maxLength}
        value={url}
        error={of("evaluatorUrl")[0]?.message}
        onChange={setUrl}
      />
    </EditForm>
  );
}
