"""The embedded model's private server: run as a process of its own, prints its address, ends with its parent.

Started by `local.py` as `python -m evalrun.providers.local_server MODEL SLOTS CONTEXT THREADS`.
"""

from __future__ import annotations

import sys

import xllamacpp


def main() -> None:
    """Load the model, print `listening ADDRESS`, and stay until standard input closes."""
    model, slots, context, threads = sys.argv[1], *map(int, sys.argv[2:5])
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = slots
    params.n_ctx = slots * context
    # split, so that the same seed gives the same text whatever the other slots do
    params.kv_unified = False
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.verbosity = -1
    params.warmup = False
    params.ui = False
    # a slot is taken only by calls of its own role, so that its prefix stays cached
    params.slot_prompt_similarity = 0.0
    server = xllamacpp.Server(params)
    sys.stdout.write(f"listening {server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
