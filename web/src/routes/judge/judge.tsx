import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { labelSetsQuery } from "../../api/labels";
import { runQuery } from "../../api/queries";
import { judgedBySets, judgedText } from "../../lib/calibration";
import { visible } from "../../lib/format";
import page from "../../ui/page.module.css";
import { Failure, Loading } from "../../ui/states";
import { CalibrationSection } from "./calibration";
import { LabelSets } from "./label_sets";

const route = getRouteApi("/runs/$id");

/** Shows how far the judge of a run agrees with people, and the label sets by which they say so. */
export function JudgePage() {
  const { id } = route.useParams();
  const run = useQuery(runQuery(id));
  const query = useQuery(labelSetsQuery(id));
  const [chosen, choose] = useState(0);
  if (query.isPending || run.data === undefined) return <Loading what="labels" />;
  if (query.data === undefined)
    return <Failure error={query.error} what="The label sets" retry={() => void query.refetch()} />;
  const judged = judgedBySets(query.data);
  const shown = judged[chosen] ?? judged[0];
  return (
    <>
      {judged.length > 1 && (
        <search className={page.filters}>
          <label>
            Criterion
            <select value={chosen} onChange={(event) => choose(Number(event.target.value))}>
              {judged.map((each, position) => (
                <option key={judgedText(each)} value={position}>
                  {visible(judgedText(each))}
                </option>
              ))}
            </select>
          </label>
        </search>
      )}
      {shown && <CalibrationSection key={judgedText(shown)} run={run.data} judged={shown} />}
      <LabelSets run={run.data} sets={query.data} />
    </>
  );
}
