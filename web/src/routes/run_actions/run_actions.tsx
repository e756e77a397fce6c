import { lazy, Suspense, useState } from "react";
import { useCanWrite } from "../../api/role";
import type { Run } from "../../api/types";
import { origin } from "../../lib/base";
import { visible } from "../../lib/format";
import { canChangeAndRepeat } from "../../lib/run_status";
import { CopiedLink, useCopiedLink } from "../../ui/copied_link";
import { Menu, type MenuItem } from "../../ui/menu";

const EditLabels = lazy(() => import("./edit_labels").then((each) => ({ default: each.EditLabels })));
const RunAgain = lazy(() => import("./run_again").then((each) => ({ default: each.RunAgain })));
const ExportRun = lazy(() => import("./export_run").then((each) => ({ default: each.ExportRun })));
const DeleteRun = lazy(() => import("./delete_run").then((each) => ({ default: each.DeleteRun })));

const DIALOGS = { edit: EditLabels, again: RunAgain, export: ExportRun, delete: DeleteRun } as const;

interface Props {
  run: Run;
  /** In a list, the button is a sign, and the copied link leads to the run. */
  isInList?: boolean;
}

/** Offers the actions of a run; to a viewer only those that change nothing. */
export function RunActions({ run, isInList = false }: Props) {
  const canWrite = useCanWrite();
  const [asked, ask] = useState<keyof typeof DIALOGS | null>(null);
  const link = useCopiedLink();
  const Asked = asked && DIALOGS[asked];
  const address = () => (isInList ? `${origin}/runs/${run.id}` : location.href);
  const reading: MenuItem[] = [
    { label: "Export…", act: () => ask("export") },
    { label: "Copy link", act: () => link.copy(address()) },
  ];
  const changing: MenuItem[] = [
    { label: "Name, tags and note…", act: () => ask("edit") },
    { label: "Run again…", act: () => ask("again") },
    ...(canChangeAndRepeat(run)
      ? [
          {
            label: "Run again with changes",
            link: { to: "/new", search: { definition: run.definitionId, run: run.id } },
          } as const,
        ]
      : []),
  ];
  const items = canWrite
    ? [...changing, ...reading, { label: "Delete…", act: () => ask("delete") }]
    : reading;
  const name = visible(run.name ?? run.definitionName);
  return (
    <>
      <Menu
        label={isInList ? <span aria-hidden="true">⋯</span> : "Actions"}
        {...(isInList && { of: `Actions of ${name}` })}
        items={items}
      />
      <CopiedLink link={link} />
      {Asked && (
        <Suspense>
          <Asked run={run} close={() => ask(null)} />
        </Suspense>
      )}
    </>
  );
}
