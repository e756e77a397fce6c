import { Link } from "@tanstack/react-router";
import { connectorsQuery } from "../../api/resources";
import type { Connector } from "../../api/types";
import { visible } from "../../lib/format";
import { HowToCreate } from "../../ui/how_to_create";
import { type Column, ListScreen } from "../../ui/list_screen";
import { Empty } from "../../ui/states";
import { Ago } from "../../ui/time";
import { NewConnector } from "./new_connector";
import { ResourceTabs } from "./resource_tabs";

const COLUMNS: readonly Column<Connector>[] = [
  {
    name: "Connector",
    cell: (each) => (
      <Link to="/connectors/$id" params={{ id: each.id }}>
        {visible(each.name)}
      </Link>
    ),
  },
  { name: "Protocol", cell: (each) => each.type },
  { name: "Address", cell: (each) => <code>{visible(each.baseUrl)}</code> },
  { name: "Headers", cell: (each) => visible(each.headerNames.join(", ")) },
  { name: "Changed", isFigure: true, cell: (each) => <Ago time={each.updatedAt} /> },
];

export function Connectors() {
  return (
    <>
      <title>Connectors · Cupel</title>
      <h1>Connectors</h1>
      <ResourceTabs />
      <NewConnector />
      <ListScreen
        noun="connector"
        query={connectorsQuery}
        columns={COLUMNS}
        empty={
          <Empty title="No connectors yet">
            <p>A connector calls an agent over HTTP, which is then evaluated like a model.</p>
            <HowToCreate noun="connector" />
          </Empty>
        }
      />
    </>
  );
}
