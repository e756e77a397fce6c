import { Link } from "@tanstack/react-router";
import { evalsQuery } from "../../api/resources";
import type { Eval } from "../../api/types";
import { formatCount, visible } from "../../lib/format";
import { HowToCreate } from "../../ui/how_to_create";
import { type Column, ListScreen } from "../../ui/list_screen";
import { Empty } from "../../ui/states";
import { TargetList } from "../../ui/target_list";
import { Ago } from "../../ui/time";
import { NewEval } from "./new_eval";
import { ResourceTabs } from "./resource_tabs";

const COLUMNS: readonly Column<Eval>[] = [
  {
    name: "Eval",
    cell: (each) => (
      <Link to="/evals/$id" params={{ id: each.id }}>
        {visible(each.name)}
      </Link>
    ),
  },
  { name: "Targets", cell: (each) => <TargetList targets={each.targets} /> },
  { name: "Scenarios", isFigure: true, cell: (each) => formatCount(each.scenarioIds.length) },
  { name: "Judge", cell: (each) => visible(each.judgeModel ?? "none") },
  { name: "Changed", isFigure: true, cell: (each) => <Ago time={each.updatedAt} /> },
];

export function Evals() {
  return (
    <>
      <title>Evals · Cupel</title>
      <h1>Evals</h1>
      <ResourceTabs />
      <NewEval />
      <ListScreen
        noun="eval"
        query={evalsQuery}
        columns={COLUMNS}
        empty={
          <Empty title="No evals yet">
            <p>
              An eval is a saved evaluation, which each of its runs repeats: scenarios of a definition,
              targets and judges.
            </p>
            <HowToCreate noun="eval" />
          </Empty>
        }
      />
    </>
  );
}
