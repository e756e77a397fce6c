import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, ifMatch, read } from "../../api/client";
import { CreateRun } from "../../api/limits";
import { runEditQuery } from "../../api/queries";
import type { Run } from "../../api/types";
import { visible } from "../../lib/format";
import { tagsLength } from "../../lib/forms";
import { labelChanges, labelsOf, MAX_NOTE } from "../../lib/run_labels";
import { Conflict } from "../../ui/conflict";
import { Dialog, SubmitActions } from "../../ui/dialog";
import page from "../../ui/page.module.css";
import { Failure, Loading } from "../../ui/states";
import { TextField } from "../../ui/text_field";

interface Props {
  run: Run;
  close: () => void;
}

/** Edits the name, tags and note of a run, as they are stored now. */
export function EditLabels({ run: { id }, close }: Props) {
  const query = useQuery(runEditQuery(id));
  return (
    <Dialog title="Name, tags and note" close={close}>
      {query.isPending && <Loading what="the run" rows={3} />}
      {query.isError && <Failure error={query.error} what="The run" retry={() => void query.refetch()} />}
      {query.data && (
        <Form
          key={query.data.etag}
          run={query.data.value}
          etag={query.data.etag}
          reload={() => void query.refetch()}
          close={close}
        />
      )}
    </Dialog>
  );
}

interface FormProps extends Props {
  etag: string | null;
  reload: () => void;
}

function Form({ run, etag, reload, close }: FormProps) {
  const client = useQueryClient();
  const [labels, setLabels] = useState(() => labelsOf(run));
  const changes = labelChanges(run, labels);
  const saving = useMutation({
    mutationFn: ({ isOver }: { isOver: boolean }) =>
      read(
        api.PATCH("/v1/runs/{run_id}", {
          params: { path: { run_id: run.id }, header: isOver ? {} : ifMatch(etag) },
          body: changes,
        }),
      ),
    onSuccess: async (saved) => {
      client.setQueryData(["run", run.id], (old: Run | undefined) => old && { ...old, ...namesOf(saved) });
      close();
      await Promise.all([
        client.invalidateQueries({ queryKey: ["run", run.id], exact: true }),
        client.invalidateQueries({ queryKey: ["runs"] }),
      ]);
    },
  });
  const isChanged = Object.keys(changes).length > 0;
  const set = (name: keyof typeof labels) => (value: string) => setLabels({ ...labels, [name]: value });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isChanged) saving.mutate({ isOver: false });
    else close();
  };
  return (
    <form className={page.form} onSubmit={submit}>
      <TextField
        label="Name"
        id="run-name"
        maxLength={CreateRun.name.maxLength}
        note={`Without one, the run is shown as “${visible(run.definitionName)}”`}
        value={labels.name}
        onChange={set("name")}
      />
      <TextField
        label="Tags"
        id="run-tags"
        maxLength={tagsLength(CreateRun.tags)}
        note="Separated by commas"
        value={labels.tags}
        onChange={set("tags")}
      />
      <TextField
        label="Note"
        id="run-note"
        rows={4}
        maxLength={MAX_NOTE}
        note="Stored as the entry “note” of the run’s metadata"
        value={labels.note}
        onChange={set("note")}
      />
      {saving.isError && <Failure error={saving.error} what="The run was not changed" />}
      <Conflict error={saving.error} overwrite={() => saving.mutate({ isOver: true })} reload={reload} />
      <SubmitActions isDisabled={!isChanged || saving.isPending} close={close}>
        {saving.isPending ? "Saving…" : "Save"}
      </SubmitActions>
    </form>
  );
}

function namesOf({ name, tags, metadata }: Run) {
  return { name, tags, metadata };
}
