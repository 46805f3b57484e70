"""The addresses of the daemon."""

import os
from importlib.metadata import version

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute

from .bus_door import BusDoor
from .door import McpDoor


def application(*, mcp: McpDoor, bus: BusDoor) -> Starlette:
    """`/mcp/<episode>/<agent>` for agents, `/bus` for operators, `/health` for everybody."""
    return Starlette(
        routes=[
            Route("/mcp/{episode}/{agent}", endpoint=mcp),
            WebSocketRoute("/bus", endpoint=bus),
            Route("/health", endpoint=_health, methods=["GET"]),
        ]
    )


async def _health(_request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok", "version": version("adapter-server"), "pid": os.getpid()})
