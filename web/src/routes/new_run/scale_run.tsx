import { useQuery } from "@tanstack/react-query";
import { api, read } from "../../api/client";
import { CreateScaleRun } from "../../api/limits";
import { useModels } from "../../api/models";
import { scaleRunEstimateQuery } from "../../api/queries";
import { connectorNamesQuery, personaNamesQuery } from "../../api/resources";
import { useCanWrite } from "../../api/role";
import type { Schemas } from "../../api/types";
import { parseBudget } from "../../lib/budget";
import { type Bounds, parseWhole } from "../../lib/forms";
import { firstChoice, inOrder } from "../../lib/model_choice";
import { ALL_EVALUATORS, ANY_FORMAT, evaluatorsInput, formatInput } from "../../lib/scale_run";
import { useKept } from "../../ui/kept";
import { ModelField } from "../../ui/model_field";
import { NumberField, wholeNumberError } from "../../ui/number_field";
import { Failure, Loading, RoleTooLow } from "../../ui/states";
import { TextField } from "../../ui/text_field";
import { AnswerFormat } from "./answer_format";
import { BudgetField } from "./budget_field";
import { Choices } from "./choices";
import { EstimateCard, useEstimate } from "./estimate";
import { Evaluators } from "./evaluators";
import { Models } from "./models";
import styles from "./new_run.module.css";
import { NewRunTabs } from "./new_run_tabs";
import { ReportField } from "./report_field";
import { Start } from "./start";

type ScaleRun = Schemas["CreateScaleRun"];

export function NewScaleRun() {
  const canWrite = useCanWrite();
  const models = useModels();
  return (
    <>
      <title>New scale run · Cupel</title>
      <h1>New scale run</h1>
      <NewRunTabs />
      {models.isPending && <Loading what="models" />}
      {models.isError && <Failure error={models.error} what="Models" retry={() => void models.refetch()} />}
      {models.data &&
        (canWrite ? (
          <Form models={models.data} />
        ) : (
          <RoleTooLow detail="Starting a run needs the role member or admin." />
        ))}
    </>
  );
}

const FORM = "scale";

