import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, read } from "../../api/client";
import { useCanWrite } from "../../api/role";
import { NewFold } from "../../ui/new_fold";
import page from "../../ui/page.module.css";
import { Failure } from "../../ui/states";
import { TextField } from "../../ui/text_field";

export function NewPersona() {
  const canWrite = useCanWrite();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [prompt, setPrompt] = useState("");
  const [key] = useState(() => crypto.randomUUID());
  const create = useMutation({
    mutationFn: () =>
      read(
        api.POST("/v1/personas", {
          params: { header: { "Idempotency-Key": key } },
          body: { name: name.trim(), systemPrompt: prompt.trim() || null },
        }),
      ),
    onSuccess: async (made) => {
      await client.invalidateQueries({ queryKey: ["personas"] });
      await navigate({ to: "/personas/$id", params: { id: made.id } });
    },
  });
  if (!canWrite) return null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <NewFold noun="persona">
      <form className={page.form} onSubmit={submit}>
        <TextField label="Name" id="name" maxLength={100} value={name} onChange={setName} />
        <TextField
          label="System prompt"
          id="prompt"
          note="Instructions for the model that acts as this user"
          rows={6}
          maxLength={20000}
          value={prompt}
          onChange={setPrompt}
        />
        <button type="submit" data-kind="primary" disabled={name.trim() === "" || create.isPending}>
          {create.isPending ? "Creating…" : "Create"}
        </button>
        {create.isError && <Failure error={create.error} what="No persona was created" />}
      </form>
    </NewFold>
  );
}
