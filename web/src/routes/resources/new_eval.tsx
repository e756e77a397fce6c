import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, read } from "../../api/client";
import { CreateEval } from "../../api/limits";
import { definitionsQuery } from "../../api/queries";
import { connectorNamesQuery } from "../../api/resources";
import { useCanWrite } from "../../api/role";
import { visible } from "../../lib/format";
import { Field } from "../../ui/field";
import { ModelField } from "../../ui/model_field";
import { NewFold } from "../../ui/new_fold";
import page from "../../ui/page.module.css";
import { Failure } from "../../ui/states";
import { TextField } from "../../ui/text_field";
import { MAX_SCENARIOS, ScenarioChoice } from "./scenario_choice";

export function NewEval() {
  const canWrite = useCanWrite();
  if (!canWrite) return null;
  return (
    <NewFold noun="eval">
      <Form />
    </NewFold>
  );
}

function Form() {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [definitionId, setDefinition] = useState("");
  const [chosen, choose] = useState<readonly string[]>([]);
  const [model, setModel] = useState("");
  const [connectorId, setConnector] = useState("");
  const [judge, setJudge] = useState("");
  const [key] = useState(() => crypto.randomUUID());
  const definitions = useQuery(definitionsQuery);
  const connectors = useQuery(connectorNamesQuery);
  const definition = definitions.data?.items.find((each) => each.id === definitionId);
  const create = useMutation({
    mutationFn: () =>
      read(
        api.POST("/v1/evals", {
          params: { header: { "Idempotency-Key": key } },
          body: {
            name: name.trim(),
            definitionId,
            scenarioIds: [...chosen],
            ...(connectorId ? { connectorId } : { model: model.trim() }),
            judgeModel: judge.trim() || null,
          },
        }),
      ),
    onSuccess: async (made) => {
      await client.invalidateQueries({ queryKey: ["evals"] });
      await navigate({ to: "/evals/$id", params: { id: made.id } });
    },
  });
  const isFew = chosen.length > 0 && chosen.length <= MAX_SCENARIOS;
  const isValid = name.trim() !== "" && isFew && (connectorId !== "" || model.trim() !== "");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isValid) create.mutate();
  };
  return (
    <form className={page.form} onSubmit={submit}>
      <TextField
        label="Name"
        id="name"
        maxLength={CreateEval.name.maxLength}
        value={name}
        onChange={setName}
      />
      <Field label="Definition" id="definition">
        <select
          id="definition"
          value={definitionId}
          onChange={(event) => {
            setDefinition(event.target.value);
            choose([]);
          }}
        >
          <option value="">choose one</option>
          {definitions.data?.items.map((each) => (
            <option key={each.id} value={each.id}>
              {visible(each.name)}
            </option>
          ))}
        </select>
      </Field>
      {definition && (
        <ScenarioChoice key={definitionId} definition={definition} chosen={chosen} choose={choose} />
      )}
      <Field label="Target" id="connector">
        <select id="connector" value={connectorId} onChange={(event) => setConnector(event.target.value)}>
          <option value="">a model</option>
          {connectors.data?.map((each) => (
            <option key={each.id} value={each.id}>
              the agent {visible(each.name)}
            </option>
          ))}
        </select>
      </Field>
      {connectorId === "" && (
        <ModelField label="Model" id="model" placeholder="provider/name" value={model} change={setModel} />
      )}
      <ModelField
        label="Judge (optional)"
        id="judge"
        note="Judges the criteria of scenarios"
        value={judge}
        change={setJudge}
      />
      <button type="submit" data-kind="primary" disabled={!isValid || create.isPending}>
        {create.isPending ? "Creating…" : "Create"}
      </button>
      {create.isError && <Failure error={create.error} what="No eval was created" />}
    </form>
  );
}
