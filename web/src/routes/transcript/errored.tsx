import { useQuery } from "@tanstack/react-query";
import { probeQuery } from "../../api/probes";
import { helpOf } from "../../lib/error_help";
import { columnName } from "../../lib/estimates";
import { visible } from "../../lib/format";
import { Empty, Failure, Loading } from "../../ui/states";
import { Attempts, ErrorView } from "./error_view";
import { Messages } from "./messages";
import styles from "./transcript.module.css";

/** Shows a conversation that the infrastructure has ended: why, what helps, and the messages until then. */
export function ErroredConversation({ id, isSideBySide = false }: { id: string; isSideBySide?: boolean }) {
  const query = useQuery(probeQuery(id));
  if (query.isPending) return <Loading what="the error" rows={3} />;
  if (query.isError)
    return <Failure error={query.error} what="The error" retry={() => void query.refetch()} />;
  const probe = query.data?.value;
  if (!probe?.error)
    return (
      <Empty title="No conversation">
        <p>It has no outcome yet, or its content was deleted or has expired.</p>
      </Empty>
    );
  const target = visible(columnName(probe));
  return (
    <article className={styles.transcript}>
      <h2 className={styles.name}>
        {isSideBySide ? target : visible(probe.scenarioName ?? probe.scenarioId)}
      </h2>
      <p className={styles.facts}>
        <span className={styles.error}>! errored</span>
        {!isSideBySide && <span>{target}</span>}
        <span>conversation {probe.index}</span>
      </p>
      <section className={styles.grades} aria-label={isSideBySide ? `Error, ${target}` : "Error"}>
        <ErrorView error={probe.error} />
        <p>{helpOf(probe.error.code)}</p>
        <Attempts probe={probe} />
      </section>
      {probe.messages.length > 0 && (
        <>
          <p className={styles.note}>The conversation up to then:</p>
          <Messages messages={probe.messages} against={undefined} isAlone={!isSideBySide} find={undefined} />
        </>
      )}
    </article>
  );
}
