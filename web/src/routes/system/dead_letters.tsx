import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, read } from "../../api/client";
import { useCanWrite } from "../../api/role";
import { deadLettersQuery } from "../../api/system";
import type { DeadLetter, Schemas } from "../../api/types";
import { counted, formatCount, visible } from "../../lib/format";
import { FigureHeader } from "../../ui/figure_header";
import { More } from "../../ui/more";
import page from "../../ui/page.module.css";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import { Failure, Loading } from "../../ui/states";

type Result = Schemas["RedriveResult"];

/** Lists messages that failed too often: their probes are recorded as errored. */
export function DeadLetters() {
  const query = useInfiniteQuery(deadLettersQuery);
  const client = useQueryClient();
  const canWrite = useCanWrite();
  const redrive = useMutation({
    mutationFn: (messageIds: string[] | null) =>
      read(api.POST("/v1/queue/dead-letters/redrive", { body: { messageIds } })),
    onSettled: () => client.invalidateQueries({ queryKey: ["queue"] }),
  });
  const items = query.data?.pages.flatMap((each) => each.items) ?? [];
  return (
    <Section title="Dead letters">
      {query.isPending && <Loading rows={2} what="dead letters" />}
      {query.isError && (
        <Failure error={query.error} what="Dead letters" retry={() => void query.refetch()} />
      )}
      {query.isSuccess && items.length === 0 && (
        <p className={page.note}>
          None. A message that fails too often comes here, and its probes are recorded as errored.
        </p>
      )}
      {redrive.isError && <Failure error={redrive.error} what="Nothing was sent again" />}
      {redrive.data && <Sent result={redrive.data} />}
      {items.length > 0 && (
        <>
          {canWrite && (
            <p className={page.bar}>
              <button type="button" disabled={redrive.isPending} onClick={() => redrive.mutate(null)}>
                Send all again
              </button>
            </p>
          )}
          <Table items={items} send={canWrite && !redrive.isPending ? (id) => redrive.mutate([id]) : null} />
          <More query={query} shown={items.length} noun="dead letter" />
        </>
      )}
    </Section>
  );
}

function Table({ items, send }: { items: readonly DeadLetter[]; send: ((id: string) => void) | null }) {
  return (
    <ScrollRegion label="Dead letters">
      <table>
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Provider</th>
            <FigureHeader>Probes</FigureHeader>
            <FigureHeader>Received</FigureHeader>
            <th scope="col">Cause</th>
            <th scope="col">
              <span className="hidden-text">Action</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((each) => (
            <tr key={each.messageId}>
              <th scope="row" className={page.name}>
                <Link to="/runs/$id" params={{ id: each.runId }}>
                  {visible(each.runId)}
                </Link>
              </th>
              <td>{visible(each.provider)}</td>
              <td className="figure">{formatCount(each.indexes.length)}</td>
              <td className="figure">{formatCount(each.receivedCount)}</td>
              <td className={page.name}>{visible(each.cause)}</td>
              <td className="figure">
                {send && (
                  <button type="button" onClick={() => send(each.messageId)}>
                    Send again
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

function Sent({ result }: { result: Result }) {
  return (
    <div className={page.warning} role="status">
      <p>
        {counted(result.sent, "message")} sent again
        {result.dropped > 0 && `; ${formatCount(result.dropped)} had nothing left to do`}.
      </p>
      {result.runsToRetry.length > 0 && (
        <p>
          Errored probes of these runs can be retried:{" "}
          {result.runsToRetry.map((id) => (
            <Link key={id} to="/runs/$id" params={{ id }}>
              {visible(id)}{" "}
            </Link>
          ))}
        </p>
      )}
    </div>
  );
}
