import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, ifMatch, read } from "../../api/client";
import { UpdateBudgets } from "../../api/limits";
import { useIsAdmin } from "../../api/role";
import { budgetsQuery, settingsQuery } from "../../api/system";
import type { Schemas } from "../../api/types";
import { parseBudget } from "../../lib/budget";
import { formatUsd, visible } from "../../lib/format";
import { changesOf } from "../../lib/forms";
import { NumberField } from "../../ui/number_field";
import page from "../../ui/page.module.css";
import { Section } from "../../ui/section";
import { Failure, Loading } from "../../ui/states";
import { TextField } from "../../ui/text_field";
import { BudgetBar, BudgetFigure, roleSentence } from "../budget";
import styles from "../budget.module.css";
import { SystemTabs } from "./system_tabs";

type Period = Schemas["PeriodBudget"];
type Limits = Schemas["BudgetLimits"];

export function WorkspaceBudgets() {
  const isAdmin = useIsAdmin();
  const budgets = useQuery(budgetsQuery);
  const settings = useQuery({ ...settingsQuery, enabled: isAdmin });
  const { data } = budgets;
  return (
    <>
      <title>Budgets · Cupel</title>
      <h1>Budgets</h1>
      <SystemTabs />
      {budgets.isPending && <Loading what="budgets" />}
      {budgets.isError && (
        <Failure error={budgets.error} what="Budgets" retry={() => void budgets.refetch()} />
      )}
      {data && (
        <>
          <PeriodSection title="Today" period={data.day} timezone={data.timezone} />
          <PeriodSection title="This month" period={data.month} timezone={data.timezone} />
        </>
      )}
      {settings.isError && (
        <Failure error={settings.error} what="The limits" retry={() => void settings.refetch()} />
      )}
      {isAdmin && settings.data ? (
        <Form key={settings.data.etag} limits={settings.data.value.budgets} etag={settings.data.etag} />
      ) : (
        !isAdmin && <p className={page.note}>Changing budgets needs the role admin.</p>
      )}
    </>
  );
}

interface PeriodProps {
  title: string;
  period: Period;
  timezone: string;
}

function PeriodSection({ title, period, timezone }: PeriodProps) {
  const { limitUsd, availableUsd, spentUsd, uncertainUsd, reservedUsd, byRole } = period;
  if (spentUsd === null || uncertainUsd === null || reservedUsd === null || byRole === null)
    return (
      <Section title={`${title}: ${visible(period.period)}, ${visible(timezone)}`}>
        <p className={styles.note}>No limit. Spending is counted once the workspace has a budget.</p>
      </Section>
    );
  return (
    <Section title={`${title}: ${visible(period.period)}, ${visible(timezone)}`}>
      {availableUsd !== null && availableUsd <= 0 && (
        <p role="status" className={styles.reached}>
          ‖ The budget is used up: runs are paused until {new Date(period.endsAt).toLocaleString()}, or until
          it is raised.
        </p>
      )}
      {limitUsd !== null && (
        <BudgetBar budget={{ spentUsd, uncertainUsd, reservedUsd, maxBudgetUsd: limitUsd }} />
      )}
      <dl className={styles.figures}>
        <BudgetFigure name="Spent" usd={spentUsd} />
        {uncertainUsd > 0 && (
          <BudgetFigure name="Uncertain" usd={uncertainUsd} note="calls that may have been billed" />
        )}
        {reservedUsd > 0 && <BudgetFigure name="Reserved" usd={reservedUsd} note="for calls in flight" />}
        {limitUsd === null ? (
          <div>
            <dt>Limit</dt>
            <dd>none</dd>
          </div>
        ) : (
          <>
            <BudgetFigure name="Limit" usd={limitUsd} />
            <BudgetFigure name="Available" usd={Math.max(0, availableUsd ?? 0)} />
          </>
        )}
      </dl>
      {roleSentence(byRole) && <p className={styles.note}>{roleSentence(byRole)}</p>}
    </Section>
  );
}

function Form({ limits, etag }: { limits: Limits; etag: string | null }) {
  const client = useQueryClient();
  const [day, setDay] = useState(limits.dayUsd === null ? "" : String(limits.dayUsd));
  const [month, setMonth] = useState(limits.monthUsd === null ? "" : String(limits.monthUsd));
  const [timezone, setTimezone] = useState(limits.timezone);
  const save = useMutation({
    mutationFn: (budgets: Schemas["UpdateBudgets"]) =>
      read(api.PUT("/v1/settings", { params: { header: ifMatch(etag) }, body: { budgets } })),
    // The form begins anew with the new settings before anything else shows that they are saved.
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["settings"] });
      await client.invalidateQueries({ queryKey: ["budgets"] });
    },
  });
  const [dayUsd, monthUsd] = [
    parseBudget(day, UpdateBudgets.dayUsd),
    parseBudget(month, UpdateBudgets.monthUsd),
  ];
  const isValid = dayUsd !== undefined && monthUsd !== undefined && timezone.trim() !== "";
  const changes = isValid ? changesOf(limits, { dayUsd, monthUsd, timezone: timezone.trim() }) : {};
  const isChanged = Object.keys(changes).length > 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isChanged) save.mutate(changes);
  };
  return (
    <Section title="Limits">
      <form className={page.form} onSubmit={submit}>
        <Amount label="Daily budget in USD" id="day" value={day} amount={dayUsd} change={setDay} />
        <Amount label="Monthly budget in USD" id="month" value={month} amount={monthUsd} change={setMonth} />
        <TextField
          label="Time zone"
          id="timezone"
          maxLength={UpdateBudgets.timezone.maxLength}
          note="In which days and months begin, such as Europe/Berlin"
          value={timezone}
          onChange={setTimezone}
        />
        <button type="submit" data-kind="primary" disabled={!isChanged || save.isPending}>
          {save.isPending ? "Saving…" : "Save"}
        </button>
        {save.isError && <Failure error={save.error} what="The budgets were not changed" />}
      </form>
    </Section>
  );
}

interface AmountProps {
  label: string;
  id: string;
  value: string;
  amount: number | null | undefined;
  change: (text: string) => void;
}

function Amount({ label, id, value, amount, change }: AmountProps) {
  const bounds = `An amount such as 5 or 0.25, at most ${formatUsd(UpdateBudgets.dayUsd.max)}`;
  return (
    <NumberField
      label={label}
      id={id}
      error={amount === undefined ? bounds : null}
      note="Empty for no limit"
      isAmount
      size={12}
      value={value}
      change={change}
    />
  );
}
