import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import { labelSetQuery } from "../../api/labels";
import type { LabelSet, LabelSetItem } from "../../api/types";
import { formatCount, visible } from "../../lib/format";
import page from "../../ui/page.module.css";
import { Empty, Failure, Loading } from "../../ui/states";
import { Messages } from "../transcript/messages";
import transcript from "../transcript/transcript.module.css";
import styles from "./labels.module.css";
import { LabelPanel } from "./panel";
import { nameOf, useLabelling } from "./use_labelling";

interface Props {
  runId: string;
  labelSetId: string;
  /** It leads back to the run, for users who may read it. */
  leave?: ReactNode;
}

/** Lets a person label the transcripts of a set, one after the other, without the judge's verdicts. */
export function Labelling({ runId, labelSetId, leave }: Props) {
  const query = useQuery(labelSetQuery(runId, labelSetId));
  if (query.isPending) return <Loading what="the label set" />;
  if (query.data === undefined)
    return (
      <Failure error={query.error} what={`Label set ${visible(labelSetId)}`} retry={() => query.refetch()} />
    );
  return <LabellingOf key={labelSetId} runId={runId} set={query.data} leave={leave} />;
}

function LabellingOf({ runId, set, leave }: { runId: string; set: LabelSet; leave: ReactNode }) {
  const state = useLabelling(runId, set);
  const { item, pending } = state;
  return (
    <>
      <title>Label transcripts · Cupel</title>
      <header className={page.bar}>
        <h1>Label transcripts</h1>
        {leave}
      </header>
      {set.instructions !== null && (
        <details className={page.warning} open>
          <summary>Instructions</summary>
          <p className={page.prose}>{visible(set.instructions)}</p>
        </details>
      )}
      {pending.isPending && <Loading what="transcripts" />}
      {pending.isError && (
        <Failure error={pending.error} what="Transcripts" retry={() => void pending.refetch()} />
      )}
      {pending.isSuccess && (
        <div className={styles.columns}>
          {item ? (
            <Reading item={item} count={set.count} />
          ) : (
            <Empty title="Nothing is left to label">
              <p>
                Every transcript that you can label has your label, or enough labels of others. <kbd>p</kbd>{" "}
                goes back to those that you have labelled.
              </p>
            </Empty>
          )}
          <LabelPanel set={set} state={state} />
        </div>
      )}
    </>
  );
}

/** Shows a conversation as far as a labeller may see it. */
function Reading({ item, count }: { item: LabelSetItem; count: number }) {
  const article = useRef<HTMLElement>(null);
  const shown = useRef(item.probeId);
  // The first one is shown below the instructions; the next ones begin where reading begins.
  useEffect(() => {
    if (shown.current === item.probeId) return;
    shown.current = item.probeId;
    const top = article.current?.getBoundingClientRect().top ?? 0;
    if (top < 0 || top > innerHeight / 3) article.current?.scrollIntoView();
  }, [item.probeId]);
  const variables = Object.entries(item.variables);
  return (
    <article ref={article} aria-labelledby="labelled">
      <h2 id="labelled" className={transcript.name}>
        {nameOf(item)}
      </h2>
      <p className={page.facts}>
        <span>
          transcript {formatCount(item.position + 1)} of {formatCount(count)}
        </span>
        {item.isDoubled && <span>two people label it</span>}
      </p>
      {variables.length > 0 && (
        <details className={page.fold}>
          <summary>Variables</summary>
          <dl className={page.pairs}>
            {variables.map(([name, value]) => (
              <div key={name}>
                <dt>{visible(name)}</dt>
                <dd>{visible(typeof value === "string" ? value : JSON.stringify(value))}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
      {item.messages.length > 0 ? (
        <Messages key={item.probeId} messages={item.messages} against={undefined} isAlone find={undefined} />
      ) : (
        <p>The conversation was deleted, or has expired.</p>
      )}
    </article>
  );
}
