import { useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { runChoicesQuery, useAddRuns } from "../../api/experiment_changes";
import type { Run } from "../../api/types";
import { byComparability } from "../../lib/comparable";
import { counted, visible } from "../../lib/format";
import { Dialog, DialogActions } from "../../ui/dialog";
import page from "../../ui/page.module.css";
import { Failure, Loading } from "../../ui/states";
import { statusWord } from "../../ui/status";
import { TextFilter } from "../../ui/text_filter";
import { Ago } from "../../ui/time";

interface Props {
  experimentId: string;
  /** The ids of the runs that the experiment has. */
  present: ReadonlySet<string>;
  isPrimary?: boolean;
}

/** Offers runs to add to an experiment. */
export function AddRuns({ isPrimary = false, ...props }: Props) {
  const [isAsking, ask] = useState(false);
  return (
    <>
      <button type="button" data-kind={isPrimary ? "primary" : undefined} onClick={() => ask(true)}>
        Add runs…
      </button>
      {isAsking && <AddDialog {...props} close={() => ask(false)} />}
    </>
  );
}

function AddDialog({ experimentId, present, close }: Omit<Props, "isPrimary"> & { close: () => void }) {
  const [name, setName] = useState<string | undefined>(undefined);
  const seek = useCallback((text: string | undefined) => setName(text), []);
  const [chosen, choose] = useState<readonly string[]>([]);
  const runs = useQuery(runChoicesQuery(name));
  const adding = useAddRuns(experimentId, close);
  const { comparable, others } = byComparability(runs.data?.items ?? [], present);
  const offered = [...comparable, ...others].filter((run) => !present.has(run.id));
  const toggle = (id: string) =>
    choose(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]);
  return (
    <Dialog title="Add runs" close={close} isWide>
      <search className={page.filters}>
        <TextFilter label="Name contains" value={name} change={seek} />
      </search>
      {runs.isPending && <Loading what="runs" rows={3} />}
      {runs.isError && <Failure error={runs.error} what="Runs" retry={() => void runs.refetch()} />}
      {runs.isSuccess && offered.length === 0 && <p>There is no other run.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={page.scrolled} aria-label="Runs to add" tabIndex={0}>
        {offered.map((run) => (
          <Offered
            key={run.id}
            run={run}
            isChosen={chosen.includes(run.id)}
            isOther={present.size > 0 && others.includes(run)}
            toggle={() => toggle(run.id)}
          />
        ))}
      </section>
      {adding.isError && <Failure error={adding.error} what="Not all runs were added" />}
      <DialogActions>
        <button
          type="button"
          data-kind="primary"
          disabled={chosen.length === 0 || adding.isPending}
          onClick={() => adding.mutate(chosen)}
        >
          {chosen.length === 0 ? "Add" : `Add ${counted(chosen.length, "run")}`}
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </DialogActions>
    </Dialog>
  );
}

interface OfferedProps {
  run: Run;
  isChosen: boolean;
  /** It is true if the run has another definition than those of the experiment. */
  isOther: boolean;
  toggle: () => void;
}

function Offered({ run, isChosen, isOther, toggle }: OfferedProps) {
  return (
    <label className={page.check}>
      <input type="checkbox" checked={isChosen} onChange={toggle} />
      <span>
        {visible(run.name ?? run.definitionName)}{" "}
        <small className={page.note}>
          {statusWord(run.status).toLowerCase()}, <Ago time={run.createdAt} />, {run.id.slice(-6)}
          {isOther && ", of another definition: perhaps not comparable"}
          {run.experimentId !== null && ", leaves its experiment"}
        </small>
      </span>
    </label>
  );
}