function Form({ models }: { models: readonly Schemas["Model"][] }) {
  const [selected, select] = useKept(FORM, "selected", () => firstChoice(models));
  const [agents, setAgents] = useKept<readonly string[]>(FORM, "agents", []);
  const [system, setSystem] = useKept(FORM, "system", "");
  const [message, setMessage] = useKept(FORM, "message", "");
  const [goal, setGoal] = useKept(FORM, "goal", "");
  const [countText, setCount] = useKept(FORM, "countText", "20");
  const [personas, setPersonas] = useKept<readonly string[]>(FORM, "personas", []);
  const [judge, setJudge] = useKept(FORM, "judge", "");
  const [summarizer, setSummarizer] = useKept(FORM, "summarizer", "");
  const [turnsText, setTurns] = useKept(FORM, "turnsText", "");
  const [evaluators, setEvaluators] = useKept(FORM, "evaluators", ALL_EVALUATORS);
  const [format, setFormat] = useKept(FORM, "format", ANY_FORMAT);
  const [concurrencyText, setConcurrency] = useKept(
    FORM,
    "concurrencyText",
    String(CreateScaleRun.maxConcurrency.default),
  );
  const [budgetText, setBudget] = useKept(FORM, "budgetText", "");
  const [allowUnpriced, setAllowUnpriced] = useKept<boolean>(
    FORM,
    "allowUnpriced",
    CreateScaleRun.allowUnpriced.default,
  );
  const [withReport, setWithReport] = useKept<boolean>(FORM, "withReport", CreateScaleRun.report.default);
  const [withTrial, setWithTrial] = useKept<boolean>(FORM, "withTrial", CreateScaleRun.trial.default);
  const [name, setName] = useKept(FORM, "name", "");
  const count = parseWhole(countText, CreateScaleRun.count);
  const concurrency = parseWhole(concurrencyText, CreateScaleRun.maxConcurrency);
  const turns = parseWhole(turnsText, CreateScaleRun.maxTurns);
  const [chosenEvaluators, chosenFormat] = [evaluatorsInput(evaluators), formatInput(format)];
  const personaNames = useQuery(personaNamesQuery).data ?? [];
  // A connector of the type "tools" executes calls of tools; it answers nobody.
  const connectors = useQuery(connectorNamesQuery).data?.filter((each) => each.type !== "tools") ?? [];
  const mayTry = withReport && system.trim() !== "";
  const budget = parseBudget(budgetText);
  const hasNumbers = typeof count === "number" && concurrency !== undefined && turns !== undefined;
  const isGraded = chosenEvaluators !== undefined && chosenFormat !== undefined;
  const hasSubject = message.trim() !== "" || goal.trim() !== "";
  const missing =
    selected.length + agents.length === 0
      ? "Choose at least one model or agent."
      : !hasSubject
        ? "Write a first user message, a goal, or both."
        : !hasNumbers
          ? "A number is missing or invalid."
          : !isGraded && "An evaluator or the answer format is incomplete.";
  const plan: ScaleRun | null =
    hasNumbers && isGraded && !missing
      ? {
          models: [...selected, ...agents.map((id) => `connector/${id}`)],
          count,
          systemPrompt: system || null,
          userMessage: message || null,
          goal: goal || null,
          personaIds: [...personas],
          maxConcurrency: concurrency,
          report: withReport,
          ...(mayTry && withTrial && { trial: true }),
          ...(turns !== null && { maxTurns: turns }),
          ...(Object.keys(chosenEvaluators).length > 0 && { evaluators: chosenEvaluators }),
          ...(chosenFormat && { format: chosenFormat }),
          ...(judge.trim() && { judgeModel: judge.trim() }),
          ...(summarizer.trim() && { summarizerModel: summarizer.trim() }),
        }
      : null;
  const body: ScaleRun | null =
    plan && budget !== undefined
      ? {
          ...plan,
          ...(name.trim() && { name: name.trim() }),
          ...(budget !== null && { maxBudgetUsd: budget, allowUnpriced }),
        }
      : null;
  const estimate = useEstimate(plan, scaleRunEstimateQuery);
  const send = (input: ScaleRun, key: string) =>
    read(api.POST("/v1/scale-runs", { body: input, params: { header: { "Idempotency-Key": key } } }));
  return (
    <div className={styles.form}>
      <div className={styles.fields}>
        <Models models={inOrder(models)} selected={selected} select={select} />
        <Choices
          label="Agents"
          legend={`Agents: ${agents.length} chosen`}
          items={connectors}
          chosen={agents}
          choose={setAgents}
        />
        <TextField
          label="System prompt"
          id="system"
          rows={6}
          maxLength={CreateScaleRun.systemPrompt.maxLength}
          value={system}
          onChange={setSystem}
        />
        <TextField
          label="First user message (optional)"
          id="user-message"
          rows={3}
          maxLength={CreateScaleRun.userMessage.maxLength}
          note="Without it, a simulated user begins with the goal"
          value={message}
          onChange={setMessage}
        />
        <TextField
          label="Goal (optional)"
          id="goal"
          rows={3}
          maxLength={CreateScaleRun.goal.maxLength}
          note="When a conversation succeeds, and what the simulated user wants"
          value={goal}
          onChange={setGoal}
        />
        <Whole
          label="Conversations per target"
          id="count"
          bounds={CreateScaleRun.count}
          value={countText}
          isValid={typeof count === "number"}
          change={setCount}
        />
        <Choices
          label="Personas"
          legend={`Personas: ${personas.length} chosen, which share the conversations evenly`}
          items={personaNames}
          chosen={personas}
          choose={setPersonas}
        />
        <Whole
          label="Maximum turns per conversation (optional)"
          id="turns"
          bounds={CreateScaleRun.maxTurns}
          value={turnsText}
          isValid={turns !== undefined}
          change={setTurns}
        />
        <ModelField
          label="Judge"
          id="judge"
          placeholder="workspace default"
          value={judge}
          change={setJudge}
        />
        <ModelField
          label="Summarizer of the report"
          id="summarizer"
          placeholder="workspace default, or the judge"
          value={summarizer}
          change={setSummarizer}
        />
        <Evaluators values={evaluators} change={setEvaluators} />
        <AnswerFormat values={format} change={setFormat} />
        <Whole
          label="Concurrency (conversations at once)"
          id="concurrency"
          note="Empty for no limit"
          bounds={CreateScaleRun.maxConcurrency}
          value={concurrencyText}
          isValid={concurrency !== undefined}
          change={setConcurrency}
        />
        <BudgetField
          value={budgetText}
          change={setBudget}
          isUnlimited={(estimate.data?.unpriced.length ?? 0) > 0}
          allowUnpriced={allowUnpriced}
          setAllowUnpriced={setAllowUnpriced}
        />
        <ReportField isOn={withReport} change={setWithReport} />
        <label className={styles.check}>
          <input
            type="checkbox"
            checked={mayTry && withTrial}
            disabled={!mayTry}
            onChange={(event) => setWithTrial(event.target.checked)}
          />
          Try the revised prompt of the report, for at most the run’s cost and two further calls
        </label>
        <TextField
          label="Name (optional)"
          id="name"
          maxLength={CreateScaleRun.name.maxLength}
          value={name}
          onChange={setName}
        />
      </div>
      <aside className={styles.card} aria-label="Estimate">
        {plan ? <EstimateCard estimate={estimate} budget={budget ?? null} /> : <p>{missing}</p>}
        <Start
          form={FORM}
          body={body}
          budget={budget ?? null}
          estimate={estimate.isStale ? undefined : estimate.data}
          send={send}
        />
      </aside>
    </div>
  );
}

interface WholeProps {
  label: string;
  id: string;
  note?: string;
  bounds: Bounds;
  value: string;
  isValid: boolean;
  change: (text: string) => void;
}

function Whole({ label, id, note, bounds, value, isValid, change }: WholeProps) {
  const error = isValid ? null : wholeNumberError(bounds);
  return <NumberField label={label} id={id} note={note} error={error} value={value} change={change} />;
}
