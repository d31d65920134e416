"""A server on FastMCP, for `pintle` to visit.

python fastmcp_server.py          on standard input and output
python fastmcp_server.py http     Streamable HTTP on a free port, which it prints
"""

import socket
import sys

import anyio
from fastmcp import Context, FastMCP
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from pydantic import BaseModel

server = FastMCP("pilot-book", version="1.0", instructions="Ask for the tide first.")
QUESTION = "Where does she lie?"


class Berth(BaseModel):
    name: str
    hours: int = 6


@server.tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool
async def moor(vessel: str, revision: str, ctx: Context) -> str | InputRequiredResult:
    """Asks for a berth, and moors. A client of 2026-07-28 calls again with its answer."""
    if revision < "2026-07-28":
        berth = (await ctx.elicit(QUESTION, Berth)).data
    elif ctx.input_responses is None:
        form = ElicitRequestFormParams(message=QUESTION, requested_schema=Berth.model_json_schema())
        return InputRequiredResult(input_requests={"berth": ElicitRequest(params=form)})
    else:
        berth = Berth.model_validate(ctx.input_responses["berth"].content)
    return f"{vessel} lies at {berth.name} for {berth.hours} hours"


@server.resource("log://guide", mime_type="text/markdown")
def guide() -> str:
    """The guide."""
    return "# Guide\n\nKeep the light to port.\n"


@server.prompt
def passage(vessel: str, tone: str = "brief") -> str:
    """Plans a passage."""
    return f"Plan a {tone} passage for {vessel}."


async def serve_http() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    await server.run_http_async(show_banner=False, sockets=[listener])


if sys.argv[1:] == ["http"]:
    anyio.run(serve_http)
else:
    server.run(show_banner=False)
