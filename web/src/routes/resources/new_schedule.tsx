import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, read } from "../../api/client";
import { CreateSchedule } from "../../api/limits";
import { definitionsQuery } from "../../api/queries";
import { evalNamesQuery } from "../../api/resources";
import { useCanWrite } from "../../api/role";
import { BUDGET_ERROR, parseBudget } from "../../lib/budget";
import { visible } from "../../lib/format";
import { parseTags } from "../../lib/forms";
import { type Confirmable, useConfirmedStart } from "../../ui/confirmed_start";
import { Field } from "../../ui/field";
import { NewFold } from "../../ui/new_fold";
import { NumberField } from "../../ui/number_field";
import page from "../../ui/page.module.css";
import { ProfileField } from "../../ui/profile_field";
import { Failure } from "../../ui/states";
import { TextField } from "../../ui/text_field";

type Kind = "run" | "evalRun";

export function NewSchedule() {
  const canWrite = useCanWrite();
  if (!canWrite) return null;
  return (
    <NewFold noun="schedule">
      <Form />
    </NewFold>
  );
}

function Form() {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [expression, setExpression] = useState("");
  const [timezone, setTimezone] = useState<string>(CreateSchedule.timezone.default);
  const [kind, setKind] = useState<Kind>("run");
  const [source, setSource] = useState("");
  const [models, setModels] = useState("");
  const [budgetText, setBudget] = useState("");
  const [profile, setProfile] = useState("");
  const [key, setKey] = useState(() => crypto.randomUUID());
  const definitions = useQuery(definitionsQuery);
  const evals = useQuery(evalNamesQuery);
  const budget = parseBudget(budgetText);
  const options = kind === "run" ? (definitions.data?.items ?? []) : (evals.data ?? []);
  const shared = {
    ...(typeof budget === "number" && { maxBudgetUsd: budget }),
    ...(profile && { config: { profileId: profile } }),
  };
  const { start, isSending, isStarted, question, error } = useConfirmedStart(
    (agreed: Confirmable) =>
      read(
        api.POST("/v1/schedules", {
          params: { header: { "Idempotency-Key": key } },
          body: {
            name: name.trim(),
            expression: expression.trim(),
            timezone: timezone.trim(),
            ...(kind === "run"
              ? { run: { definitionId: source, models: parseTags(models), ...shared, ...agreed } }
              : { evalRun: { evalId: source, ...shared, ...agreed } }),
          },
        }),
      ),
    async () => {
      await client.invalidateQueries({ queryKey: ["schedules"] });
      setName("");
      setKey(crypto.randomUUID());
    },
  );
  const hasTargets = kind === "evalRun" || parseTags(models).length > 0;
  const isComplete = [name, expression, timezone, source].every((each) => each.trim() !== "") && hasTargets;
  const isValid = isComplete && budget !== undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isValid) start({});
  };
  return (
    <form className={page.form} onSubmit={submit}>
      <TextField
        label="Name"
        id="name"
        maxLength={CreateSchedule.name.maxLength}
        value={name}
        onChange={setName}
      />
      <TextField
        label="When"
        id="expression"
        maxLength={CreateSchedule.expression.maxLength}
        note="Such as rate(6 hours), cron(0 9 ? * MON-FRI *) or at(2027-01-31T09:30:00)"
        value={expression}
        onChange={setExpression}
      />
      <TextField
        label="Time zone"
        id="timezone"
        maxLength={CreateSchedule.timezone.maxLength}
        note="Such as Europe/Berlin"
        value={timezone}
        onChange={setTimezone}
      />
      <Field label="Starts" id="kind">
        <select
          id="kind"
          value={kind}
          onChange={(event) => {
            setKind(event.target.value as Kind);
            setSource("");
          }}
        >
          <option value="run">a run of a definition</option>
          <option value="evalRun">a run of an eval</option>
        </select>
      </Field>
      <Field label={kind === "run" ? "Definition" : "Eval"} id="source">
        <select id="source" value={source} onChange={(event) => setSource(event.target.value)}>
          <option value="">choose one</option>
          {options.map((each) => (
            <option key={each.id} value={each.id}>
              {visible(each.name)}
            </option>
          ))}
        </select>
      </Field>
      {kind === "run" && (
        <TextField
          label="Models"
          id="models"
          maxLength={20_000}
          note="As provider/name, separated by commas"
          value={models}
          onChange={setModels}
        />
      )}
      <ProfileField value={profile} change={setProfile} />
      <NumberField
        label="Budget per run in USD (optional)"
        id="budget"
        error={budget === undefined ? BUDGET_ERROR : null}
        isAmount
        size={10}
        value={budgetText}
        change={setBudget}
      />
      <button type="submit" data-kind="primary" disabled={!isValid || isSending}>
        {isSending ? "Creating…" : "Create"}
      </button>
      {question}
      {error && <Failure error={error} what="No schedule was created" />}
      {isStarted && <p role="status">Created.</p>}
    </form>
  );
}
