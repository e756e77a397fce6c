import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, read } from "../../api/client";
import type { Definition } from "../../api/types";
import { Dialog, SubmitActions } from "../../ui/dialog";
import { Failure } from "../../ui/states";
import { TextField } from "../../ui/text_field";

/** Creates a definition that inherits this version, and opens it for editing. */
export function ForkDialog({ definition, close }: { definition: Definition; close: () => void }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [name, setName] = useState(`${definition.name.slice(0, 190)} (fork)`);
  const [key] = useState(() => crypto.randomUUID());
  const fork = useMutation({
    mutationFn: () =>
      read(
        api.POST("/v1/definitions/{definition_id}/fork", {
          params: { path: { definition_id: definition.id }, header: { "Idempotency-Key": key } },
          body: { name: name.trim(), version: definition.version },
        }),
      ),
    onSuccess: async (made) => {
      await client.invalidateQueries({ queryKey: ["definitions"] });
      await client.invalidateQueries({ queryKey: ["definition", definition.id, "forks"] });
      close();
      await navigate({ to: "/definitions/$id/edit", params: { id: made.id }, search: {} });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== "") fork.mutate();
  };
  return (
    <Dialog title={`Fork version ${definition.version}`} close={close}>
      <form onSubmit={submit}>
        <p>The fork shares the scenarios, and inherits what it does not change.</p>
        <TextField label="Fork name" id="fork-name" maxLength={200} value={name} onChange={setName} />
        {fork.isError && <Failure error={fork.error} what="The fork was not created" />}
        <SubmitActions isDisabled={name.trim() === "" || fork.isPending} close={close}>
          Fork
        </SubmitActions>
      </form>
    </Dialog>
  );
}
