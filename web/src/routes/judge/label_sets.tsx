import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useId, useState } from "react";
import { createLabelSet, deleteLabelSet } from "../../api/labels";
import { CreateLabelSet } from "../../api/limits";
import { isTerminal } from "../../api/queries";
import { useCanWrite } from "../../api/role";
import type { LabelSet, Run } from "../../api/types";
import { judgedText } from "../../lib/calibration";
import { visible } from "../../lib/format";
import { parseWhole } from "../../lib/forms";
import { progressText } from "../../lib/labelling";
import { DeleteButton } from "../../ui/delete_button";
import { Dialog, SubmitActions } from "../../ui/dialog";
import { Field } from "../../ui/field";
import { NumberField, wholeNumberError } from "../../ui/number_field";
import page from "../../ui/page.module.css";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import { Failure } from "../../ui/states";
import { TextField } from "../../ui/text_field";
import { Ago } from "../../ui/time";

/** Lists the label sets of a run, and leads to labelling them. */
export function LabelSets({ run, sets }: { run: Run; sets: readonly LabelSet[] }) {
  const canWrite = useCanWrite();
  const client = useQueryClient();
  const remove = async (id: string) => {
    await deleteLabelSet(run.id, id);
    await client.invalidateQueries({ queryKey: ["run", run.id] });
  };
  return (
    <Section title="Labels">
      {sets.length === 0 ? (
        <p className={page.note}>
          No transcripts were drawn for labelling yet. People label them without seeing the judge's verdict.
        </p>
      ) : (
        <ScrollRegion label="label sets">
          <table>
            <thead>
              <tr>
                <th scope="col">Criterion</th>
                <th scope="col">Progress</th>
                {canWrite && (
                  <th scope="col">
                    <span className="hidden-text">Actions</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {sets.map((set) => (
                <tr key={set.id}>
                  <th scope="row" className={page.name}>
                    {visible(judgedText(set))}
                    <small>
                      drawn <Ago time={set.createdAt} />
                    </small>
                    {set.instructions !== null && (
                      <small className={page.excerpt}>{visible(set.instructions)}</small>
                    )}
                  </th>
                  <td>{progressText(set)}</td>
                  {canWrite && (
                    <td>
                      <span className={page.tags}>
                        <Link
                          className={page.action}
                          to="/runs/$id"
                          params={{ id: run.id }}
                          search={{ label: set.id }}
                        >
                          Label
                        </Link>
                        <DeleteButton what="the label set" remove={() => remove(set.id)}>
                          The labels that were given in it stay, but the calibration no longer knows how their
                          transcripts were drawn.
                        </DeleteButton>
                      </span>
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
      {canWrite && (
        <p className={page.below}>
          <DrawButton run={run} />
        </p>
      )}
    </Section>
  );
}

export function DrawButton({ run }: { run: Run }) {
  const [isOpen, open] = useState(false);
  if (!isTerminal(run.status)) return <>Transcripts can be drawn once the run has ended.</>;
  return (
    <>
      <button type="button" onClick={() => open(true)}>
        Draw transcripts…
      </button>
      {isOpen && (
        <Dialog title="Draw transcripts for labelling" close={() => open(false)}>
          <DrawForm id={run.id} close={() => open(false)} />
        </Dialog>
      )}
    </>
  );
}

function DrawForm({ id, close }: { id: string; close: () => void }) {
  const client = useQueryClient();
  const ids = useId();
  const [criterion, setCriterion] = useState<string>(CreateLabelSet.criterion.default);
  const [count, setCount] = useState(String(CreateLabelSet.count.default));
  const [instructions, setInstructions] = useState("");
  const number = parseWhole(count, CreateLabelSet.count);
  const isWrong = number === undefined || number === null;
  const make = useMutation({
    mutationFn: () =>
      createLabelSet(id, {
        criterion: criterion.trim(),
        count: number ?? CreateLabelSet.count.default,
        instructions: instructions.trim() || null,
      }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["run", id, "label sets"] });
      close();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isWrong && criterion.trim() !== "") make.mutate();
  };
  return (
    <form className={page.form} onSubmit={submit}>
      <Field
        label="Criterion"
        id={`${ids}-criterion`}
        note="“result” is the whole result; the name of a check is that check alone; “decision” is its code."
      >
        <input
          id={`${ids}-criterion`}
          list={`${ids}-known`}
          size={40}
          autoComplete="off"
          maxLength={CreateLabelSet.criterion.maxLength}
          value={criterion}
          onChange={(event) => setCriterion(event.target.value)}
        />
        <datalist id={`${ids}-known`}>
          <option value="result" />
          <option value="decision" />
        </datalist>
      </Field>
      <NumberField
        label="Number of transcripts"
        id={`${ids}-count`}
        value={count}
        change={setCount}
        error={isWrong ? wholeNumberError(CreateLabelSet.count) : null}
        note="One of each scenario first, and more of those that the judge let fail. Decide on it beforehand."
      />
      <TextField
        label="Instructions"
        id={`${ids}-instructions`}
        rows={4}
        maxLength={CreateLabelSet.instructions.maxLength}
        note="When does a transcript pass? Everybody who labels reads it."
        value={instructions}
        onChange={setInstructions}
      />
      {make.isError && <Failure error={make.error} what="Nothing was drawn" />}
      <SubmitActions isDisabled={isWrong || make.isPending} close={close}>
        {make.isPending ? "Drawing…" : "Draw"}
      </SubmitActions>
    </form>
  );
}
