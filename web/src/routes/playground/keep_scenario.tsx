import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, read } from "../../api/client";
import { scenarioOf } from "../../lib/playground";
import { Dialog, DialogActions, SubmitActions } from "../../ui/dialog";
import page from "../../ui/page.module.css";
import { Failure } from "../../ui/states";
import { TextField } from "../../ui/text_field";
import { DefinitionChoice } from "./definition_choice";

const MAX_MESSAGE = 100_000;
const MAX_CRITERIA = 50_000;

/** Adds a message to the scenarios of a definition. */
export function KeepScenario({ message: sent, close }: { message: string; close: () => void }) {
  const client = useQueryClient();
  const [id, choose] = useState("");
  const [message, setMessage] = useState(sent);
  const [criteria, setCriteria] = useState("");
  const [contained, setContained] = useState("");
  const [key] = useState(() => crypto.randomUUID());
  const add = useMutation({
    mutationFn: () =>
      read(
        api.POST("/v1/definitions/{definition_id}/scenarios", {
          params: { path: { definition_id: id }, header: { "Idempotency-Key": key } },
          body: { items: [scenarioOf(message, criteria, contained)] },
        }),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: ["definition", id] }),
  });
  const isValid = id !== "" && message.trim() !== "" && !add.isPending;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isValid) add.mutate();
  };
  if (add.data)
    return (
      <Dialog title="Kept as a scenario" close={close}>
        <p role="status">
          It is one of {add.data.total} in version {add.data.definitionVersion} of the definition.
        </p>
        <DialogActions>
          <Link to="/definitions/$id/scenarios" params={{ id }}>
            Show the scenarios
          </Link>
          <button type="button" onClick={close}>
            Close
          </button>
        </DialogActions>
      </Dialog>
    );
  return (
    <Dialog title="Keep as a scenario" close={close} isWide>
      <form className={page.form} onSubmit={submit}>
        <DefinitionChoice id={id} choose={choose} />
        <TextField
          label="First user message"
          id="kept-message"
          rows={4}
          maxLength={MAX_MESSAGE}
          value={message}
          onChange={setMessage}
        />
        <TextField
          label="Success criteria (optional)"
          id="kept-criteria"
          rows={2}
          maxLength={MAX_CRITERIA}
          note="What a judge expects of the answer"
          value={criteria}
          onChange={setCriteria}
        />
        <TextField
          label="The answer contains (optional)"
          id="kept-contained"
          maxLength={MAX_CRITERIA}
          note="Checked without a judge; upper and lower case are the same"
          value={contained}
          onChange={setContained}
        />
        {add.isError && <Failure error={add.error} what="The scenario was not added" />}
        <SubmitActions isDisabled={!isValid} close={close}>
          {add.isPending ? "Adding…" : "Add the scenario"}
        </SubmitActions>
      </form>
    </Dialog>
  );
}
