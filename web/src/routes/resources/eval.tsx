import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { api, read } from "../../api/client";
import { CreateEvalRun } from "../../api/limits";
import { evalEstimateQuery, evalQuery } from "../../api/resources";
import { useCanWrite } from "../../api/role";
import type { Eval, EvalRun, Schemas } from "../../api/types";
import { parseBudget } from "../../lib/budget";
import { counted, visible } from "../../lib/format";
import { parseWhole } from "../../lib/forms";
import { useKept } from "../../ui/kept";
import { NumberField, wholeNumberError } from "../../ui/number_field";
import page from "../../ui/page.module.css";
import { ProfileField } from "../../ui/profile_field";
import { Section } from "../../ui/section";
import { Failure, Loading } from "../../ui/states";
import { TargetList } from "../../ui/target_list";
import { BudgetField } from "../new_run/budget_field";
import { EstimateCard, useEstimate } from "../new_run/estimate";
import { ReportField } from "../new_run/report_field";
import { Start } from "../new_run/start";

const route = getRouteApi("/evals/$id");

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
        <span>
          <TargetList targets={found.targets} />
        </span>
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
      {canWrite && <Run id={id} />}
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

function Run({ id }: { id: string }) {
  const form = `eval.${id}`;
  const [repeats, setRepeats] = useKept(form, "repeats", String(CreateEvalRun.repeats.default));
  const [budgetText, setBudget] = useKept(form, "budget", "");
  const [allowUnpriced, setAllowUnpriced] = useKept<boolean>(
    form,
    "allowUnpriced",
    CreateEvalRun.allowUnpriced.default,
  );
  const [withReport, setWithReport] = useKept<boolean>(form, "withReport", CreateEvalRun.report.default);
  const [profile, setProfile] = useKept(form, "profile", "");
  const [count, budget] = [parseWhole(repeats, CreateEvalRun.repeats), parseBudget(budgetText)];
  const plan: EvalRun | null =
    typeof count === "number"
      ? {
          repeats: count,
          ...(profile && { config: { profileId: profile } }),
          ...(withReport && { report: true }),
        }
      : null;
  const body: EvalRun | null =
    plan && budget !== undefined
      ? { ...plan, ...(budget !== null && { maxBudgetUsd: budget, allowUnpriced }) }
      : null;
  const estimate = useEstimate(plan, (input: EvalRun) => evalEstimateQuery(id, input));
  const send = (input: EvalRun, key: string) =>
    read(
      api.POST("/v1/evals/{eval_id}/runs", {
        params: { path: { eval_id: id }, header: { "Idempotency-Key": key } },
        body: input as Schemas["CreateEvalRun"],
      }),
    );
  return (
    <Section title="Run it">
      <div className={page.form}>
        <NumberField
          label="Repeats per scenario"
          id="repeats"
          error={typeof count === "number" ? null : wholeNumberError(CreateEvalRun.repeats)}
          size={6}
          value={repeats}
          change={setRepeats}
        />
        <ProfileField value={profile} change={setProfile} />
        <BudgetField
          value={budgetText}
          change={setBudget}
          isUnlimited={(estimate.data?.unpriced.length ?? 0) > 0}
          allowUnpriced={allowUnpriced}
          setAllowUnpriced={setAllowUnpriced}
        />
        <ReportField isOn={withReport} change={setWithReport} />
        {plan && <EstimateCard estimate={estimate} budget={budget ?? null} />}
        <Start
          form={form}
          body={body}
          budget={budget ?? null}
          estimate={estimate.isStale ? undefined : estimate.data}
          send={send}
        />
      </div>
    </Section>
  );
}
