"""The keys of all items in the one table. A partition key starts with the workspace, so no key reaches another tenant.

pk                                   sk                    item
<ws>#definition#<id>                 head | v000001        a definition's head and its versions
<ws>#definition#<id>                 child#<childId>       a fork of it
<ws>#definition#<id>                 run#<createdAt>#<id>  a run of it
<ws>#definition#<id>                 answers#<createdAt>#<definitionId> a definition that was made for one of its runs
<ws>#definition#<id>                 scenarios#000001      a manifest: the scenario pages of one version or several
<ws>#definition#<id>                 generation#<id>       a generation of scenarios by a model
<ws>#definition#<id>                 openai-eval           fields of its eval in OpenAI's API
<ws>#definition#<id>                 openai-data#000001    fields of a version that is the data of a run in that API
<ws>#run#<id>                        run | access          a run; when it was last read
<ws>#run#<id>                        budget                the spent part of its budget, and its workers' leases
<ws>#run#<id>                        concurrency           its workers' leases, if it limits its conversations
<ws>#run#<id>                        progress              its progress when it was last read
<ws>#run#<id>                        corrections           how often results of it were corrected
<ws>#run#<id>                        rates                 its pass rates, for lists of runs
<ws>#run#<id>                        labelled              which blocks of its probes have labels
<ws>#run#<id>                        label-set#<id>        transcripts that were drawn for labelling
<ws>#run#<id>                        unusable#<token>      how many replies of its judge were unusable
<ws>#run#<id>                        copies#<definitionId> a definition with copies of its answers
<ws>#run#<id>                        event#00000001        its events
<ws>#run#<id>#leaves#<parent>        <number>              barrier leaves, a hundred of one parent
<ws>#run#<id>#nodes#<retryRound>#…   <number>              inner barrier nodes by level and parent
<ws>#run#<id>#pages#<block>          digest#<leaf>#<page>  outcomes of 1,000 probes, of one leaf in each page
<ws>#run#<id>#pages#<block>          text#<leaf>#<page>    the conversations of that page
<ws>#run#<id>#probes#<block>         <index>               outcomes that have changed since the page was written
<ws>#run#<id>#attempts#<block>       <index>#<token>       errors of probes that were retried
<ws>#run#<id>#checkpoints#<block>    <index>#<retryRound>  a conversation up to its last completed step
<ws>#run#<id>#selections#<rescore>#… <index>#<assertion>   the selection of the best of several answers
<ws>#run#<id>#labels#<block>         <index>#<round>#<sha256> the label of a criterion by a labeller
<ws>#run#<id>#analyses               basic#<rescore>#…     its analyses by time; `-` for the run's own scoring
<ws>#run#<id>#reports                <reportId>            its reports, without their documents
<ws>#run#<id>#rescores               <rescoreId>           rescores of the run
<ws>#run#<id>#rescores#<rescore>#…   <index>               their results, of 1,000 probes
<ws>#run#<id>#rescores#<rescore>     <leaf>                how many results a leaf range of a rescore has
<ws>#run#<id>                        comparison#<id>       a comparison of it
<ws>#comparison#<id>                 comparison            a comparison, without its figures
<ws>#experiment#<id>                 resource              an experiment
<ws>#experiment#<id>                 run#<createdAt>#<id>  a run of it
<ws>#chat#<id>                       event#<turnId>#00000001 an event of a turn
<ws>#chat#<id>                       draft#<turnId>#000001#00000000 the text of a main call, by attempt and offset
<ws>#chat#<id>                       artifacts#<turnId>    the persisted artifacts of its profile session after a turn
<ws>#chat#<id>                       request#<sha256>      a clientRequestId and its turn, for a day
<ws>#chat#<id>#turns                 <turnId>              a turn, and the paid results of its worker so far
<ws>#job#<id>                        job                   a queued computation
<ws>#start#<sha256 of key>           start                 an Idempotency-Key and what it created
<ws>#schedule#<id>                   schedule              a schedule and its last firings
<ws>#persona#<id>                    resource              a persona; connectors and evals likewise
<ws>#profile#<id>                    resource, v000001     an operation profile, and its versions
<ws>#chat#<id>                       chat                  a chat: its settings, and which branch is active
<ws>#chat#<id>                       branch#<branchId>     a branch: its length, its pages, the turn in progress
<ws>#chat#<id>                       page#<pageId>         pointers to 50 exchanges, of one branch or of several
<ws>#chat#<id>                       exchange#<id>         the numbers of the variants of an exchange
<ws>#chat#<id>                       message#<id>#user#0001 a variant of a message; answers likewise
<ws>#names#<kind>                    <name in lower case>  which persona, connector or eval has this name
<ws>#scenario-owners                 <id's tail>#<id>      the definition that a scenario's id belongs to
<ws>#settings                        evaluation            the workspace's evaluation settings
<ws>#settings                        webhook               the workspace's webhook, without its secret
<ws>#callbacks                       <time>#<id>           the log of its calls, of the last 14 days
<ws>#audit                           <time>#<requestId>    who did what, of the last year
<ws>#settings                        executions            how many times evals were started
<ws>#settings                        waiting               its waiting requests
<ws>#settings                        quota#<name>          the maximum use of a quota
<ws>#provider                        <name>                a provider's settings
<ws>#governor                        <name>                what a provider's workers share: leases, limits, breakers
<ws>#tokens                          <tokenId>             API tokens of a workspace, without their secrets
<ws>#files                           <fileId>              images and PDFs; their content is in the bucket
<ws>#openai-files                    <fileId>, <uploadId>  files of rows for OpenAI's evals, likewise; uploads in parts
token#<sha256>                       token                 the workspace and role of a secret
token#<sha256>                       ticket                a ticket for the events of one run
token#<sha256>                       login-code            a code that opens a session, once
token#<sha256>                       rate                  the part of its limit that a caller, or a workspace, has used
waiting                              waiting               the waiting requests of all workspaces
workspaces                           <ws>                  workspaces that operators have created or erased
active                               <ws>#<runId>          runs that have not ended
rescoring                            <ws>#<runId>#<id>     rescores that have not ended
erasures                             <time>#<ws>#<runId>#… content to be erased from that time on
callbacks                            <ws>#<runId>          runs with events that a webhook has not received yet
jobs                                 <ws>#<id>             jobs that have not ended
turning                              <ws>#<chatId>#<id>    turns of chats that are not over
repairs                              <ws>#<id>             repairs of providers whose runs are not all resumed
outbox                               <runId>#<token>       dispatches not carried out yet

gsi1 lists newest first: `<ws>#definitions`, `<ws>#runs`, `<ws>#comparisons`, `<ws>#jobs`, `<ws>#schedules`,
`<ws>#personas`, `<ws>#connectors`, `<ws>#evals`, `<ws>#profiles`, `<ws>#chats`, `<ws>#files`, `<ws>#openai-evals` and
`<ws>#openai-files`, sorted by `<createdAt>#<id>`. Deleted schedules, personas, connectors, evals, profiles and chats
are in lists of their own, `<ws>#deleted-schedules` and so on, from which a workspace is erased.
"""

