"""Descriptions and examples of fields that mean the same in every schema that has them."""

from typing import Any


class CommonFields:
    """A field of a model that has no docstring of its own is described by the one of the same name here.

    It also has that one's example, unless its own docstring or the schema that it refers to has one.
    """

    adjusted_p: Any
    """Example: 0.004"""
    allow_unpriced: Any
    """Example: false"""
    alpha: Any
    """Example: 0.05"""
    assertions: Any
    """Example: [{"type": "contains", "value": "30 days"}]"""
    attempts: Any
    """Example: 1"""
    base_url: Any
    """Address of the agent or of the provider's API."""
    call_timeout_seconds: Any
    """Example: 60.0"""
    calls: Any
    """Example: 3"""
    code: Any
    """Kind of error; see docs/architecture.md."""
    completed: Any
    """Example: 58"""
    completed_at: Any
    """Time of the end; null before. Example: 2026-11-20T09:34:10Z"""
    config: Any
    """Settings; what is omitted is inherited. Example: {"model": "support-agent"}"""
    confirmed_usd: Any
    """Example: 6.5"""
    connector_id: Any
    """Connector of the agent under test. Example: con_01"""
    cost_usd: Any
    """Example: 0.0042"""
    count: Any
    """Example: 2"""
    created_at: Any
    """Time of creation. Example: 2026-11-20T09:30:00Z"""
    definition_id: Any
    """Id of the definition. Example: def_01"""
    definition_name: Any
    """Example: Refund policy"""
    definition_version: Any
    """Version of the definition. Example: 3"""
    description: Any
    """Description for people to read. Example: Writes short messages and wants an answer at once."""
    detail: Any
    """Explanation of the problem for people. Example: No such run"""
    difference: Any
    """Example: 0.42"""
    dimensions: Any
    """Example: {"delay": 5}"""
    duration_ms: Any
    """Example: 1840"""
    embedding_model: Any
    """Model that compares texts by meaning, as `provider/name`; null for none.

    Example: openai/text-embedding-3-small
    """
    enabled: Any
    """True if it is in use. Example: true"""
    error: Any
    """Cause of the failure; null without one. Example: 401 Unauthorized"""
    errored: Any
    """Example: 2"""
    errors: Any
    """Every invalid field."""
    etag: Any
    """Example: "\\"3\\"" """
    eval_id: Any
    """Id of the eval; null for a run that was started without one. Example: evl_01"""
    evaluator_url: Any
    """Address of the external evaluator; null for none. Example: https://evaluator.example.com/score"""
    experiment_id: Any
    """Id that groups runs; null for none. Example: exp_01"""
    expires_at: Any
    """Example: 2027-01-01T00:00:00Z"""
    failure: Any
    """Cause of the failure; null without one."""
    failure_criteria: Any
    """Example: The agent promises a refund after the limit."""
    folder: Any
    """Example: support"""
    follow_ups: Any
    """Example: ["And if I have lost the receipt?"]"""
    headers: Any
    """Example: {"Authorization": "Bearer agent-key"}"""
    height: Any
    """Example: 480"""
    hypothesis: Any
    """Claim that the experiment tests."""
    id: Any
    """Unique id; ids of later things sort after those of earlier ones. Example: run_01k1f0aa"""
    index: Any
    """Example: 7"""
    input_usd_per_million: Any
    """Price of a million input tokens in USD; null if unknown. Example: 0.25"""
    interval: Any
    """Example: [0.18, 0.66]"""
    interval95: Any
    """Example: [0.81, 0.96]"""
    is_complete: Any
    """Example: true"""
    items: Any
    """Items of this page."""
    job_count: Any
    """Example: 60"""
    judge_max_output_tokens: Any
    """Tokens of each reply of a judge or a simulated user at most; null for the default. Example: 8192"""
    judge_model: Any
    """Model that judges criteria, as `provider/name`; null for none. Example: anthropic/claude-sonnet-5-5"""
    judged: Any
    """Example: 58"""
    label: Any
    """Short name for people to read."""
    left_out_checks: Any
    """Example: {}"""
    max_attempts: Any
    """Attempts of one call to a target, with the first; null for the default. Example: 4"""
    max_budget_usd: Any
    """Example: 5.0"""
    max_concurrency: Any
    """Conversations in progress at the same time, of all targets together; null for no limit of the run's own.

    Example: 3
    """
    max_turns: Any
    """Turns of a conversation at most. Example: 6"""
    mean: Any
    """Example: 0.9"""
    message: Any
    """Explanation for people. Example: the provider answered 429: rate limit reached"""
    messages: Any
    """The messages, in order."""
    metadata: Any
    """Any JSON object of your own. Example: {"commit": "6f1b2c9"}"""
    metric: Any
    """Name under which the result is counted; null for none."""
    model: Any
    """Model as `provider/name`. Example: openai/gpt-6.1-terra"""
    models: Any
    """Example: ["openai/gpt-6.1-terra"]"""
    name: Any
    """Name for people to read. Example: Refund policy"""
    next_cursor: Any
    """Cursor of the next page; null on the last one. Example: eyJrIjoicnVuXzAxazFmMGFhIn0"""
    operations: Any
    """Operations before and after the main call; see docs/pipeline.md."""
    output_usd_per_million: Any
    """Price of a million output tokens in USD; null if unknown. Example: 2.0"""
    p: Any
    """Example: 0.002"""
    params: Any
    """Example: {"temperature": 0.2}"""
    persona_id: Any
    """Id of the persona; null for none. Example: per_01"""
    persona_ids: Any
    """Example: ["per_01"]"""
    persona_model: Any
    """Model that simulates users, as `provider/name`; null for none. Example: openai/gpt-6.1-terra"""
    persona_name: Any
    """Name of the persona when the run started; null for none. Example: Impatient customer"""
    priced_usd: Any
    """Example: 0.0042"""
    priority: Any
    """Queue that its probes wait in."""
    probe_index: Any
    """Example: 7"""
    probes: Any
    """Example: 60"""
    profile_id: Any
    """The operation profile of the turns; null for none. Example: prof_01"""
    profile_version: Any
    """Example: 2"""
    progress: Any
    """Completed part."""
    prompt_id: Any
    """Example: polite"""
    provider: Any
    """Name of the provider. Example: openai"""
    raw_response: Any
    """Example: "{\\"successMet\\": true, \\"failureMet\\": false}" """
    reason: Any
    """Reason in a sentence; null without one. Example: The agent explains the 30-day limit."""
    reasoning: Any
    """Example: The agent explains the 30-day limit."""
    repeats: Any
    """Number of runs of each case. Example: 3"""
    request_id: Any
    """Example: JKfFAhvroAMEPtA="""
    rescore_id: Any
    """Example: rsc_01"""
    reserved_usd: Any
    """Example: 0.3"""
    retry_delay_seconds: Any
    """Example: 2.0"""
    run_id: Any
    """Id of the run. Example: run_01k1f0aa"""
    sample_percentage: Any
    """Share of the scenarios that are run, in percent."""
    scenario_count: Any
    """Example: 20"""
    scenario_id: Any
    """Id of the scenario. Example: scn_01"""
    scenario_name: Any
    """Example: late refund"""
    score: Any
    """Example: 0.9"""
    seed: Any
    """Example: 17"""
    size: Any
    """Example: 48211"""
    spend: Any
    """Cost of the calls."""
    spent_usd: Any
    """Example: 3.0"""
    stagger_ms: Any
    """Shortest and longest gap between two starts of one worker, in milliseconds; null for none. Example: [200, 400]"""
    standard_error: Any
    """Example: 0.04"""
    started_at: Any
    """Time of the start; null before. Example: 2026-11-20T09:30:02Z"""
    status: Any
    """Current status. Example: 404"""
    strict_variables: Any
    """Example: false"""
    success: Any
    """Example: true"""
    successes: Any
    """Example: 52"""
    summarizer_model: Any
    """Example: openai/gpt-6.1-terra"""
    system: Any
    """Example: You are a support agent of an online shop."""
    system_prompt: Any
    """Example: You are an impatient customer."""
    tag: Any
    """Example: refunds"""
    tags: Any
    """Tags, for filters. Example: ["nightly"]"""
    target_id: Any
    """Example: sober"""
    targets: Any
    """Models and agents under test; see docs/targets.md."""
    temperature: Any
    """Sampling temperature; null for the provider's default. Example: 0.7"""
    text: Any
    """Example: What is in this picture?"""
    timezone: Any
    """Example: Europe/Berlin"""
    title: Any
    """Kind of problem, in words. Example: Not Found"""
    total: Any
    """Example: 60"""
    uncertain_usd: Any
    """Example: 0.1"""
    unscored: Any
    """Example: 0"""
    updated_at: Any
    """Time of the last change. Example: 2026-11-20T09:34:10Z"""
    url: Any
    """Example: https://ci.example.com/cupel"""
    usage: Any
    """Tokens that were used."""
    verdict: Any
    """The judge's verdict on the criteria; null if there is none."""
    version_label: Any
    """Example: v1.2"""
    warnings: Any
    """What may be a mistake, but is no error."""
    width: Any
    """Example: 640"""
