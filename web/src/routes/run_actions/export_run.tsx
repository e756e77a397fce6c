import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { exportedFile } from "../../api/exports";
import { runQuery } from "../../api/queries";
import type { Run } from "../../api/types";
import { save } from "../../charts/download";
import { counted, formatCount } from "../../lib/format";
import type { ExportFormat } from "../../lib/run_export";
import { CopyButton } from "../../ui/copy";
import { Dialog, DialogActions } from "../../ui/dialog";
import page from "../../ui/page.module.css";
import { Failure } from "../../ui/states";

const FORMATS: Readonly<Record<ExportFormat, readonly [string, string]>> = {
  jsonl: ["JSON Lines", "whole conversations, a line each"],
  csv: ["CSV", "a table with the last message and the last answer of each conversation"],
};
/** The command makes these from the scenarios of the definition too. */
const COMMANDS = [
  ["Inspect", "inspect", "logs"],
  ["promptfoo", "promptfoo", "results.json"],
  ["OpenAI evals", "openai-evals", "items.jsonl"],
] as const;

interface Props {
  run: Run;
  close: () => void;
}

/** Downloads the conversations of a run, and names the commands for the formats of other tools. */
export function ExportRun({ run, close }: Props) {
  const [format, setFormat] = useState<ExportFormat>("jsonl");
  const [done, setDone] = useState(0);
  const client = useQueryClient();
  const stop = useRef<AbortController>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const file = useMutation({
    mutationFn: async (chosen: ExportFormat) => {
      setDone(0);
      const own = new AbortController();
      stop.current = own;
      // The list of runs has no definition, which tells whether there are decisions.
      const whole = await client.fetchQuery(runQuery(run.id));
      save(await exportedFile(whole, chosen, own.signal, setDone), `${run.id}.${chosen}`);
    },
  });
  return (
    <Dialog title="Export the conversations" close={close}>
      <fieldset className={page.choices}>
        <legend className="hidden-text">Format</legend>
        {(Object.keys(FORMATS) as ExportFormat[]).map((each) => (
          <label key={each} className={page.check}>
            <input
              type="radio"
              name="format"
              checked={each === format}
              disabled={file.isPending}
              onChange={() => setFormat(each)}
            />
            <span>
              <strong>{FORMATS[each][0]}</strong>: {FORMATS[each][1]}
            </span>
          </label>
        ))}
      </fieldset>
      <p role="status" className={page.note}>
        {file.isPending &&
          `${formatCount(done)} of ${counted(run.progress.completed + run.progress.failed, "conversation")} read`}
        {file.isSuccess && `${counted(done, "conversation")} exported`}
      </p>
      {file.isError && <Failure error={file.error} what="The conversations were not exported" />}
      <DialogActions>
        <button
          type="button"
          data-kind="primary"
          disabled={file.isPending}
          onClick={() => file.mutate(format)}
        >
          {file.isPending ? "Reading…" : "Download"}
        </button>
        <button type="button" onClick={close}>
          {file.isPending ? "Cancel" : "Close"}
        </button>
      </DialogActions>
      <h3>Formats of other tools</h3>
      <p className={page.note}>The command writes them.</p>
      <ul className={page.list}>
        {COMMANDS.map(([tool, name, output]) => {
          const command = `cupel export ${run.id} --format ${name} --output ${output}`;
          return (
            <li key={name}>
              {tool} <CopyButton label="Copy" of={`the command for ${tool}`} text={command} />
              <code className={page.line}>{command}</code>
            </li>
          );
        })}
      </ul>
    </Dialog>
  );
}
