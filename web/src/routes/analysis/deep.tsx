import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { analyzeDeeply, deepAnalysisQuery, isOver, jobQuery } from "../../api/analyses";
import { useCanWrite } from "../../api/role";
import { settingsQuery } from "../../api/system";
import type { DeepFigures } from "../../api/types";
import { visible } from "../../lib/format";
import { Section } from "../../ui/section";
import { Failure, Loading } from "../../ui/states";
import styles from "./analysis.module.css";
import { ComponentsSection } from "./components";
import { Effects, Variance } from "./effects";
import { NarrativeSection } from "./narrative";
import { OutlierScenarios, OutlierTargets } from "./outliers";

export function DeepAnalysisSection({ id }: { id: string }) {
  const query = useQuery(deepAnalysisQuery(id));
  if (query.isPending) return <Loading rows={2} what="the deep analysis" />;
  if (query.isError)
    return <Failure error={query.error} what="The deep analysis" retry={() => void query.refetch()} />;
  const found = query.data;
  return (
    <>
      {(!found || found.isStale || !found.figures) && (
        <Section title="Deep analysis">
          {found?.failure && (
            <p role="status" className={styles.note}>
              The last one failed: {visible(`${found.failure.where}: ${found.failure.why}`)}
            </p>
          )}
          {found?.isStale && (
            <p role="status" className={styles.note}>
              What follows is out of date:{" "}
              {found.staleReason === "inputs"
                ? "outcomes have changed since"
                : "another build of Cupel made it"}
              .
            </p>
          )}
          {!found && (
            <p className={styles.note}>
              Principal components of the targets, outliers, effects of the dimensions, and the findings in
              words. It takes seconds.
            </p>
          )}
          <Make id={id} />
        </Section>
      )}
      {found?.figures && <DeepFiguresView figures={found.figures} />}
    </>
  );
}

function Make({ id }: { id: string }) {
  const canWrite = useCanWrite();
  const settings = useQuery({ ...settingsQuery, enabled: canWrite });
  const client = useQueryClient();
  const [isNarrated, narrate] = useState(false);
  const make = useMutation({
    mutationFn: () => analyzeDeeply(id, isNarrated),
    onSuccess: (summary) => {
      if (summary.jobId === null)
        return client.invalidateQueries({ queryKey: deepAnalysisQuery(id).queryKey });
      return undefined;
    },
  });
  const jobId = make.data?.jobId ?? null;
  const job = useQuery({ ...jobQuery(jobId ?? ""), enabled: jobId !== null });
  const hasEnded = isOver(job.data);
  useEffect(() => {
    if (hasEnded) void client.invalidateQueries({ queryKey: deepAnalysisQuery(id).queryKey });
  }, [hasEnded, client, id]);
  if (!canWrite) return <p className={styles.note}>Your role may not start it.</p>;
  const model = settings.data?.value.analysisModel;
  const isBusy = make.isPending || (jobId !== null && !hasEnded && !job.isError);
  return (
    <>
      {model && (
        <p>
          <label>
            <input type="checkbox" checked={isNarrated} onChange={(event) => narrate(event.target.checked)} />{" "}
            Let {visible(model)} write the findings, from the figures alone; it is paid for
          </label>
        </p>
      )}
      <button type="button" data-kind="primary" disabled={isBusy} onClick={() => make.mutate()}>
        {isBusy ? "Analyzing…" : "Make the deep analysis"}
      </button>
      {make.isError && <Failure error={make.error} what="The deep analysis was not started" />}
      {job.isError && <Failure error={job.error} what="The job that computes it" />}
    </>
  );
}

function DeepFiguresView({ figures }: { figures: DeepFigures }) {
  return (
    <>
      <NarrativeSection figures={figures} />
      <ComponentsSection figures={figures} />
      <OutlierTargets figures={figures} />
      <Effects figures={figures} />
      <Variance figures={figures} />
      <OutlierScenarios figures={figures} />
      {(figures.unavailable.length > 0 || figures.cautions.length > 0) && (
        <Section title="Notes on the deep analysis">
          <ul className={styles.list}>
            {figures.cautions.map((each) => (
              <li key={`${each.code} ${each.text}`}>{visible(each.text)}</li>
            ))}
            {figures.unavailable.map((each) => (
              <li key={each.part}>
                {PARTS[each.part]}: {visible(each.reason)}
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

const PARTS: Record<DeepFigures["unavailable"][number]["part"], string> = {
  components: "Principal components",
  outlierTargets: "Outlying targets",
  outlierScenarios: "Outlying scenarios",
  design: "Independence of the dimensions",
  effects: "Effects of the dimensions",
  interactions: "Interactions of dimensions",
  variance: "Shares of the variance",
};
