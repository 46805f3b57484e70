"""The addresses of the daemon."""

import os
from importlib.metadata import version

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute

from .bus_door import BusDoor
from .door import McpDoor
from .suite_door import SuiteDoor


def application(*, mcp: McpDoor, bus: BusDoor, suites: SuiteDoor | None = None) -> Starlette:
    """`/mcp/<episode>/<agent>` for agents, `/bus` for operators, `/health` for everybody; `/conformance` on request."""
    routes = [
        Route("/mcp/{episode}/{agent}", endpoint=mcp),
        WebSocketRoute("/bus", endpoint=bus),
        Route("/health", endpoint=_health, methods=["GET"]),
    ]
    if suites is not None:
        routes.append(Route("/conformance", endpoint=suites))
    return Starlette(routes=routes)


async def _health(_request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok", "version": version("adapter-server"), "pid": os.getpid()})
