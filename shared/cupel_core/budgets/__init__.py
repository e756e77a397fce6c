"""Budgets: every call of a model in a run with a budget is paid from an allowance that its worker has drawn.

Faults affect the account of a budget as follows:

- A lost report, or a lost response to one, changes nothing: figures are absolute, and the next report replaces them.
- A killed worker's lease expires 150 s after its last report. Then the amount that it had drawn counts as spent, so the
account may be too high, but never too low. A worker that was only slow corrects this with its next report.
- A message that is delivered twice leads to two calls, both reserved and both counted, as both were paid.
- While the table is unavailable, the drawn amount may be spent; then no call starts.
- After a limit was lowered below the spent amount, nothing is granted; the drawn amount may be spent.
- A call without a limit of its answer may cost more than was reserved; the excess is deducted from the rest.

A budget is exhausted when too little is available for the cheapest waiting call and no worker has a reservation that it
could release. Only then the worker that notices it pauses the run. The limit belongs to the run, which workers read
every few seconds, so raising or lowering it writes nothing else.
"""
