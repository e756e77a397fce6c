import page from "../../ui/page.module.css";

/** Explains the figures beside which it stands. */
export function Explanation({ hasRates, hasDecisions }: { hasRates: boolean; hasDecisions: boolean }) {
  return (
    <details className={page.fold}>
      <summary>What these figures mean</summary>
      <dl className={`${page.pairs} ${page.measured}`}>
        <div>
          <dt>Completed</dt>
          <dd>
            Conversations that ended with an answer. Errored ones are not among them, and count in no rate.
          </dd>
        </div>
        {hasRates && (
          <div>
            <dt>Pass rate, n</dt>
            <dd>
              The share of judged conversations that passed all checks. A conversation is judged if each of
              its checks gave a result; n is their number.
            </dd>
          </div>
        )}
        <div>
          <dt>95% interval</dt>
          <dd>
            Other scenarios of the same kind would give another figure, most likely within this range. It is
            wide if there are few scenarios; repeats of a scenario narrow it little.
          </dd>
        </div>
        {hasDecisions && (
          <div>
            <dt>Decision</dt>
            <dd>The code that the decision rule of the definition read from a conversation.</dd>
          </div>
        )}
      </dl>
    </details>
  );
}
