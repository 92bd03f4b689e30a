"""A model server on loopback that answers every call after the same time, in both vendors' wire formats.

Run: python benchmarks/model_server.py SECONDS. It prints its port and serves until its standard
input closes. The role is read from the model's name; every answer differs from the one before.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys

CRITERIA = ("character", "objective", "responsiveness", "format")
JUDGED = json.dumps({c: {"quote": "", "reason": "as an agent should", "score": 8} for c in CRITERIA})
INPUT_TOKENS, OUTPUT_TOKENS = 100, 20
BATCHED = 0.002
"""Answers due within so many seconds leave together, so that the server's own timers cost little."""


class Answers:
    """What is said, by role, and how often."""

    def __init__(self) -> None:
        self.calls = 0
        self._numbers = itertools.count(1)

    def body(self, request: bytes, *, anthropic: bool) -> bytes:
        """The answer to a request as JSON."""
        self.calls += 1
        number = next(self._numbers)
        if b"judge-1" in request:
            text = JUDGED
        elif b"persona-1" in request:
            text = json.dumps({"message": f"and what about point {number}", "done": False})
        else:
            text = f"here is what i know about point {number}."
        if anthropic:
            usage = {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS}
            content = [{"type": "text", "text": text}]
            answer: dict[str, object] = {"id": f"m{number}", "type": "message", "role": "assistant", "model": "bench"}
            answer |= {"content": content, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}
        else:
            message = {"role": "assistant", "content": text, "refusal": None}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            total = {"prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS}
            answer = {"id": f"c{number}", "object": "chat.completion", "created": 1, "model": "bench"}
            answer |= {"choices": [choice], "usage": {**total, "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS}}
        return json.dumps(answer).encode()


class Connection(asyncio.Protocol):
    """One connection: requests with a length, one after another."""

    def __init__(self, answers: Answers, seconds: float) -> None:
        self._answers = answers
        self._seconds = seconds
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each request that is complete."""
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self._buffer) < end + 4 + length:
                return
            request = self._buffer[end + 4 : end + 4 + length]
            self._buffer = self._buffer[end + 4 + length :]
            if head.startswith(b"get"):
                self._send(str(self._answers.calls).encode())
                continue
            anthropic = head.split(b"\r\n", 1)[0].find(b"/messages") >= 0
            loop = asyncio.get_running_loop()
            due = (loop.time() + self._seconds) // BATCHED * BATCHED + BATCHED
            loop.call_at(due, self._send, self._answers.body(request, anthropic=anthropic))

    def _send(self, body: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            self._transport.write(head.encode() + body)


async def serve(seconds: float) -> None:
    """Serve until standard input closes."""
    loop = asyncio.get_running_loop()
    answers = Answers()
    server = await loop.create_server(lambda: Connection(answers, seconds), "127.0.0.1", 0, backlog=4096)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    closed = asyncio.Event()
    loop.add_reader(sys.stdin, lambda: closed.set() if not sys.stdin.buffer.read1(1) else None)
    await closed.wait()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
