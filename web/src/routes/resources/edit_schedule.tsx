import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { ApiError, api, ifMatch, read, readTagged } from "../../api/client";
import { CreateRun, CreateSchedule } from "../../api/limits";
import { definitionsQuery } from "../../api/queries";
import { evalNamesQuery, scheduleEditQuery } from "../../api/resources";
import { useCanWrite } from "../../api/role";
import type { Schedule, Schemas } from "../../api/types";
import { BUDGET_ERROR, parseBudget } from "../../lib/budget";
import type { Issue } from "../../lib/content_fields";
import { visible } from "../../lib/format";
import { changesOf, parseWhole } from "../../lib/forms";
import { TARGETS } from "../../lib/parameter_fields";
import { changedStart } from "../../lib/schedules";
import { areTargets, haveFields, parseTargets, targetInputs, targetsText } from "../../lib/targets";
import { ConfirmCost, refusalOf } from "../../ui/confirmed_start";
import { DeleteResource } from "../../ui/delete_resource";
import { EditForm } from "../../ui/edit_form";
import { Field } from "../../ui/field";
import { NumberField, wholeNumberError } from "../../ui/number_field";
import { ProfileField } from "../../ui/profile_field";
import { Failure, Loading, RoleTooLow } from "../../ui/states";
import { TargetsField } from "../../ui/targets_field";
import { TextField } from "../../ui/text_field";
import { JsonFields, useEditedContent } from "../definitions/json_fields";

const route = getRouteApi("/schedules/$id");
const NO_ISSUES: readonly Issue[] = [];

export function EditSchedule() {
  const { id } = route.useParams();
  const canWrite = useCanWrite();
  const query = useQuery(scheduleEditQuery(id));
  if (!canWrite) return <RoleTooLow detail="Changing a schedule needs the role member or admin." />;
  if (query.isPending) return <Loading what="the schedule" />;
  if (query.data === undefined)
    return (
      <Failure error={query.error} what={`Schedule ${visible(id)}`} retry={() => void query.refetch()} />
    );
  const { value: schedule, etag } = query.data;
  return (
    <>
      <title>{`${visible(schedule.name)} · Cupel`}</title>
      <p>
        <Link to="/schedules">All schedules</Link>
      </p>
      <h1>{visible(schedule.name)}</h1>
      <Form key={etag} schedule={schedule} etag={etag} reload={() => void query.refetch()} />
      <DeleteResource noun="schedule" list="schedules" remove={() => remove(id)}>
        It starts nothing any more; its runs stay.
      </DeleteResource>
    </>
  );
}

const remove = (id: string) =>
  read(api.DELETE("/v1/schedules/{schedule_id}", { params: { path: { schedule_id: id } } }));

interface FormProps {
  schedule: Schedule;
  etag: string | null;
  reload: () => void;
}

