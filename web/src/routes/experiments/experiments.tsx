import { Link } from "@tanstack/react-router";
import { experimentsQuery } from "../../api/resources";
import type { Experiment } from "../../api/types";
import { visible } from "../../lib/format";
import { HowToCreate } from "../../ui/how_to_create";
import { type Column, ListScreen } from "../../ui/list_screen";
import { Empty } from "../../ui/states";
import { Ago } from "../../ui/time";
import { NewExperiment } from "./new_experiment";

const COLUMNS: readonly Column<Experiment>[] = [
  {
    name: "Experiment",
    cell: (each) => (
      <Link to="/experiments/$id" params={{ id: each.id }}>
        {visible(each.name)}
      </Link>
    ),
  },
  { name: "Hypothesis", cell: (each) => visible(each.hypothesis) },
  { name: "Status", cell: (each) => each.status.toLowerCase() },
  { name: "Conclusion", cell: (each) => each.conclusion?.toLowerCase() ?? "open" },
  { name: "Changed", isFigure: true, cell: (each) => <Ago time={each.updatedAt} /> },
];

export function Experiments() {
  return (
    <>
      <title>Experiments · Cupel</title>
      <h1>Experiments</h1>
      <NewExperiment />
      <ListScreen
        noun="experiment"
        query={experimentsQuery}
        columns={COLUMNS}
        empty={
          <Empty title="No experiments yet">
            <p>An experiment groups runs under one hypothesis and compares them with a baseline.</p>
            <HowToCreate noun="experiment" />
          </Empty>
        }
      />
    </>
  );
}
