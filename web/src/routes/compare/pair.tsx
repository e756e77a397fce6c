import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { scenarioTranscriptsQuery } from "../../api/comparisons";
import type { Comparison, ComparisonRow, Transcript } from "../../api/types";

import { lastAnswer } from "../../lib/answers";
import { useKeys } from "../../ui/keys";
import page from "../../ui/page.module.css";
import { Empty, Failure, Loading } from "../../ui/states";
import { TranscriptView } from "../transcript/transcript";
import styles from "./compare.module.css";

const route = getRouteApi("/compare");

interface Props {
  comparison: Comparison;
  row: ComparisonRow;
  scenario: string;
}

/** Shows the conversations of one scenario in both runs, with the words that differ. */
export function ScenarioPair({ comparison, row, scenario }: Props) {
  const { repeat = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  const heading = useRef<HTMLHeadingElement>(null);
  const [one, other] = [row.baseline[0], row.comparison[0]];
  const before = useQuery(scenarioTranscriptsQuery(comparison.baseline.runId, scenario, one));
  const after = useQuery(scenarioTranscriptsQuery(comparison.comparison.runId, scenario, other));
  const close = () => void navigate({ search: ({ s: _, repeat: __, ...old }) => old, resetScroll: false });
  useKeys("Conversations of the scenario", { Escape: { does: "close them", act: close } });
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when another scenario is opened
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    heading.current?.scrollIntoView({ block: "nearest" });
  }, [scenario]);
  const repeats = Math.max(
    0,
    ...[before, after].flatMap(({ data }) => data?.map((each) => each.repeat + 1) ?? []),
  );
  const error = before.error ?? after.error;
  const [left, right] = [before, after].map(({ data }) => data?.find((each) => each.repeat === repeat));
  return (
    <section aria-labelledby="pair">
      <div className={page.bar} data-actions>
        <h3 id="pair" ref={heading} tabIndex={-1}>
          Both conversations
        </h3>
        {repeats > 1 && (
          <label>
            Repeat{" "}
            <select
              value={repeat}
              onChange={(event) =>
                void navigate({
                  search: (old) => ({ ...old, repeat: Number(event.target.value) || undefined }),
                  replace: true,
                  resetScroll: false,
                })
              }
            >
              {Array.from({ length: repeats }, (_, number) => (
                <option key={String(number)} value={number}>
                  {number + 1} of {repeats}
                </option>
              ))}
            </select>
          </label>
        )}
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      {error !== null && <Failure error={error} what="The conversations" />}
      {(before.isPending || after.isPending) && error === null && <Loading what="the conversations" />}
      {before.data && after.data && (
        <>
          <p className={styles.note}>Words of the last answer that the baseline does not have are marked.</p>
          <div className={styles.panes}>
            <Pane name="Baseline" transcript={left} />
            <Pane name="Other run" transcript={right} against={lastAnswer(left)} />
          </div>
        </>
      )}
    </section>
  );
}

interface PaneProps {
  name: string;
  transcript: Transcript | undefined;
  against?: string | undefined;
}

function Pane({ name, transcript, against }: PaneProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={styles.pane} aria-label={name} tabIndex={0}>
      {transcript ? (
        <TranscriptView transcript={transcript} heading={name} against={against} />
      ) : (
        <Empty title={`${name}: no conversation`}>
          <p>This repeat ended in an error or was not run there.</p>
        </Empty>
      )}
    </section>
  );
}
