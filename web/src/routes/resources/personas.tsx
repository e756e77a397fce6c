import { Link } from "@tanstack/react-router";
import { personasQuery } from "../../api/resources";
import type { Persona } from "../../api/types";
import { visible } from "../../lib/format";
import { HowToCreate } from "../../ui/how_to_create";
import { type Column, ListScreen } from "../../ui/list_screen";
import page from "../../ui/page.module.css";
import { Empty } from "../../ui/states";
import { Ago } from "../../ui/time";
import { NewPersona } from "./new_persona";
import { ResourceTabs } from "./resource_tabs";

const COLUMNS: readonly Column<Persona>[] = [
  {
    name: "Persona",
    cell: (each) => (
      <Link to="/personas/$id" params={{ id: each.id }}>
        {visible(each.name)}
      </Link>
    ),
  },
  {
    name: "Description",
    cell: (each) => <span className={page.excerpt}>{visible(each.description ?? "")}</span>,
  },
  { name: "Headers", cell: (each) => visible(each.headerNames.join(", ")) },
  { name: "Changed", isFigure: true, cell: (each) => <Ago time={each.updatedAt} /> },
];

export function Personas() {
  return (
    <>
      <title>Personas · Cupel</title>
      <h1>Personas</h1>
      <ResourceTabs />
      <NewPersona />
      <ListScreen
        noun="persona"
        query={personasQuery}
        columns={COLUMNS}
        empty={
          <Empty title="No personas yet">
            <p>
              A persona is a user that a model simulates; scenarios name the personas of their conversations.
            </p>
            <HowToCreate noun="persona" />
          </Empty>
        }
      />
    </>
  );
}
