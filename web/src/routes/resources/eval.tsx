import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { ApiError, api, read } from "../../api/client";
import { type Eval, evalEstimateQuery, evalQuery } from "../../api/resources";
import { useCanWrite } from "../../api/role";
import { counted, formatUsd, visible } from "../../lib/format";
import { parseWhole } from "../../lib/forms";
import { targetNames } from "../../lib/targets";
import { Field } from "../../ui/field";
import page from "../../ui/page.module.css";
import { Section } from "../../ui/section";
import { Failure, Loading } from "../../ui/states";

const route = getRouteApi("/evals/$id");
const MAX_REPEATS = 1000;

export function EvalPage() {
  const { id } = route.useParams();
  const canWrite = useCanWrite();
  const query = useQuery(evalQuery(id));
  if (query.isPending) return <Loading what="the eval" />;
  if (query.data === undefined)
    return <Failure error={query.error} what={`Eval ${visible(id)}`} retry={() => void query.refetch()} />;
  const found = query.data;
  return (
    <>
      <title>{`${visible(found.name)} · Cupel`}</title>
      <p>
        <Link to="/evals">All evals</Link>
      </p>
      <h1>{visible(found.name)}</h1>
      <p className={page.facts}>
        <Link to="/definitions/$id/scenarios" params={{ id: found.definitionId }}>
          {counted(found.scenarioIds.length, "scenario")} of its definition
        </Link>
        <span>{visible(targetNames(found.targets))}</span>
        <Link to="/runs" search={{ definition: found.definitionId }}>
          Runs of the definition
        </Link>
        <Link to="/runs" search={{ eval: id }}>
          Runs of this eval
        </Link>
        {canWrite && (
          <Link to="/evals/$id/edit" params={{ id }}>
            Edit
          </Link>
        )}
      </p>
      <Judges found={found} />
      {canWrite && <Start id={id} />}
    </>
  );
}

function Judges({ found }: { found: Eval }) {
  const rows = [
    ["Judge", found.judgeModel],
    ["Simulated users", found.personaModel],
    ["Embeddings", found.embeddingModel],
    ["External evaluator", found.evaluatorUrl],
  ] as const;
  return (
    <Section title="Graders">
      <dl className={page.pairs}>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{visible(value ?? "none")}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

function Start({ id }: { id: string }) {
  const navigate = useNavigate();
  const [repeats, setRepeats] = useState("1");
  const [key] = useState(() => crypto.randomUUID());
  const count = parseWhole(repeats, 1, MAX_REPEATS);
  const estimate = useQuery({ ...evalEstimateQuery(id, count ?? 1), enabled: typeof count === "number" });
  const start = useMutation({
    mutationFn: (body: { repeats: number }) =>
      read(
        api.POST("/v1/evals/{eval_id}/runs", {
          params: { path: { eval_id: id }, header: { "Idempotency-Key": key } },
          body,
        }),
      ),
    onSuccess: (started) => navigate({ to: "/runs/$id", params: { id: started.run.id } }),
    retry: (failures, error) => failures < 3 && error instanceof ApiError && error.isTransient,
  });
  const isSending = start.isPending || start.isSuccess;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typeof count === "number" && !isSending) start.mutate({ repeats: count });
  };
  return (
    <Section title="Run it">
      <form className={page.form} onSubmit={submit}>
        <Field
          label="Repeats of each case"
          id="repeats"
          error={typeof count === "number" ? null : "A whole number from 1 to 1,000"}
          note={
            estimate.data &&
            `${counted(estimate.data.jobCount, "conversation")}, ${formatUsd(estimate.data.usd.expected)} expected`
          }
        >
          <input
            id="repeats"
            inputMode="numeric"
            size={6}
            value={repeats}
            onChange={(event) => setRepeats(event.target.value)}
          />
        </Field>
        {estimate.isError && <Failure error={estimate.error} what="The estimate" />}
        <button type="submit" data-kind="primary" disabled={typeof count !== "number" || isSending}>
          {isSending ? "Starting…" : "Start"}
        </button>
        {start.isError && <Failure error={start.error} what="The run was not started" />}
      </form>
    </Section>
  );
}
