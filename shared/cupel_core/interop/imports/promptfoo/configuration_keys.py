"""Says what becomes of each key of a promptfoo configuration.

docs/interop.md has the same table, and tests compare both.

The reasons are those of the report. Keys of providers are in `provider_services.py` and `http_providers.py`.
"""

from collections.abc import Mapping

from cupel_core.interop.imports.promptfoo.key_reports import Fate, Key, Shape

_TAKEN = Key(Fate.TAKEN)
_TEXT = Key(Fate.TAKEN, shape=Shape.TEXT)
_FLAG = Key(Fate.TAKEN, shape=Shape.FLAG)
_LIST = Key(Fate.TAKEN, shape=Shape.LIST)
_MAPPING = Key(Fate.TAKEN, shape=Shape.MAPPING)
_ASSERTIONS = Key(Fate.TAKEN, shape=Shape.LIST, is_required=True)
_TESTS = Key(Fate.TAKEN, shape=Shape.LIST_OR_FILE, is_required=True)
_REPEAT = Key(Fate.TAKEN, "`--repeats` of the suggested run", Shape.COUNT)
_CODE = "code is not executed"
_OWN_DEFINITION = "the tests with the same providers are a definition of their own"
_IGNORED = Key(Fate.IGNORED)
_FILTER = Key(Fate.LEFT, "all tests and providers are imported")
_ARGUMENT = Key(Fate.LEFT, "an option of the command: write it into the configuration")
_JUDGE_PROMPT = Key(Fate.CHANGED, "the `config` of `llm-rubric`, if it has plain variables only")

