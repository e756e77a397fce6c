import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, read } from "../../api/client";
import { schedulesQuery } from "../../api/resources";
import { useCanWrite } from "../../api/role";
import type { Schedule } from "../../api/types";
import { visible } from "../../lib/format";
import { HowToCreate } from "../../ui/how_to_create";
import { type Column, ListScreen } from "../../ui/list_screen";
import page from "../../ui/page.module.css";
import { Empty, Failure } from "../../ui/states";
import { TargetList } from "../../ui/target_list";
import { Ago } from "../../ui/time";
import { NewSchedule } from "./new_schedule";
import { ResourceTabs } from "./resource_tabs";

const STATES = {
  PENDING: "is being registered",
  ENABLED: "on",
  DISABLED: "off",
  ENDED: "has fired",
} as const;

const COLUMNS: readonly Column<Schedule>[] = [
  { name: "Schedule", cell: (each) => <Name schedule={each} /> },
  {
    name: "When",
    cell: (each) => (
      <>
        <code>{visible(each.expression)}</code> {visible(each.timezone)}
      </>
    ),
  },
  { name: "Starts", cell: (each) => <What schedule={each} /> },
  { name: "State", cell: (each) => <State schedule={each} /> },
  { name: "Last firings", cell: (each) => <Firings schedule={each} /> },
];

export function Schedules() {
  return (
    <>
      <title>Schedules · Cupel</title>
      <h1>Schedules</h1>
      <ResourceTabs />
      <NewSchedule />
      <ListScreen
        noun="schedule"
        query={schedulesQuery}
        columns={COLUMNS}
        empty={
          <Empty title="No schedules yet">
            <p>A schedule starts a run at a given time, or repeatedly.</p>
            <HowToCreate noun="schedule" />
          </Empty>
        }
      />
    </>
  );
}

/** Links to the schedule for users who may change it: there is nothing else to see. */
function Name({ schedule }: { schedule: Schedule }) {
  const name = visible(schedule.name);
  if (!useCanWrite()) return name;
  return (
    <Link to="/schedules/$id" params={{ id: schedule.id }}>
      {name}
    </Link>
  );
}

function What({ schedule }: { schedule: Schedule }) {
  const { run, evalRun } = schedule;
  if (evalRun) {
    return (
      <Link to="/evals/$id" params={{ id: evalRun.evalId }}>
        its eval
      </Link>
    );
  }
  if (!run) return null;
  return (
    <>
      <Link to="/definitions/$id" params={{ id: run.definitionId }}>
        its definition
      </Link>
      <span className={page.line}>
        <TargetList targets={run.targets} />
      </span>
    </>
  );
}

function State({ schedule }: { schedule: Schedule }) {
  const canWrite = useCanWrite();
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: () =>
      read(
        api.PATCH("/v1/schedules/{schedule_id}", {
          params: { path: { schedule_id: schedule.id } },
          body: { enabled: !schedule.enabled },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ["schedules"] }),
  });
  return (
    <>
      {STATES[schedule.status]}{" "}
      {canWrite && schedule.status !== "ENDED" && (
        <button type="button" disabled={change.isPending} onClick={() => change.mutate()}>
          {schedule.enabled ? "Switch off" : "Switch on"}
          <span className="hidden-text"> {visible(schedule.name)}</span>
        </button>
      )}
      {change.isError && <Failure error={change.error} what="The schedule was not changed" />}
    </>
  );
}

/** Lists firings newest first, each with its run or why there is none. */
function Firings({ schedule }: { schedule: Schedule }) {
  if (schedule.firings.length === 0) return <span className={page.note}>none yet</span>;
  return schedule.firings.slice(0, 10).map((firing) => (
    <span key={firing.firedAt + firing.scheduledTime} className={page.line}>
      {firing.runId ? (
        <Link to="/runs/$id" params={{ id: firing.runId }}>
          <Ago time={firing.firedAt} />
        </Link>
      ) : (
        <>
          <Ago time={firing.firedAt} />: {visible(firing.error ?? "no run")}
        </>
      )}
    </span>
  ));
}