from collections.abc import Iterator

from cupel_core.base.messages import ChatRef, RunRef
from cupel_core.domain.runs.barrier import FANOUT, Node

PROBES_PER_BLOCK = 1_000
DIGEST_PAGES, TEXT_PAGES = "digest#", "text#"


def definition(workspace: str, definition_id: str) -> str:
    return f"{workspace}#definition#{definition_id}"


def version(number: int) -> str:
    return f"v{number:06d}"


def openai_data(version: int) -> str:
    return f"openai-data#{version:06d}"


def openai_evals(workspace: str) -> str:
    return f"{workspace}#openai-evals"


def manifest(revision: int) -> str:
    return f"scenarios#{revision:06d}"


def run(ref: RunRef) -> str:
    return f"{ref.workspace}#run#{ref.run_id}"


def unusable_replies(fencing_token: int) -> str:
    return f"{UNUSABLE_REPLIES}{fencing_token:06d}"


def event(seq: int) -> str:
    return f"event#{seq:08d}"


def barrier_nodes(ref: RunRef, node: Node, retry_round: int) -> str:
    """Return the partition that a node shares with the other children of its parent. Leaves are the same in all retry
    rounds."""
    if node.level == 0:
        return f"{run(ref)}#leaves#{node.parent.number}"
    return f"{run(ref)}#nodes#{retry_round}#{node.level}#{node.parent.number}"


