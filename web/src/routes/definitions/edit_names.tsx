import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, ifMatch, read } from "../../api/client";
import { definitionEditQuery } from "../../api/definitions";
import { CreateDefinition } from "../../api/limits";
import type { Definition, Schemas } from "../../api/types";
import { areSameTags, ownTags, tagsToStore } from "../../lib/definition_tags";
import { changesOf, tagsLength } from "../../lib/forms";
import { Conflict } from "../../ui/conflict";
import { Dialog, SubmitActions } from "../../ui/dialog";
import page from "../../ui/page.module.css";
import { Failure, Loading } from "../../ui/states";
import { TextField } from "../../ui/text_field";

interface Props {
  definition: Definition;
  close: () => void;
}

/** Edits what a definition is found by, which makes no new version. */
export function EditNames({ definition: { id }, close }: Props) {
  const query = useQuery(definitionEditQuery(id));
  return (
    <Dialog title="Name, folder and tags" close={close}>
      {query.isPending && <Loading what="the definition" rows={3} />}
      {query.isError && (
        <Failure error={query.error} what="The definition" retry={() => void query.refetch()} />
      )}
      {query.data && (
        <Form
          key={query.data.etag}
          definition={query.data.value}
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

function Form({ definition, etag, reload, close }: FormProps) {
  const client = useQueryClient();
  const [name, setName] = useState(definition.name);
  const [folder, setFolder] = useState(definition.folder ?? "");
  const [typed, setTyped] = useState(() => ownTags(definition.tags).join(", "));
  const tags = tagsToStore(typed, definition.tags);
  const changes = {
    ...changesOf<Pick<Definition, "name" | "folder">>(definition, {
      name: name.trim(),
      folder: folder.trim() || null,
    }),
    ...(!areSameTags(tags, definition.tags) && { tags }),
  };
  const isChanged = Object.keys(changes).length > 0;
  const isValid = name.trim() !== "";
  const saving = useMutation({
    mutationFn: ({ isOver }: { isOver: boolean }) =>
      read(
        api.PATCH("/v1/definitions/{definition_id}", {
          params: { path: { definition_id: definition.id }, header: isOver ? {} : ifMatch(etag) },
          body: changes as Schemas["UpdateDefinition"],
        }),
      ),
    onSuccess: async () => {
      close();
      await Promise.all([
        client.invalidateQueries({ queryKey: ["definitions"] }),
        client.invalidateQueries({ queryKey: ["definition", definition.id] }),
      ]);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isChanged && isValid) saving.mutate({ isOver: false });
  };
  return (
    <form className={page.form} onSubmit={submit}>
      <TextField
        label="Name"
        id="new-name"
        maxLength={CreateDefinition.name.maxLength}
        value={name}
        onChange={setName}
      />
      <TextField
        label="Folder"
        id="new-folder"
        maxLength={CreateDefinition.folder.maxLength}
        note="Such as support/refunds; empty for none"
        value={folder}
        onChange={setFolder}
      />
      <TextField
        label="Tags"
        id="new-tags"
        maxLength={tagsLength(CreateDefinition.tags)}
        note="Separated by commas"
        value={typed}
        onChange={setTyped}
      />
      {saving.isError && <Failure error={saving.error} what="The definition was not changed" />}
      <Conflict error={saving.error} overwrite={() => saving.mutate({ isOver: true })} reload={reload} />
      <SubmitActions isDisabled={!isChanged || !isValid || saving.isPending} close={close}>
        {saving.isPending ? "Saving…" : "Save"}
      </SubmitActions>
    </form>
  );
}
