import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, read } from "../../api/client";
import { runChoicesQuery } from "../../api/experiment_changes";
import { ExperimentFields } from "../../api/limits";
import { useCanWrite } from "../../api/role";
import type { Schemas } from "../../api/types";
import { Field } from "../../ui/field";
import { NewFold } from "../../ui/new_fold";
import page from "../../ui/page.module.css";
import { RunOptionsList } from "../../ui/run_options_list";
import { Failure } from "../../ui/states";
import { TextField } from "../../ui/text_field";

type Direction = NonNullable<Schemas["CreateExperiment"]["direction"]>;
const DIRECTIONS: Readonly<Record<Direction, string>> = {
  HIGHER: "higher than the baseline",
  LOWER: "lower than the baseline",
  EQUIVALENT: "equivalent to the baseline",
};

export function NewExperiment() {
  if (!useCanWrite()) return null;
  return (
    <NewFold noun="experiment">
      <Form />
    </NewFold>
  );
}

function Form() {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [hypothesis, setHypothesis] = useState("");
  const [direction, setDirection] = useState<Direction | "">("");
  const [baseline, setBaseline] = useState("");
  const [key] = useState(() => crypto.randomUUID());
  const runs = useQuery(runChoicesQuery(undefined));
  const create = useMutation({
    mutationFn: async () => {
      const made = await read(
        api.POST("/v1/experiments", {
          params: { header: { "Idempotency-Key": key } },
          body: {
            name: name.trim(),
            hypothesis: hypothesis.trim(),
            direction: direction || null,
            baselineRunId: baseline || null,
          },
        }),
      );
      const path = { experiment_id: made.id, run_id: baseline };
      if (baseline)
        await read(api.PUT("/v1/experiments/{experiment_id}/runs/{run_id}", { params: { path } }));
      return made;
    },
    onSuccess: async (made) => {
      await client.invalidateQueries({ queryKey: ["experiments"] });
      await navigate({ to: "/experiments/$id", params: { id: made.id } });
    },
  });
  const isValid = name.trim() !== "" && hypothesis.trim() !== "";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isValid && !create.isPending) create.mutate();
  };
  return (
    <form className={page.form} onSubmit={submit}>
      <TextField
        label="Name"
        id="name"
        maxLength={ExperimentFields.name.maxLength}
        value={name}
        onChange={setName}
      />
      <TextField
        label="Hypothesis"
        id="hypothesis"
        note="The claim that the experiment tests"
        rows={3}
        maxLength={ExperimentFields.hypothesis.maxLength}
        value={hypothesis}
        onChange={setHypothesis}
      />
      <Field label="The other runs are expected to be (optional)" id="direction">
        <select
          id="direction"
          value={direction}
          onChange={(event) => setDirection(event.target.value as Direction | "")}
        >
          <option value="">no expectation</option>
          {(Object.keys(DIRECTIONS) as Direction[]).map((each) => (
            <option key={each} value={each}>
              {DIRECTIONS[each]}
            </option>
          ))}
        </select>
      </Field>
      <Field
        label="Baseline (optional)"
        id="baseline"
        note="The run that the others are compared with; it can be set later"
      >
        <select id="baseline" value={baseline} onChange={(event) => setBaseline(event.target.value)}>
          <option value="">none yet</option>
          <RunOptionsList runs={runs.data?.items ?? []} />
        </select>
      </Field>
      <button type="submit" data-kind="primary" disabled={!isValid || create.isPending}>
        {create.isPending ? "Creating…" : "Create"}
      </button>
      {create.isError && <Failure error={create.error} what="No experiment was created" />}
    </form>
  );
}