def barrier_node(number: int) -> str:
    return f"{number:06d}"


def probes(ref: RunRef, index: int) -> str:
    return f"{run(ref)}#probes#{index // PROBES_PER_BLOCK}"


def probe(index: int) -> str:
    return f"{index:07d}"


def pages(ref: RunRef, leaf: int) -> str:
    return f"{run(ref)}#pages#{leaf * FANOUT // PROBES_PER_BLOCK}"


def digest_page(leaf: int, page_id: str = "") -> str:
    """Return the sort key of a page, or without `page_id` the prefix of all pages of the leaf."""
    return f"{DIGEST_PAGES}{barrier_node(leaf)}#{page_id}"


def text_page(leaf: int, page_id: str = "") -> str:
    return f"{TEXT_PAGES}{barrier_node(leaf)}#{page_id}"


def blocks(indexes: range) -> Iterator[range]:
    for first in range(indexes.start - indexes.start % PROBES_PER_BLOCK, indexes.stop, PROBES_PER_BLOCK):
        yield range(max(first, indexes.start), min(first + PROBES_PER_BLOCK, indexes.stop))


def attempts(ref: RunRef, index: int) -> str:
    return f"{run(ref)}#attempts#{index // PROBES_PER_BLOCK}"


def checkpoints(ref: RunRef, index: int) -> str:
    return f"{run(ref)}#checkpoints#{index // PROBES_PER_BLOCK}"


def selections(ref: RunRef, scoring_id: str, index: int) -> str:
    return f"{run(ref)}#selections#{scoring_id}#{index // PROBES_PER_BLOCK}"


def labels(ref: RunRef, block: int) -> str:
    return f"{run(ref)}#labels#{block}"


def label_set(label_set_id: str) -> str:
    return f"{LABEL_SETS}{label_set_id}"


def rescores(ref: RunRef) -> str:
    return f"{run(ref)}#rescores"


def analyses(ref: RunRef) -> str:
    return f"{run(ref)}#analyses"


def analysis(kind: str, rescore_id: str | None, created: str, analysis_id: str) -> str:
    """Return the sort key of an analysis. With empty `created` and `analysis_id`, it is a prefix."""
    return f"{kind}#{rescore_id or '-'}#{created}{'#' if analysis_id else ''}{analysis_id}"


def reports(ref: RunRef) -> str:
    return f"{run(ref)}#reports"


def rescore_results(ref: RunRef, rescore_id: str, index: int) -> str:
    return f"{run(ref)}#rescores#{rescore_id}#{index // PROBES_PER_BLOCK}"


def rescore_counts(ref: RunRef, rescore_id: str) -> str:
    return f"{run(ref)}#rescores#{rescore_id}"


def numbered_probe(index: int, number: int) -> str:
    return f"{probe(index)}#{number:06d}"


def workspace_partitions(workspace: str) -> tuple[str, ...]:
    return (
        scenario_owners(workspace),
        workspace_settings(workspace),
        budgets(workspace),
        callback_log(workspace),
        audit_log(workspace),
        provider(workspace),
        governor(workspace),
        dead_letters(workspace),
        tokens(workspace),
        files(workspace),
        data_files(workspace),
    )


def comparison(workspace: str, comparison_id: str) -> str:
    return f"{workspace}#comparison#{comparison_id}"


def comparison_link(comparison_id: str) -> str:
    return f"{COMPARISON_LINKS}{comparison_id}"


def experiment(workspace: str, experiment_id: str) -> str:
    return resource(workspace, "experiment", experiment_id)


def job(workspace: str, job_id: str) -> str:
    return f"{workspace}#job#{job_id}"


def open_job(workspace: str, job_id: str) -> str:
    return f"{workspace}#{job_id}"


