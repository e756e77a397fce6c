import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type Judged, labelsQuery } from "../../api/labels";
import { transcriptQuery } from "../../api/tables";
import type { Calibration, Label, Run } from "../../api/types";
import { judgeReason } from "../../lib/calibration";
import { columnName } from "../../lib/estimates";
import { counted, formatCount, visible } from "../../lib/format";
import { labelWord } from "../../lib/labelling";
import page from "../../ui/page.module.css";
import { Section } from "../../ui/section";
import { Failure } from "../../ui/states";
import { Result } from "../../ui/status";
import styles from "../labelling/labels.module.css";

const AT_ONCE = 10;

interface Props {
  run: Run;
  found: Calibration;
  judged: Judged;
}

/** Lists the transcripts on which judge and people disagree, with the reasons of both. */
export function Disagreements({ run, found, judged }: Props) {
  const [shown, show] = useState(AT_ONCE);
  const labels = useQuery(labelsQuery(run.id, judged.criterion));
  const all = found.disagreements;
  return (
    <Section title="Disagreements">
      {all.length === 0 ? (
        <p className={page.note}>Judge and people agree on every labelled transcript.</p>
      ) : (
        <p className={page.note}>
          Judge and people disagree on {counted(all.length, "labelled transcript")}.
        </p>
      )}
      {labels.isError && (
        <Failure error={labels.error} what="The notes of the labels" retry={() => void labels.refetch()} />
      )}
      {all.slice(0, shown).map((each) => (
        <DisagreementOf
          key={each.probeId}
          run={run}
          each={each}
          judged={judged}
          labels={labels.data?.filter((label) => label.probeId === each.probeId) ?? []}
        />
      ))}
      {all.length > shown && (
        <button type="button" onClick={() => show(shown + AT_ONCE)}>
          Show {formatCount(Math.min(AT_ONCE, all.length - shown))} more
        </button>
      )}
    </Section>
  );
}

interface OfProps {
  run: Run;
  each: Calibration["disagreements"][number];
  judged: Judged;
  labels: readonly Label[];
}

function DisagreementOf({ run, each, judged, labels }: OfProps) {
  const index = Number(each.probeId.slice(each.probeId.lastIndexOf("-") + 1));
  const query = useQuery(transcriptQuery(run.id, index));
  const transcript = query.data;
  const reason = transcript && judged.rescoreId === null ? judgeReason(transcript, judged.criterion) : null;
  const name = transcript ? (transcript.scenarioName ?? transcript.scenarioId) : each.probeId;
  return (
    <article className={styles.sides} aria-label={visible(name)}>
      <p>
        <Link to="/runs/$id" params={{ id: run.id }} search={{ t: index }}>
          {visible(name)}
        </Link>{" "}
        <small>{transcript && visible(columnName(transcript))}</small>
      </p>
      <div>
        <p>
          Judge: <Result success={each.verdict === "pass"} />
        </p>
        {reason !== null && <p className={page.prose}>{visible(reason)}</p>}
        {judged.rescoreId !== null && <p className={page.note}>The rescore has its reason.</p>}
      </div>
      <div>
        <p>
          People: <Result success={each.label === "pass"} />
        </p>
        {labels.map((label) => (
          <p key={label.labeller} className={page.prose}>
            {label.note !== null && `${visible(label.note)} `}
            <small>
              {visible(label.labeller)}: {labelWord(label.blindValue ?? label.value)}
            </small>
          </p>
        ))}
      </div>
    </article>
  );
}
