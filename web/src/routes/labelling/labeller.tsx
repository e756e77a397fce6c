import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { labelSetsQuery } from "../../api/labels";
import { progressText } from "../../lib/labelling";
import page from "../../ui/page.module.css";
import { Empty, Failure, Loading } from "../../ui/states";
import { Labelling } from "./labelling";

/** Shows a user with the role labeller what this role may do, whatever the address is. */
export function LabellerPage() {
  const { id } = useParams({ strict: false });
  const { label } = useSearch({ strict: false });
  const isRun = id?.startsWith("run_") ?? false;
  if (id === undefined || !isRun)
    return (
      <Empty title="Label transcripts">
        <p>
          Your role labels transcripts and sees nothing else. Open the link to a run that you were sent, or
          run <code>cupel labels open RUN</code>.
        </p>
      </Empty>
    );
  return label === undefined ? <Sets id={id} /> : <Labelling runId={id} labelSetId={label} />;
}

function Sets({ id }: { id: string }) {
  const query = useQuery(labelSetsQuery(id));
  if (query.isPending) return <Loading what="label sets" />;
  if (query.data === undefined)
    return <Failure error={query.error} what="The label sets" retry={() => void query.refetch()} />;
  if (query.data.length === 0)
    return (
      <Empty title="Nothing to label yet">
        <p>No transcripts of this run were drawn for labelling.</p>
      </Empty>
    );
  return (
    <section aria-labelledby="sets">
      <h1 id="sets">Label transcripts</h1>
      <ul className={page.list}>
        {query.data.map((set) => (
          <li key={set.id}>
            <Link to="/runs/$id" params={{ id }} search={{ label: set.id }}>
              {set.criterion}
            </Link>{" "}
            {progressText(set)}
          </li>
        ))}
      </ul>
    </section>
  );
}