CONFIGURATION: Mapping[str, Key] = {
    "description": _TAKEN,
    "prompts": _TAKEN,
    "providers": _TAKEN,
    "targets": _TAKEN,
    "tests": _TAKEN,
    "scenarios": _TESTS,
    "defaultTest": Key(Fate.TAKEN, shape=Shape.MAPPING_OR_FILE, is_required=True),
    "assertionTemplates": _MAPPING,
    "evaluateOptions": Key(Fate.TAKEN, "see below", Shape.MAPPING),
    "commandLineOptions": Key(Fate.TAKEN, "see below", Shape.MAPPING),
    "repeat": Key(Fate.TAKEN, shape=Shape.COUNT),
    "derivedMetrics": Key(Fate.TAKEN, "`derivedMetrics`, if it is arithmetic", Shape.LIST, is_required=True),
    "env": Key(Fate.TAKEN, "`{{env.NAME}}` in templates", Shape.MAPPING),
    "extensions": Key(Fate.LEFT, _CODE),
    "nunjucksFilters": Key(Fate.LEFT, _CODE),
    "redteam": Key(Fate.LEFT, "attacks are not generated"),
    "tracing": Key(Fate.LEFT, "traces are not collected"),
    "$schema": _IGNORED,
    "metadata": _IGNORED,
    "outputPath": _IGNORED,
    "sharing": _IGNORED,
    "tags": _IGNORED,
    "writeLatestResults": _IGNORED,
}
PROMPT: Mapping[str, Key] = {
    "raw": _TAKEN,
    "id": _TAKEN,
    "label": _TAKEN,
    "display": Key(Fate.TAKEN, "as `label`"),
    "config": Key(Fate.CHANGED, "the `params` of the prompt", Shape.MAPPING),
    "template": _IGNORED,
    "function": Key(Fate.LEFT, _CODE),
}
EVALUATE_OPTIONS: Mapping[str, Key] = {
    "repeat": _REPEAT,
    "filterRange": _FILTER,
    "isRedteam": Key(Fate.LEFT, "attacks are not generated"),
    "cache": _IGNORED,
    "delay": _IGNORED,
    "generateSuggestions": _IGNORED,
    "interactiveProviders": _IGNORED,
    "maxConcurrency": _IGNORED,
    "maxEvalTimeMs": _IGNORED,
    "progressCallback": _IGNORED,
    "showProgressBar": _IGNORED,
    "silent": _IGNORED,
    "suggestionsCount": _IGNORED,
    "timeoutMs": _IGNORED,
}
COMMAND_LINE_OPTIONS: Mapping[str, Key] = {
    "repeat": _REPEAT,
    "description": _ARGUMENT,
    "prompts": _ARGUMENT,
    "promptPrefix": _ARGUMENT,
    "promptSuffix": _ARGUMENT,
    "providers": _ARGUMENT,
    "tests": _ARGUMENT,
    "var": _ARGUMENT,
    "vars": _ARGUMENT,
    "assertions": _ARGUMENT,
    "modelOutputs": Key(Fate.LEFT, "outputs given in the configuration are not evaluated"),
    "grader": Key(Fate.LEFT, "name the judge with `--judge-model`"),
    "extension": Key(Fate.LEFT, _CODE),
    "filterErrorsOnly": _FILTER,
    "filterFailing": _FILTER,
    "filterFailingOnly": _FILTER,
    "filterFirstN": _FILTER,
    "filterMetadata": _FILTER,
    "filterPattern": _FILTER,
    "filterPrompts": _FILTER,
    "filterProviders": _FILTER,
    "filterRange": _FILTER,
    "filterSample": _FILTER,
    "filterSampleSeed": _FILTER,
    "filterTargets": _FILTER,
    "cache": _IGNORED,
    "config": _IGNORED,
    "delay": _IGNORED,
    "envPath": _IGNORED,
    "generateSuggestions": _IGNORED,
    "maxConcurrency": _IGNORED,
    "noShare": _IGNORED,
    "output": _IGNORED,
    "progressBar": _IGNORED,
    "retryErrors": _IGNORED,
    "share": _IGNORED,
    "suggestionsCount": _IGNORED,
    "table": _IGNORED,
    "tableCellMaxLength": _IGNORED,
    "tags": _IGNORED,
    "verbose": _IGNORED,
    "watch": _IGNORED,
    "write": _IGNORED,
}
SCENARIO: Mapping[str, Key] = {"config": _TESTS, "tests": _TESTS, "description": _TAKEN}
TEST: Mapping[str, Key] = {
    "description": _TAKEN,
    "vars": _TAKEN,
    "assert": _ASSERTIONS,
    "options": _MAPPING,
    "metadata": _MAPPING,
    "prompts": Key(Fate.TAKEN, "whether the definition has the scenario", Shape.LIST),
    "threshold": Key(Fate.CHANGED, "that of an `assert-set` around the assertions", Shape.NUMBER),
    "assertScoringFunction": Key(Fate.CHANGED, "with `--output`, the `scoringFunction` of an `assert-set`"),
    "provider": Key(Fate.CHANGED, _OWN_DEFINITION, Shape.MAPPING_OR_TEXT),
    "providers": Key(Fate.CHANGED, _OWN_DEFINITION, Shape.LIST),
    "providerOutput": Key(Fate.LEFT, "outputs given in the configuration are not evaluated"),
}
OPTIONS: Mapping[str, Key] = {
    "prefix": _TAKEN,
    "suffix": _TAKEN,
    "provider": Key(Fate.TAKEN, "the `provider` of assertions that need a model", Shape.MAPPING_OR_TEXT),
    "factuality": Key(Fate.TAKEN, "the `config` of `factuality`", Shape.MAPPING),
    "disableConversationVar": _FLAG,
    "disableDefaultAsserts": _FLAG,
    "disableVarExpansion": _FLAG,
    "transform": Key(Fate.CHANGED, "the `transform` of each assertion, if it is in the subset or with `--output`"),
    "postprocess": Key(Fate.CHANGED, "as `transform`"),
    "rubricPrompt": _JUDGE_PROMPT,
    "transformVars": Key(Fate.LEFT, _CODE),
    "storeOutputAs": Key(
        Fate.CHANGED, "the tests that use the answer become separate turns of one scenario", Shape.TEXT
    ),
    "repeat": Key(Fate.LEFT, "a run repeats all its scenarios equally often"),
    "runSerially": Key(Fate.LEFT, "scenarios of a run have no fixed order"),
}
ASSERTION: Mapping[str, Key] = {
    "type": _TAKEN,
    "value": _TAKEN,
    "threshold": _TAKEN,
    "weight": _TAKEN,
    "metric": _TAKEN,
    "provider": Key(Fate.TAKEN, shape=Shape.MAPPING_OR_TEXT),
    "assert": Key(Fate.TAKEN, "of an `assert-set`"),
    "config": Key(Fate.TAKEN, "of `webhook`, `javascript` and `python`"),
    "transform": Key(Fate.CHANGED, "its own, if it is in the subset or with `--output`"),
    "postprocess": Key(Fate.CHANGED, "as `transform`"),
    "contextTransform": Key(Fate.LEFT, _CODE),
    "rubricPrompt": _JUDGE_PROMPT,
}
PROVIDER: Mapping[str, Key] = {
    "id": _TAKEN,
    "label": _TAKEN,
    "prompts": _LIST,
    "config": Key(Fate.TAKEN, "see below", Shape.MAPPING),
    "delay": Key(Fate.LEFT, "limits are those of the workspace's providers"),
    "env": Key(Fate.LEFT, "environment variables are not imported"),
    "inputs": Key(Fate.LEFT, "attacks are not generated"),
    "transform": Key(Fate.CHANGED, "as that of the options, and before it", Shape.TEXT),
}
PARAMETERS: Mapping[str, str] = {
    "temperature": "temperature",
    "max_tokens": "maxOutputTokens",
    "maxTokens": "maxOutputTokens",
    "max_completion_tokens": "maxOutputTokens",
    "max_output_tokens": "maxOutputTokens",
    "maxOutputTokens": "maxOutputTokens",
    "max_gen_len": "maxOutputTokens",
    "max_tokens_to_sample": "maxOutputTokens",
    "max_new_tokens": "maxOutputTokens",
    "maxTokenCount": "maxOutputTokens",
    "num_predict": "maxOutputTokens",
    "top_p": "topP",
    "topP": "topP",
    "top_k": "topK",
    "topK": "topK",
    "stop": "stop",
    "stop_sequences": "stop",
    "stopSequences": "stop",
    "seed": "seed",
    "random_seed": "seed",
    "frequency_penalty": "frequencyPenalty",
    "frequencyPenalty": "frequencyPenalty",
    "presence_penalty": "presencePenalty",
    "presencePenalty": "presencePenalty",
    "reasoning_effort": "reasoningEffort",
    "reasoning": "reasoningEffort",
    "effort": "reasoningEffort",
    "thinkingConfig": "reasoningEffort",
    "response_format": "responseFormat",
    "output_format": "responseFormat",
    "responseSchema": "responseFormat",
    "response_schema": "responseFormat",
    "responseMimeType": "responseFormat",
    "response_mime_type": "responseFormat",
    "tools": "tools",
    "functions": "tools",
    "tool_choice": "toolChoice",
    "function_call": "toolChoice",
    "toolChoice": "toolChoice",
    "functionCallingConfig": "toolChoice",
}
"""The parameter for each option, in the spellings of promptfoo's providers."""
FURTHER_FIELDS = ("passthrough", "extra_body")
"""These options contain fields of the request's body."""
_ACCOUNT = Key(Fate.LEFT, "keys and addresses are those of `cupel providers set`")
_PRICE = Key(Fate.LEFT, "prices are those of `cupel providers set --price`")
_NO_PARAMETER = Key(Fate.LEFT, "a target has no such parameter")
MODEL_OPTIONS: Mapping[str, Key] = {
    **{name: Key(Fate.CHANGED, f"`{parameter}`") for name, parameter in PARAMETERS.items()},
    **dict.fromkeys(
        ("generationConfig", "inferenceConfig", "interfaceConfig", "textGenerationConfig", "toolConfig"),
        Key(Fate.CHANGED, "what it contains", Shape.MAPPING),
    ),
    **dict.fromkeys(
        FURTHER_FIELDS,
        Key(Fate.CHANGED, "known parameters, and `extraBody` of a server of your own", Shape.MAPPING),
    ),
    "apiBaseUrl": Key(Fate.CHANGED, "a server of your own, named after the host", Shape.TEXT),
    "apiHost": Key(Fate.CHANGED, "a server of your own, named after the host", Shape.TEXT),
    **dict.fromkeys(
        (
            "accessKeyId",
            "apiKey",
            "apiKeyEnvar",
            "apiVersion",
            "credentials",
            "endpoint",
            "headers",
            "organization",
            "profile",
            "projectId",
            "region",
            "secretAccessKey",
            "sessionToken",
        ),
        _ACCOUNT,
    ),
    **dict.fromkeys(("cacheReadInputCost", "cost", "inputCost", "outputCost"), _PRICE),
    "functionCallbackHandler": Key(Fate.LEFT, _CODE),
    "functionToolCallbacks": Key(Fate.LEFT, _CODE),
    "maxRetries": Key(Fate.LEFT, "set `maxAttempts` of the target"),
    "mcp": Key(Fate.LEFT, "servers of tools are not called"),
    "systemInstruction": Key(Fate.LEFT, "write it as a system message of the prompt"),
    "instructions": Key(Fate.LEFT, "write it as a system message of the prompt"),
    "thinking": Key(Fate.LEFT, "write it as `reasoning_effort`"),
    "reasoningConfig": Key(Fate.LEFT, "write it as `reasoning_effort`"),
    **dict.fromkeys(
        (
            "additionalModelRequestFields",
            "additionalModelResponseFieldPaths",
            "anthropic_version",
            "audio",
            "background",
            "beta",
            "cache_control",
            "documents",
            "guardrailIdentifier",
            "guardrailVersion",
            "include",
            "inferenceModelType",
            "input_type",
            "k",
            "logit_bias",
            "max_tool_calls",
            "metadata",
            "modalities",
            "num_generations",
            "p",
            "parallel_tool_calls",
            "performanceConfig",
            "preamble",
            "previous_response_id",
            "prompt_cache_key",
            "prompt_cache_options",
            "prompt_cache_retention",
            "prompt_truncation",
            "raw_prompting",
            "return_likelihoods",
            "return_prompt",
            "safetySettings",
            "search_queries_only",
            "serviceTier",
            "service_tier",
            "store",
            "tool_resources",
            "tool_results",
            "trace",
            "truncate",
            "truncation",
            "useAssistantRole",
            "user",
            "verbosity",
            "webhook_url",
        ),
        _NO_PARAMETER,
    ),
    "apiKeyRequired": _IGNORED,
    "omitDefaults": _IGNORED,
    "showThinking": _IGNORED,
    "stream": _IGNORED,
    "useDefaultApiKey": _IGNORED,
}
HTTP_OPTIONS: Mapping[str, Key] = {
    "url": Key(Fate.TAKEN, "`baseUrl`; without variables"),
    "method": Key(Fate.TAKEN, "`POST`, `PUT` or `PATCH`"),
    "body": Key(
        Fate.CHANGED,
        "`request`; `{{prompt}}` is the user's last message, `{{sessionId}}` the conversation's id, any other name a "
        "variable of the scenario",
    ),
    "request": Key(Fate.CHANGED, "as `url`, `method`, `headers` and `body`; its body must be JSON"),
    "useHttps": Key(Fate.TAKEN, "the scheme of `request`", Shape.FLAG),
    "queryParams": Key(Fate.CHANGED, "part of `path`, if they are fixed and no secrets", Shape.MAPPING),
    "headers": Key(Fate.CHANGED, "names to set, with environment variables as values", Shape.MAPPING),
    "auth": Key(Fate.CHANGED, "a header to set, if it is `bearer`, `basic` or an `api_key` in a header", Shape.MAPPING),
    "transformResponse": Key(
        Fate.CHANGED, "`reply`, if it is a path such as `json.choices[0].text`, or several as alternatives"
    ),
    "responseParser": Key(Fate.CHANGED, "as `transformResponse`"),
    "sessionParser": Key(Fate.CHANGED, "`conversationId`, if it is a path below `data.body`"),
    "multipart": Key(Fate.LEFT, "a connector sends JSON, not forms"),
    "transformRequest": Key(Fate.LEFT, "code is not executed: write the request into body"),
    "session": Key(Fate.LEFT, "a connector makes one request for an answer"),
    "signatureAuth": Key(Fate.LEFT, "a connector does not sign requests"),
}
NEEDED_HTTP_OPTIONS = frozenset({"multipart", "transformRequest", "session", "signatureAuth"})
"""A provider that has one of these options is left, because its requests would be others without it."""
SECTIONS: Mapping[str, Mapping[str, Key]] = {
    "the configuration": CONFIGURATION,
    "`evaluateOptions`": EVALUATE_OPTIONS,
    "`commandLineOptions`": COMMAND_LINE_OPTIONS,
    "a prompt": PROMPT,
    "a scenario of `scenarios`": SCENARIO,
    "a test, or `defaultTest`": TEST,
    "`options`": OPTIONS,
    "an assertion": ASSERTION,
    "a provider": PROVIDER,
    "`config` of a model": MODEL_OPTIONS,
    "`config` of `http`": HTTP_OPTIONS,
}