function Form({ schedule, etag, reload }: FormProps) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const { run, evalRun } = schedule;
  const started = run ?? evalRun;
  const isListed = haveFields(run?.targets ?? []);
  const edited = useEditedContent(isListed ? { targets: targetInputs(run?.targets ?? []) } : {});
  const stored = {
    source: run?.definitionId ?? evalRun?.evalId ?? "",
    targets: targetsText(run?.targets ?? []),
    profile: started?.config.profileId ?? "",
    repeats: String(started?.repeats ?? CreateRun.repeats.default),
    budget: started?.maxBudgetUsd == null ? "" : started.maxBudgetUsd.toFixed(8).replace(/\.?0+$/, ""),
  };
  const [name, setName] = useState(schedule.name);
  const [expression, setExpression] = useState(schedule.expression);
  const [timezone, setTimezone] = useState(schedule.timezone);
  const [source, setSource] = useState(stored.source);
  const [targetText, setTargets] = useState(stored.targets);
  const [repeatText, setRepeats] = useState(stored.repeats);
  const [budgetText, setBudget] = useState(stored.budget);
  const [profile, setProfile] = useState(stored.profile);
  const [budget, repeats] = [parseBudget(budgetText), parseWhole(repeatText, CreateRun.repeats)];
  const targets = isListed ? edited.content["targets"] : parseTargets(targetText);
  const areTargetsChanged = targetText !== stored.targets || edited.changed.length > 0;
  const isStartChanged =
    source !== stored.source ||
    areTargetsChanged ||
    profile !== stored.profile ||
    repeatText !== stored.repeats ||
    budgetText !== stored.budget;
  const fieldChanges = changesOf(schedule, {
    name: name.trim(),
    expression: expression.trim(),
    timezone: timezone.trim(),
  });
  const isChanged = isStartChanged || Object.keys(fieldChanges).length > 0;
  const hasTexts = [name, expression, timezone, source].every((each) => each.trim() !== "");
  const isValid =
    hasTexts &&
    budget !== undefined &&
    typeof repeats === "number" &&
    (!run || areTargets(targets)) &&
    edited.isValid;
  const save = useMutation({
    mutationFn: async ({ isOver, confirmedUsd }: { isOver: boolean; confirmedUsd?: number }) => {
      if (budget === undefined || typeof repeats !== "number") return;
      const path = { schedule_id: schedule.id };
      const latest = () => readTagged(api.GET("/v1/schedules/{schedule_id}", { params: { path } }));
      // Fields of the start that the form does not show come from the overwritten state.
      const base = isOver ? await latest() : { value: schedule, etag };
      const start = changedStart(base.value, {
        sourceId: source,
        targets: run && areTargetsChanged ? (targets as Schemas["TargetInput"][]) : undefined,
        repeats,
        maxBudgetUsd: budget,
        profileId: profile === stored.profile ? undefined : profile || null,
        confirmedUsd,
      });
      await read(
        api.PATCH("/v1/schedules/{schedule_id}", {
          params: { path, header: ifMatch(base.etag) },
          body: { ...fieldChanges, ...(isStartChanged && start) } as Schemas["UpdateSchedule"],
        }),
      );
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["schedules"], refetchType: "none" });
      await navigate({ to: "/schedules" });
    },
  });
  const refusal = refusalOf(save.error);
  const fields = save.error instanceof ApiError ? save.error.fields : NO_ISSUES;
  const of = (field: string) => fields.filter((each) => each.field.startsWith(field));
  const refused = useMemo(
    () =>
      fields
        .filter((each) => each.field.startsWith("run."))
        .map((each) => ({ ...each, field: each.field.slice("run.".length) })),
    [fields],
  );
  return (
    <EditForm
      failure="The schedule was not changed"
      isChanged={isChanged}
      isValid={isValid}
      saving={save}
      reload={reload}
    >
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
        error={of("expression")[0]?.message}
        value={expression}
        onChange={setExpression}
      />
      <TextField
        label="Time zone"
        id="timezone"
        maxLength={CreateSchedule.timezone.maxLength}
        note="Such as Europe/Berlin"
        error={of("timezone")[0]?.message}
        value={timezone}
        onChange={setTimezone}
      />
      <Source kind={run ? "definition" : "eval"} value={source} change={setSource} />
      {run && !isListed && (
        <TargetsField value={targetText} change={setTargets} error={of("run.targets")[0]?.message} />
      )}
      {isListed && <JsonFields fields={[TARGETS]} edited={edited} issues={refused} />}
      <NumberField
        label="Repeats per scenario"
        id="repeats"
        error={typeof repeats === "number" ? null : wholeNumberError(CreateRun.repeats)}
        size={6}
        value={repeatText}
        change={setRepeats}
      />
      <ProfileField
        value={profile}
        change={setProfile}
        error={of(run ? "run.config.profileId" : "evalRun.config.profileId")[0]?.message}
      />
      <NumberField
        label="Budget per run in USD (optional)"
        id="budget"
        error={budget === undefined ? BUDGET_ERROR : null}
        isAmount
        size={10}
        value={budgetText}
        change={setBudget}
      />
      {refusal && save.variables && (
        <ConfirmCost
          refusal={refusal}
          isChanged={save.variables.confirmedUsd !== undefined}
          confirm={(confirmedUsd) => save.mutate({ ...save.variables, confirmedUsd })}
          close={save.reset}
        />
      )}
    </EditForm>
  );
}

interface SourceProps {
  kind: "definition" | "eval";
  value: string;
  change: (id: string) => void;
}

function Source({ kind, value, change }: SourceProps) {
  const definitions = useQuery({ ...definitionsQuery, enabled: kind === "definition" });
  const evals = useQuery({ ...evalNamesQuery, enabled: kind === "eval" });
  const options = kind === "definition" ? (definitions.data?.items ?? []) : (evals.data ?? []);
  const isKnown = options.some((each) => each.id === value);
  return (
    <Field label={kind === "definition" ? "Definition" : "Eval"} id="source">
      <select id="source" value={value} onChange={(event) => change(event.target.value)}>
        {!isKnown && <option value={value}>{visible(value)}</option>}
        {options.map((each) => (
          <option key={each.id} value={each.id}>
            {visible(each.name)}
          </option>
        ))}
      </select>
    </Field>
  );
}
