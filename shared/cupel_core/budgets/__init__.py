"""Budgets: every call of a model in a run with a budget is paid from an allowance that its worker has drawn.

What a fault does to the account of a budget:

- A lost report, or a lost response to one, changes nothing: figures are absolute, and the next report replaces them.
- A killed worker's lease expires 150 s after its last report. At most what it had drawn is then counted too much, and
  nothing too little. A worker that was only slow takes its figures back with its next report.
- A message that is delivered twice leads to two calls, both reserved and both counted, as both were paid.
- While the table is unavailable, what was drawn may be spent; then no call starts.
- After a limit was lowered below what is spent, nothing is granted; what was drawn may be spent.
- A call without a limit of its answer may cost more than was reserved; the excess is deducted from what is left.

A budget is exhausted when too little is available for the cheapest call that waits and no worker has anything reserved
that it could give back. Only then the worker that notices it pauses the run. The limit belongs to the run, which
workers read every few seconds, so raising or lowering it writes nothing else.
"""
