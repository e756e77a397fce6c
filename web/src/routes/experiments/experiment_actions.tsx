import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, read } from "../../api/client";
import { useExperimentUpdate } from "../../api/experiment_changes";
import { ExperimentFields } from "../../api/limits";
import { useCanWrite } from "../../api/role";
import type { Experiment } from "../../api/types";
import { visible } from "../../lib/format";
import { CopiedLink, useCopiedLink } from "../../ui/copied_link";
import { DeleteDialog } from "../../ui/delete_button";
import { Dialog, SubmitActions } from "../../ui/dialog";
import { Menu, type MenuItem } from "../../ui/menu";
import page from "../../ui/page.module.css";
import { Failure } from "../../ui/states";
import { TextField } from "../../ui/text_field";

interface Props {
  experiment: Experiment;
  etag: string | null;
}

/** Offers the actions of an experiment; to a viewer only the one that changes nothing. */
export function ExperimentActions({ experiment, etag }: Props) {
  const canWrite = useCanWrite();
  const [asked, ask] = useState<"edit" | "delete" | null>(null);
  const link = useCopiedLink();
  const close = () => ask(null);
  const copy: MenuItem = { label: "Copy link", act: () => link.copy(location.href) };
  const items: MenuItem[] = canWrite
    ? [
        { label: "Name and hypothesis…", act: () => ask("edit") },
        copy,
        { label: "Delete…", act: () => ask("delete") },
      ]
    : [copy];
  return (
    <>
      <Menu label="Actions" items={items} />
      <CopiedLink link={link} />
      {asked === "edit" && <Edit experiment={experiment} etag={etag} close={close} />}
      {asked === "delete" && <Delete experiment={experiment} close={close} />}
    </>
  );
}

function Edit({ experiment, etag, close }: Props & { close: () => void }) {
  const [name, setName] = useState(experiment.name);
  const [hypothesis, setHypothesis] = useState(experiment.hypothesis);
  const update = useExperimentUpdate(experiment.id, etag);
  const isValid = name.trim() !== "" && hypothesis.trim() !== "";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isValid)
      update.mutate({ name: name.trim(), hypothesis: hypothesis.trim() }, { onSuccess: () => close() });
  };
  return (
    <Dialog title="Name and hypothesis" close={close}>
      <form className={page.form} onSubmit={submit}>
        <TextField
          label="Name"
          id="new-name"
          maxLength={ExperimentFields.name.maxLength}
          value={name}
          onChange={setName}
        />
        <TextField
          label="Hypothesis"
          id="new-hypothesis"
          rows={4}
          maxLength={ExperimentFields.hypothesis.maxLength}
          value={hypothesis}
          onChange={setHypothesis}
        />
        {update.isError && <Failure error={update.error} what="The experiment was not changed" />}
        <SubmitActions isDisabled={!isValid || update.isPending} close={close}>
          {update.isPending ? "Saving…" : "Save"}
        </SubmitActions>
      </form>
    </Dialog>
  );
}

function Delete({ experiment, close }: { experiment: Experiment; close: () => void }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const remove = async () => {
    const path = { experiment_id: experiment.id };
    await read(api.DELETE("/v1/experiments/{experiment_id}", { params: { path } }));
    close();
    await navigate({ to: "/experiments" });
    await client.invalidateQueries({ queryKey: ["experiments"] });
  };
  return (
    <DeleteDialog what={`“${visible(experiment.name)}”`} remove={remove} close={close}>
      Its hypothesis, baseline and conclusion are deleted for good. Its runs and their comparisons stay.
    </DeleteDialog>
  );
}
