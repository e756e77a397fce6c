import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { branchesQuery } from "../../api/chats";
import { CreateChat } from "../../api/limits";
import { useModels } from "../../api/models";
import { useCanWrite } from "../../api/role";
import type { Schemas } from "../../api/types";
import { firstChoice, inOrder } from "../../lib/model_choice";
import { MAX_COLUMNS, missingChoice, runTargets, withColumn, withSharing } from "../../lib/playground";
import { DeleteDialog } from "../../ui/delete_button";
import { keep } from "../../ui/kept";
import page from "../../ui/page.module.css";
import { Failure, Loading, RoleTooLow } from "../../ui/states";
import { TextField } from "../../ui/text_field";
import { FormatChoice } from "../transcript/format_choice";
import { ColumnView } from "./column";
import { Composer } from "./composer";
import styles from "./playground.module.css";
import { usePlayground } from "./use_playground";

/** Sends messages to several models, agents or prompts at once, and shows their answers beside each other. */
export function PlaygroundPage() {
  const canWrite = useCanWrite();
  const models = useModels();
  return (
    <>
      <title>Playground · Cupel</title>
      <h1>Playground</h1>
      {models.isPending && <Loading what="models" />}
      {models.isError && <Failure error={models.error} what="Models" retry={() => void models.refetch()} />}
      {models.data &&
        (canWrite ? (
          <Columns models={models.data} />
        ) : (
          <RoleTooLow detail="Sending messages to models needs the role member or admin." />
        ))}
    </>
  );
}

function Columns({ models }: { models: readonly Schemas["Model"][] }) {
  const [first = ""] = firstChoice(inOrder(models));
  const { playground, set, change, sending, deliver, send, remove, clear } = usePlayground(first);
  const { columns, sharedSystem } = playground;
  const chats = columns.flatMap(({ chat }) => chat ?? []);
  const isAnswering = useQueries({
    queries: chats.map(({ id }) => branchesQuery(id)),
    combine: (all) => all.some((each) => each.data?.some((branch) => branch.openTurnId !== null)),
  });
  const isSending = Object.values(sending).includes(null);
  const missing = missingChoice(columns);
  return (
    <>
      <div className={page.bar}>
        <label className={page.check}>
          <input
            type="checkbox"
            checked={sharedSystem !== null}
            onChange={(event) => set((now) => withSharing(now, event.target.checked))}
          />
          Same system prompt in all columns
        </label>
        <FormatChoice />
        <button
          type="button"
          disabled={columns.length >= MAX_COLUMNS}
          onClick={() => set((now) => ({ ...now, columns: withColumn(now.columns) }))}
        >
          Add a column
        </button>
        <Clear isDisabled={chats.length === 0 || isSending} clear={clear} />
        {missing === null && <NewRunLink targets={runTargets(columns)} />}
      </div>
      {sharedSystem !== null && (
        <div className={styles.shared}>
          <TextField
            label="System prompt (optional)"
            id="system"
            rows={4}
            maxLength={CreateChat.system.maxLength}
            value={sharedSystem}
            onChange={(next) => set((now) => ({ ...now, sharedSystem: next }))}
          />
        </div>
      )}
      <div className={styles.columns}>
        {columns.map((column, index) => (
          <ColumnView
            key={column.id}
            playground={playground}
            column={column}
            number={index + 1}
            isSending={sending[column.id] === null}
            error={sending[column.id]?.error}
            change={(changes) => change(column.id, changes)}
            retry={() => column.unsent && void deliver(column, column.unsent)}
            answerAgain={(content) =>
              void deliver(column, { content, isAgain: true, key: crypto.randomUUID() })
            }
            remove={columns.length > 1 ? () => remove(column) : null}
          />
        ))}
      </div>
      <Composer missing={missing} isAnswering={isAnswering || isSending} send={send} />
    </>
  );
}

function Clear({ isDisabled, clear }: { isDisabled: boolean; clear: () => Promise<void> }) {
  const [isAsking, ask] = useState(false);
  const remove = () => clear().then(() => ask(false));
  return (
    <>
      <button type="button" disabled={isDisabled} onClick={() => ask(true)}>
        Clear…
      </button>
      {isAsking && (
        <DeleteDialog what="the conversations" remove={remove} close={() => ask(false)}>
          The messages and answers of all columns are deleted. Models, parameters and prompts stay.
        </DeleteDialog>
      )}
    </>
  );
}

/** Opens the form of a new run with the models and agents of the columns. */
function NewRunLink({ targets }: { targets: ReturnType<typeof runTargets> }) {
  const fill = () => {
    keep("new", "selected", targets.models);
    keep("new", "agents", targets.agents);
  };
  return (
    <Link to="/new" onClick={fill}>
      New run with these targets
    </Link>
  );
}
