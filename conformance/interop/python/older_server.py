"""A server on the first generation of the official Python SDK, for `pintle` to visit.

python older_server.py          on standard input and output
python older_server.py http     Streamable HTTP on a free port, which the log names
python older_server.py sse      the transport of 2024
"""

import sys

from mcp.server.fastmcp import Context, FastMCP
from pydantic import BaseModel

server = FastMCP("pilot-book", instructions="Ask for the tide first.", port=0)


class Berth(BaseModel):
    name: str
    hours: int = 6


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
async def moor(vessel: str, ctx: Context) -> str:
    """Asks for a berth, and moors."""
    berth = await ctx.elicit("Where does she lie?", Berth)
    return f"{vessel} lies at {berth.data.name} for {berth.data.hours} hours"


@server.resource("log://guide", mime_type="text/markdown")
def guide() -> str:
    """The guide."""
    return "# Guide\n\nKeep the light to port.\n"


@server.prompt()
def passage(vessel: str, tone: str = "brief") -> str:
    """Plans a passage."""
    return f"Plan a {tone} passage for {vessel}."


server.run({"http": "streamable-http", "sse": "sse"}.get(sys.argv[-1], "stdio"))
