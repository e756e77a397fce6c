import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, ifMatch, read, readTagged } from "../../api/client";
import type { Definition, Schemas } from "../../api/types";
import type { Content } from "../../lib/definitions";
import { visible } from "../../lib/format";
import { promptsWith } from "../../lib/playground";
import { Dialog, DialogActions, SubmitActions } from "../../ui/dialog";
import page from "../../ui/page.module.css";
import { Failure } from "../../ui/states";
import { TextField } from "../../ui/text_field";
import { DefinitionChoice } from "./definition_choice";

interface Props {
  system: string;
  params: Content;
  close: () => void;
}

/** Makes a definition of a system prompt, or a further prompt of a definition. */
export function KeepPrompt({ system, params, close }: Props) {
  const client = useQueryClient();
  const [isNew, setNew] = useState(true);
  const [id, choose] = useState("");
  const [name, setName] = useState("");
  const [key] = useState(() => crypto.randomUUID());
  const names = Object.keys(params);
  const keep = useMutation({
    mutationFn: () =>
      isNew
        ? createDefinition(name.trim(), { system, ...(names.length > 0 && { params }) }, key)
        : addPrompt(),
    onSuccess: async (kept) => {
      await client.invalidateQueries({ queryKey: ["definitions"] });
      await client.invalidateQueries({ queryKey: ["definition", kept.id] });
    },
  });
  const addPrompt = async () => {
    const path = { definition_id: id };
    const { value, etag } = await readTagged(
      api.GET("/v1/definitions/{definition_id}", { params: { path } }),
    );
    const prompts = promptsWith(value.content, name.trim(), system, params);
    return read(
      api.PATCH("/v1/definitions/{definition_id}", {
        params: { path, header: ifMatch(etag) },
        body: { content: { prompts } } as Schemas["UpdateDefinition"],
      }),
    );
  };
  const isValid = name.trim() !== "" && (isNew || id !== "") && !keep.isPending;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isValid) keep.mutate();
  };
  if (keep.data)
    return (
      <Dialog title="Kept as a prompt" close={close}>
        <p role="status">
          It is in version {keep.data.version} of {visible(keep.data.name)}.
        </p>
        <DialogActions>
          <Link to="/definitions/$id" params={{ id: keep.data.id }}>
            Show the definition
          </Link>
          <button type="button" onClick={close}>
            Close
          </button>
        </DialogActions>
      </Dialog>
    );
  return (
    <Dialog title="Keep the prompt" close={close} isWide>
      <form className={page.form} onSubmit={submit}>
        <fieldset className={page.choices}>
          <legend className="hidden-text">What it becomes</legend>
          {[true, false].map((each) => (
            <label key={String(each)} className={page.check}>
              <input type="radio" name="kept-as" checked={isNew === each} onChange={() => setNew(each)} />
              {each ? "a new definition" : "another prompt of a definition"}
            </label>
          ))}
        </fieldset>
        {!isNew && <DefinitionChoice id={id} choose={choose} />}
        <TextField
          label={isNew ? "Name of the definition" : "Name of the prompt"}
          id="kept-name"
          maxLength={isNew ? 200 : 100}
          note={names.length > 0 && `With its parameters: ${names.join(", ")}`}
          value={name}
          onChange={setName}
        />
        {keep.isError && <Failure error={keep.error} what="The prompt was not kept" />}
        <SubmitActions isDisabled={!isValid} close={close}>
          {keep.isPending ? "Saving…" : "Keep"}
        </SubmitActions>
      </form>
    </Dialog>
  );
}

function createDefinition(name: string, content: Content, key: string): Promise<Definition> {
  return read(
    api.POST("/v1/definitions", {
      params: { header: { "Idempotency-Key": key } },
      body: { name, content } as Schemas["CreateDefinition"],
    }),
  );
}
