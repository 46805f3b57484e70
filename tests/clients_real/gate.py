"""An address without a token in front of an agent's endpoint, for programs that cannot send one."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from adapter_server.edge.http_server import HttpServer
from adapter_server.edge.listener import bind, url_of

_OWN = {"content-length", "transfer-encoding", "connection", "authorization"}


@asynccontextmanager
async def gate(url: str, *, token: str) -> AsyncGenerator[str]:
    """Serve on a port of its own; everything is passed on as it is, with the token."""
    timeout = httpx2.Timeout(60, read=None)
    async with httpx2.AsyncClient(timeout=timeout, trust_env=False) as http, anyio.create_task_group() as tasks:

        async def pass_on(request: Request) -> StreamingResponse:
            headers = {name: value.strip() for name, value in request.headers.items() if name not in _OWN}
            headers["authorization"] = f"Bearer {token}"
            asked = http.build_request(request.method, url, headers=headers, content=await request.body())
            answer = await http.send(asked, stream=True)

            async def body() -> AsyncGenerator[bytes]:
                try:
                    async for chunk in answer.aiter_raw():
                        yield chunk
                finally:
                    await answer.aclose()

            kept = {name: value for name, value in answer.headers.items() if name not in _OWN}
            return StreamingResponse(body(), status_code=answer.status_code, headers=kept)

        listener = bind("127.0.0.1", 0)
        routes = [Route("/mcp", pass_on, methods=["GET", "POST", "DELETE"])]
        server = HttpServer(Starlette(routes=routes))
        tasks.start_soon(server.run_on, listener)
        await server.is_started.wait()
        try:
            yield f"{url_of(listener, '127.0.0.1')}/mcp"
        finally:
            server.should_exit = True
            with anyio.move_on_after(10, shield=True):
                await server.is_stopped.wait()
            tasks.cancel_scope.cancel()
