import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, read } from "../../api/client";
import { useCanWrite } from "../../api/role";
import type { Branch, Chat } from "../../api/types";
import { counted, visible } from "../../lib/format";
import { Field } from "../../ui/field";
import page from "../../ui/page.module.css";
import { Failure } from "../../ui/states";
import { TextField } from "../../ui/text_field";
import { useChatChange } from "./changes";
import styles from "./chat.module.css";

interface Props {
  chat: Chat;
  branches: readonly Branch[];
  branch: Branch | undefined;
}

export function BranchChoice({ chat, branches, branch }: Props) {
  const canWrite = useCanWrite();
  const navigate = useNavigate();
  const open = (id: string) =>
    void navigate({
      to: "/chats/$id",
      params: { id: chat.id },
      search: id === chat.activeBranchId ? {} : { branch: id },
    });
  return (
    <>
      <div className={`${page.bar} ${styles.branch}`}>
        <Field label={`Branch (of ${branches.length})`} id="branch">
          <select id="branch" value={branch?.id ?? ""} onChange={(event) => open(event.target.value)}>
            {branch === undefined && <option value="">choose one</option>}
            {branches.map((each) => (
              <option key={each.id} value={each.id}>
                {visible(each.name)}, {counted(each.length, "exchange")}
                {each.id === chat.activeBranchId && " (active)"}
              </option>
            ))}
          </select>
        </Field>
      </div>
      {canWrite && branch && (
        <Manage key={branch.id} chat={chat} branch={branch} leave={() => open(chat.activeBranchId)} />
      )}
    </>
  );
}

interface ManageProps {
  chat: Chat;
  branch: Branch;
  leave: () => void;
}

function Manage({ chat, branch, leave }: ManageProps) {
  const [name, setName] = useState(branch.name);
  const isActive = branch.id === chat.activeBranchId;
  const path = { chat_id: chat.id, branch_id: branch.id };
  const rename = useChatChange(chat.id, () =>
    read(
      api.PATCH("/v1/chats/{chat_id}/branches/{branch_id}", {
        params: { path },
        body: { name: name.trim() },
      }),
    ),
  );
  const activate = useChatChange(chat.id, () =>
    read(
      api.PATCH("/v1/chats/{chat_id}", {
        params: { path: { chat_id: chat.id } },
        body: { activeBranchId: branch.id },
      }),
    ),
  );
  const remove = useChatChange(chat.id, async () => {
    await read(api.DELETE("/v1/chats/{chat_id}/branches/{branch_id}", { params: { path } }));
    leave();
  });
  const isValid = name.trim() !== "" && name.trim() !== branch.name;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isValid) rename.mutate(undefined);
  };
  const error = rename.error ?? activate.error ?? remove.error;
  return (
    <details className={page.fold}>
      <summary>Change this branch</summary>
      <form className={page.form} onSubmit={submit}>
        <TextField label="Branch name" id="branch-name" maxLength={100} value={name} onChange={setName} />
        <p className={page.bar}>
          <button type="submit" disabled={!isValid || rename.isPending}>
            Rename
          </button>
          {!isActive && (
            <>
              <button type="button" disabled={activate.isPending} onClick={() => activate.mutate(undefined)}>
                Make it the active branch
              </button>
              <button type="button" disabled={remove.isPending} onClick={() => remove.mutate(undefined)}>
                Delete this branch
              </button>
            </>
          )}
        </p>
        {error && <Failure error={error} what="The branch was not changed" />}
      </form>
    </details>
  );
}
