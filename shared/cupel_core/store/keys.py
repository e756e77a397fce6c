"""Where every item of the one table lives. A partition key starts with the workspace, so no key reaches across tenants.

pk                                   sk                    item
<ws>#definition#<id>                 head | v000001        a definition's head and its versions
<ws>#definition#<id>                 child#<childId>       a fork of it
<ws>#definition#<id>                 scenarios             the manifest of its scenario pages
<ws>#definition#<id>                 generation#<id>       a generation of scenarios by a model
<ws>#run#<id>                        run | access          a run; when it was last read
<ws>#run#<id>                        event#00000001        its events
<ws>#run#<id>#leaves#<parent>        <number>              barrier leaves, a hundred of one parent
<ws>#run#<id>#nodes#<generation>#…   <number>              inner barrier nodes by level and parent
<ws>#run#<id>#probes#<block>         <index>               outcomes: transcripts and errors of 1,000 probes
<ws>#run#<id>#attempts#<block>       <index>#<epoch>       errors of probes that were retried
<ws>#run#<id>#turns#<block>          <index>#<generation>  a conversation up to its last complete turn
<ws>#run#<id>#contests#<scoring>#…   <index>#<assertion>   which of several answers is the best
<ws>#run#<id>#scorings               <scoringId>           scorings beside the run's own
<ws>#run#<id>#scores#<scoring>#…     <index>               their results, of 1,000 probes
<ws>#run#<id>#scores#<scoring>       <leaf>                how many results a slice of theirs has
<ws>#start#<sha256 of key>           start                 an Idempotency-Key and the run it started
<ws>#schedule#<id>                   schedule              a schedule and its last firings
<ws>#persona#<id>                    resource              a persona; connectors and evals likewise
<ws>#names#<kind>                    <name in lower case>  which persona, connector or eval has this name
<ws>#scenario-owners                 <id's tail>#<id>      from the middle of a scenario's id to its definition
<ws>#settings                        evaluation            who judges unless a run or an eval says otherwise
<ws>#settings                        executions            how many times evals were started
<ws>#provider                        <name>                a provider's settings
<ws>#governor                        <name>                what a provider's workers share: grants, limits, breakers
<ws>#tokens                          <tokenId>             API tokens of a workspace, without the secret
token#<sha256>                       token                 from a secret to its workspace and role
active                               <ws>#<runId>          runs that are not over
rescoring                            <ws>#<runId>#<id>     scorings that are not over
outbox                               <runId>#<epoch>       dispatches that have not been carried out yet

gsi1 lists newest first: `<ws>#definitions`, `<ws>#runs`, `<ws>#schedules`, `<ws>#personas`, `<ws>#connectors` and
`<ws>#evals`, sorted by `<createdAt>#<id>`.
"""

from collections.abc import Iterator

from cupel_core.domain.runs.barrier import Node
from cupel_core.messages import RunRef

PROBES_PER_BLOCK = 1_000


def definition(workspace: str, definition_id: str) -> str:
    return f"{workspace}#definition#{definition_id}"


def version(number: int) -> str:
    return f"v{number:06d}"


def run(ref: RunRef) -> str:
    return f"{ref.workspace}#run#{ref.run_id}"


def event(seq: int) -> str:
    return f"event#{seq:08d}"


def siblings(ref: RunRef, node: Node, generation: int) -> str:
    """The partition a barrier node shares with the other children of its parent. Leaves outlive generations."""
    if node.level == 0:
        return f"{run(ref)}#leaves#{node.parent.number}"
    return f"{run(ref)}#nodes#{generation}#{node.level}#{node.parent.number}"


def node(number: int) -> str:
    return f"{number:06d}"


def probes(ref: RunRef, index: int) -> str:
    return f"{run(ref)}#probes#{index // PROBES_PER_BLOCK}"


def probe(index: int) -> str:
    return f"{index:07d}"


def blocks(indexes: range) -> Iterator[range]:
    """The part of these that lies in one partition, for each partition in turn."""
    for first in range(indexes.start - indexes.start % PROBES_PER_BLOCK, indexes.stop, PROBES_PER_BLOCK):
        yield range(max(first, indexes.start), min(first + PROBES_PER_BLOCK, indexes.stop))


def attempts(ref: RunRef, index: int) -> str:
    return f"{run(ref)}#attempts#{index // PROBES_PER_BLOCK}"


def turns(ref: RunRef, index: int) -> str:
    return f"{run(ref)}#turns#{index // PROBES_PER_BLOCK}"


def contests(ref: RunRef, scoring: str, index: int) -> str:
    return f"{run(ref)}#contests#{scoring}#{index // PROBES_PER_BLOCK}"


def scorings(ref: RunRef) -> str:
    return f"{run(ref)}#scorings"


def scores(ref: RunRef, scoring: str, index: int) -> str:
    return f"{run(ref)}#scores#{scoring}#{index // PROBES_PER_BLOCK}"


def tallies(ref: RunRef, scoring: str) -> str:
    return f"{run(ref)}#scores#{scoring}"


def at(index: int, number: int) -> str:
    """An index with an epoch or a generation."""
    return f"{probe(index)}#{number:06d}"


def transcript_blob(ref: RunRef, index: int, unique: str) -> str:
    """Begins with `transcripts/` for the sake of the bucket's lifecycle rule, which knows prefixes only."""
    return f"transcripts/{ref.workspace}/{ref.run_id}/{probe(index)}-{unique}.json.gz"


def checkpoint_blob(ref: RunRef, index: int, unique: str) -> str:
    """Goes with the transcripts: it holds what they hold."""
    return f"transcripts/{ref.workspace}/{ref.run_id}/{probe(index)}-{unique}.turn.json.gz"


def score_blob(ref: RunRef, index: int, unique: str) -> str:
    """Goes with the transcripts: judges quote from them."""
    return f"transcripts/{ref.workspace}/{ref.run_id}/{probe(index)}-{unique}.score.json.gz"


def snapshot_blob(ref: RunRef, unique: str) -> str:
    """An expansion has a snapshot of its own: two at a time must not replace each other's."""
    return f"runs/{ref.workspace}/{ref.run_id}/{unique}.json.gz"


def schedule(workspace: str, schedule_id: str) -> str:
    return f"{workspace}#schedule#{schedule_id}"


def resource(workspace: str, kind: str, resource_id: str) -> str:
    return f"{workspace}#{kind}#{resource_id}"


def names(workspace: str, kind: str) -> str:
    return f"{workspace}#names#{kind}"


def scenario_owners(workspace: str) -> str:
    return f"{workspace}#scenario-owners"


def workspace_settings(workspace: str) -> str:
    return f"{workspace}#settings"


def provider(workspace: str) -> str:
    return f"{workspace}#provider"


def governor(workspace: str) -> str:
    return f"{workspace}#governor"


def tokens(workspace: str) -> str:
    return f"{workspace}#tokens"


def token(digest: str) -> str:
    return f"token#{digest}"


def start(workspace: str, digest: str) -> str:
    return f"{workspace}#start#{digest}"


OUTBOX = "outbox"
ACTIVE = "active"
RESCORING = "rescoring"


def active(ref: RunRef) -> str:
    return f"{ref.workspace}#{ref.run_id}"


def rescoring(ref: RunRef, scoring: str) -> str:
    return f"{active(ref)}#{scoring}"


def outbox(ref: RunRef, epoch: int) -> str:
    return f"{ref.run_id}#{epoch:06d}"
