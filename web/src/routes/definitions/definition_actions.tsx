import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { api, read } from "../../api/client";
import { useCanWrite } from "../../api/role";
import type { Definition } from "../../api/types";
import { visible } from "../../lib/format";
import { CopiedLink, useCopiedLink } from "../../ui/copied_link";
import { DeleteDialog } from "../../ui/delete_button";
import { Menu, type MenuItem } from "../../ui/menu";

const EditNames = lazy(() => import("./edit_names").then((each) => ({ default: each.EditNames })));
const ForkDialog = lazy(() => import("./fork").then((each) => ({ default: each.ForkDialog })));

const DIALOGS = { edit: EditNames, fork: ForkDialog, delete: DeleteDefinition } as const;

/** Offers the actions of a definition; to a viewer only the one that changes nothing. */
export function DefinitionActions({ definition }: { definition: Definition }) {
  const canWrite = useCanWrite();
  const [asked, ask] = useState<keyof typeof DIALOGS | null>(null);
  const link = useCopiedLink();
  const Asked = asked && DIALOGS[asked];
  const copy: MenuItem = { label: "Copy link", act: () => link.copy(location.href) };
  const items: MenuItem[] = canWrite
    ? [
        { label: "Name, folder and tags…", act: () => ask("edit") },
        { label: "Fork…", act: () => ask("fork") },
        copy,
        { label: "Delete…", act: () => ask("delete") },
      ]
    : [copy];
  return (
    <>
      <Menu label="Actions" items={items} />
      <CopiedLink link={link} />
      {Asked && (
        <Suspense>
          <Asked key={definition.version} definition={definition} close={() => ask(null)} />
        </Suspense>
      )}
    </>
  );
}

function DeleteDefinition({ definition, close }: { definition: Definition; close: () => void }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const remove = async () => {
    const path = { definition_id: definition.id };
    await read(api.DELETE("/v1/definitions/{definition_id}", { params: { path } }));
    close();
    await navigate({ to: "/definitions", ignoreBlocker: true });
    client.removeQueries({ queryKey: ["definition", definition.id] });
    await client.invalidateQueries({ queryKey: ["definitions"] });
  };
  return (
    <DeleteDialog what={`“${visible(definition.name)}”`} remove={remove} close={close}>
      All versions of this definition and their scenarios disappear from the page and cannot be run again. Its
      runs with their results and its forks stay.
    </DeleteDialog>
  );
}