def schedule(workspace: str, schedule_id: str) -> str:
    return f"{workspace}#schedule#{schedule_id}"


def resource(workspace: str, kind: str, resource_id: str) -> str:
    return f"{workspace}#{kind}#{resource_id}"


def resource_names(workspace: str, kind: str) -> str:
    return f"{workspace}#names#{kind}"


def chat(ref: ChatRef) -> str:
    return f"{ref.workspace}#chat#{ref.chat_id}"


def chat_turns(ref: ChatRef) -> str:
    """Return the partition of a chat's turns, which are listed by their ids."""
    return f"{chat(ref)}#turns"


def open_turn(ref: ChatRef, turn_id: str) -> str:
    return f"{ref.workspace}#{ref.chat_id}#{turn_id}"


def scenario_owners(workspace: str) -> str:
    return f"{workspace}#scenario-owners"


def workspace_settings(workspace: str) -> str:
    return f"{workspace}#settings"


def budgets(workspace: str) -> str:
    """Return the partition of a workspace's spending limits and of its spending in each month."""
    return f"{workspace}#budgets"


def callback_log(workspace: str) -> str:
    return f"{workspace}#callbacks"


def audit_log(workspace: str) -> str:
    return f"{workspace}#audit"


def provider(workspace: str) -> str:
    return f"{workspace}#provider"


def governor(workspace: str) -> str:
    return f"{workspace}#governor"


def dead_letters(workspace: str) -> str:
    return f"{workspace}#dead-letters"


def dead_letter(provider: str, message_id: str) -> str:
    return f"{provider}#{message_id}"


def files(workspace: str) -> str:
    return f"{workspace}#files"


def data_files(workspace: str) -> str:
    return f"{workspace}#openai-files"


def tokens(workspace: str) -> str:
    return f"{workspace}#tokens"


def creation_list(workspace: str, plural: str, *, deleted: bool = False) -> str:
    """Return the partition of the index that lists resources of a kind; `plural` is its name."""
    return f"{workspace}#deleted-{plural}" if deleted else f"{workspace}#{plural}"


def token(digest: str) -> str:
    return f"token#{digest}"


def idempotency_key(workspace: str, digest: str) -> str:
    return f"{workspace}#start#{digest}"


PROGRESS_READINGS = "progress"
UNUSABLE_REPLIES = "unusable#"
CORRECTIONS = "corrections"
RATES = "rates"
LABELLED = "labelled"
LABEL_SETS = "label-set#"
OUTBOX = "outbox"
WORKSPACES = "workspaces"
WAITING = "waiting"
ACTIVE_RUNS = "active"
OPEN_RESCORES = "rescoring"
OPEN_GENERATIONS = "generating"
ERASURES = "erasures"
SWEEP_CURSORS = "sweep-cursors"
CALLBACKS = "callbacks"
REPAIRS = "repairs"
OPEN_JOBS = "jobs"
OPEN_TURNS = "turning"
TURN_SLOTS = "turnSlots"
"""Both keys of the item that lists the running turns of all workspaces have this value."""
COMPARISON_LINKS = "comparison#"


SHARED_PARTITIONS = (ACTIVE_RUNS, OPEN_RESCORES, OPEN_GENERATIONS, CALLBACKS, REPAIRS, OPEN_JOBS, OPEN_TURNS)


def active_runs_of(workspace: str) -> str:
    return f"{workspace}#"


def active_run(ref: RunRef) -> str:
    return f"{active_runs_of(ref.workspace)}{ref.run_id}"


def repair(workspace: str, repair_id: str) -> str:
    return f"{workspace}#{repair_id}"


def open_rescore(ref: RunRef, rescore_id: str) -> str:
    return f"{active_run(ref)}#{rescore_id}"


def open_generation(workspace: str, definition_id: str, generation_id: str) -> str:
    return f"{workspace}#{definition_id}#{generation_id}"


def erasure(due: str, ref: RunRef, what: str) -> str:
    return f"{due}#{active_run(ref)}#{what}"


def outbox(ref: RunRef, fencing_token: int) -> str:
    return f"{ref.run_id}#{fencing_token:06d}"
