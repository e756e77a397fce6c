import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, read } from "../../api/client";
import { useCanWrite } from "../../api/role";
import { NewFold } from "../../ui/new_fold";
import page from "../../ui/page.module.css";
import { Failure } from "../../ui/states";
import { ChatFields, type ChatValues, historyOf, isValidChat, targetOf } from "./chat_fields";

const BLANK: ChatValues = {
  title: "",
  model: "",
  connectorId: "",
  system: "",
  profileId: "",
  history: "50",
};

export function NewChat() {
  const canWrite = useCanWrite();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [values, change] = useState(BLANK);
  const [key] = useState(() => crypto.randomUUID());
  const create = useMutation({
    mutationFn: () =>
      read(
        api.POST("/v1/chats", {
          params: { header: { "Idempotency-Key": key } },
          body: {
            target: targetOf(values),
            title: values.title.trim() || null,
            system: values.system || null,
            profileId: values.profileId || null,
            historyLimit: historyOf(values) ?? null,
          },
        }),
      ),
    onSuccess: async (made) => {
      await client.invalidateQueries({ queryKey: ["chats"] });
      await navigate({ to: "/chats/$id", params: { id: made.id } });
    },
  });
  if (!canWrite) return null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isValidChat(values)) create.mutate();
  };
  return (
    <NewFold noun="chat">
      <form className={page.form} onSubmit={submit}>
        <ChatFields values={values} change={change} />
        <button type="submit" data-kind="primary" disabled={!isValidChat(values) || create.isPending}>
          {create.isPending ? "Creating…" : "Create"}
        </button>
        {create.isError && <Failure error={create.error} what="No chat was created" />}
      </form>
    </NewFold>
  );
}
