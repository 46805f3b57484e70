"""A scripted model on loopback that both vendors' clients take for their own."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

import anyio
from anyio.from_thread import start_blocking_portal
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from adapter_server.edge.http_server import HttpServer
from adapter_server.edge.listener import bind, url_of

from . import messages, responses
from .conversation import Conversation, Script

KEY = "dummy-model-key-48213"


class ScriptedModel:
    """Answers by a script; keeps what it was asked."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[Conversation] = []
        self.keys: set[str] = set()
        self.url = ""
        self.fails = 0
        """How many of the next requests are answered with status 500."""
        self._lock = threading.Lock()

    @property
    def environment(self) -> dict[str, str]:
        """What leads both clients here."""
        return {
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "OPENAI_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": KEY,
        }

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/responses", self._responses, methods=["POST"]),
                Route("/v1/messages", self._messages, methods=["POST"]),
                Route("/v1/messages/count_tokens", self._tokens, methods=["POST"]),
            ]
        )

    async def _responses(self, request: Request) -> Response:
        asked = responses.read_request(await request.json())
        return await self._answer(request, asked, None)

    async def _messages(self, request: Request) -> Response:
        body = await request.json()
        return await self._answer(request, messages.read_request(body), str(body.get("model", "")))

    async def _answer(self, request: Request, asked: Conversation, model: str | None) -> Response:
        with self._lock:
            self.asked.append(asked)
            self.keys.add(request.headers.get("x-api-key") or request.headers.get("authorization", ""))
            if self.fails:
                self.fails -= 1
                return JSONResponse({"error": {"type": "api_error", "message": "scripted failure"}}, status_code=500)
        answer = await anyio.to_thread.run_sync(self.script, asked)
        parts = responses.stream(answer) if model is None else messages.stream(answer, model=model)
        return StreamingResponse(parts, media_type="text/event-stream")

    async def _tokens(self, _request: Request) -> JSONResponse:
        return JSONResponse({"input_tokens": 100})


@contextmanager
def scripted_model(script: Script) -> Generator[ScriptedModel]:
    """Serve a script on a port of its own, in a thread of its own."""
    model = ScriptedModel(script)
    listener = bind("127.0.0.1", 0)
    model.url = url_of(listener, "127.0.0.1")
    with start_blocking_portal() as portal:
        server = portal.call(HttpServer, model.app())
        running = portal.start_task_soon(server.run_on, listener)
        portal.call(server.is_started.wait)
        try:
            yield model
        finally:
            server.should_exit = True
            running.result(timeout=20)
