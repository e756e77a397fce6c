import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, read } from "../../api/client";
import { useCanWrite } from "../../api/role";
import { budgetsQuery, queuesQuery } from "../../api/system";
import type { ProviderQueue } from "../../api/types";
import { formatCount, formatUsd, visible } from "../../lib/format";
import { isIdle, queueStates } from "../../lib/queues";
import { FigureHeader } from "../../ui/figure_header";
import page from "../../ui/page.module.css";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import { Failure, Loading } from "../../ui/states";
import { DeadLetters } from "./dead_letters";

export function QueuePage() {
  const query = useQuery(queuesQuery);
  return (
    <>
      <title>Queue · Cupel</title>
      <h1>Queue</h1>
      <p className={page.note}>
        Probes that wait for a worker, by the provider that they call. Counts are approximate and refreshed
        every five seconds.
      </p>
      {query.isPending && <Loading what="queues" />}
      {query.isError && <Failure error={query.error} what="Queues" retry={() => void query.refetch()} />}
      {query.data && <Queues queues={query.data} />}
      <SpentToday />
      <DeadLetters />
    </>
  );
}

function SpentToday() {
  const query = useQuery(budgetsQuery);
  if (query.isError) return <Failure error={query.error} what="Budgets" retry={() => void query.refetch()} />;
  if (!query.data) return null;
  const { spentUsd, limitUsd } = query.data.day;
  return (
    <p className={page.facts}>
      {spentUsd === null ? (
        "Spending is counted once the workspace has a budget. "
      ) : (
        <>
          Spent today: {formatUsd(spentUsd)}
          {limitUsd !== null && ` of ${formatUsd(limitUsd)}`}.{" "}
        </>
      )}
      <Link to="/settings/budgets">Budgets</Link>
    </p>
  );
}

function Queues({ queues }: { queues: readonly ProviderQueue[] }) {
  const [isWhole, showAll] = useState(false);
  const busy = queues.filter((each) => !isIdle(each));
  const shown = isWhole ? queues : busy;
  return (
    <Section title="Providers">
      {shown.length === 0 && <p>Nothing is waiting or delayed.</p>}
      {shown.length > 0 && <Table queues={shown} />}
      <p className={`${page.bar} ${page.below}`} data-actions>
        <PauseAll queues={queues} />
        <label className={page.check}>
          <input type="checkbox" checked={isWhole} onChange={(event) => showAll(event.target.checked)} />
          Also the {formatCount(queues.length - busy.length)} providers without work
        </label>
      </p>
    </Section>
  );
}

function useSwitch() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ provider, isPaused }: { provider: string | null; isPaused: boolean }) =>
      isPaused
        ? read(api.POST("/v1/queue/resume", { body: { provider } }))
        : read(api.POST("/v1/queue/pause", { body: { provider } })),
    onSettled: () => client.invalidateQueries({ queryKey: ["queue"] }),
  });
}

function PauseAll({ queues }: { queues: readonly ProviderQueue[] }) {
  const canWrite = useCanWrite();
  const change = useSwitch();
  if (!canWrite) return null;
  const isPaused = queues.every((each) => each.paused);
  return (
    <>
      <button
        type="button"
        disabled={change.isPending}
        onClick={() => change.mutate({ provider: null, isPaused })}
      >
        {isPaused ? "Resume all" : "Pause all"}
      </button>
      {change.isError && <Failure error={change.error} what="The queues were not changed" />}
    </>
  );
}

function Table({ queues }: { queues: readonly ProviderQueue[] }) {
  const canWrite = useCanWrite();
  const change = useSwitch();
  return (
    <>
      {change.isError && <Failure error={change.error} what="The queue was not changed" />}
      <ScrollRegion label="Queues by provider">
        <table>
          <thead>
            <tr>
              <th scope="col">Provider</th>
              <FigureHeader>Waiting</FigureHeader>
              <FigureHeader>Parallel requests</FigureHeader>
              <FigureHeader>Workers</FigureHeader>
              <FigureHeader>Dead letters</FigureHeader>
              <th scope="col">State</th>
              {canWrite && (
                <th scope="col">
                  <span className="hidden-text">Action</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {queues.map((queue) => (
              <tr key={queue.provider}>
                <th scope="row" className={page.name}>
                  <Link to="/providers/$name" params={{ name: queue.provider }}>
                    {visible(queue.provider)}
                  </Link>
                </th>
                <td className="figure">{formatCount(queue.pending)}</td>
                <td className="figure">
                  {formatCount(queue.granted)}
                  {queue.limit !== null && ` of ${formatCount(queue.limit)}`}
                </td>
                <td className="figure">{formatCount(queue.workers)}</td>
                <td className="figure">{formatCount(queue.deadLetters)}</td>
                <td className={page.name}>
                  {queueStates(queue, (time) => new Date(time).toLocaleTimeString()).map((state) => (
                    <span key={state} className={page.line}>
                      {visible(state)}
                    </span>
                  ))}
                </td>
                {canWrite && (
                  <td className="figure">
                    <button
                      type="button"
                      aria-label={`${queue.paused ? "Resume" : "Pause"} ${visible(queue.provider)}`}
                      disabled={change.isPending}
                      onClick={() => change.mutate({ provider: queue.provider, isPaused: queue.paused })}
                    >
                      {queue.paused ? "Resume" : "Pause"}
                    </button>
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </>
  );
}
