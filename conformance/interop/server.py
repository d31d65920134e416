"""A server on the official Python SDK, that `pintle` connects to: see `run-tool`.

    python server.py          on standard input and output
    python server.py http     Streamable HTTP on a free port, which the log names
    python server.py sse      the transport of 2024
"""

import sys
from typing import Annotated

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.types import Completion
from pydantic import BaseModel, Field

VESSELS = ["gudgeon", "reckoner", "rule"]
LOG = "log://movements"

server = MCPServer("pilot-book", version="1.0", instructions="Ask for the tide first.")
movements: list[str] = []


class Height(BaseModel):
    """The height of the water, in metres."""

    metres: float
    is_rising: bool


class Berth(BaseModel):
    """A berth, and the hours there."""

    name: str = Field(description="The berth")
    hours: int = Field(default=6, ge=1, le=72)


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def tide(hour: Annotated[int, Field(ge=0, le=23)], datum: str = "chart") -> Height:
    """The tide at an hour."""
    return Height(metres=abs(12 - hour) / 2, is_rising=hour > 12 and datum != "")


@server.tool()
def ground() -> str:
    """Runs aground."""
    raise ValueError("she sits on the bar")


@server.tool()
async def sound(lines: int, ctx: Context) -> str:
    """Sounds the basin line by line, and reports progress."""
    for line in range(1, lines + 1):
        await ctx.report_progress(line, lines, f"line {line}")
        await anyio.sleep(0.02)
    return f"{lines} lines"


@server.tool()
async def drift(ctx: Context) -> str:
    """Drifts until the call is cancelled."""
    await ctx.report_progress(0, None, "adrift")
    await anyio.sleep_forever()
    return ""


@server.tool()
async def log_movement(vessel: str, ctx: Context) -> str:
    """Logs a movement, and notifies listeners."""
    movements.append(vessel)
    await ctx.notify_resource_updated(LOG)
    return str(len(movements))


@server.tool()
async def commission(name: str, ctx: Context) -> str:
    """Adds a tool, and notifies listeners."""

    def tug() -> str:
        return f"{name} pulls"

    server.add_tool(tug, name=f"tug_{name}")
    await ctx.notify_tools_changed()
    if ctx.protocol_version is None or ctx.protocol_version < "2026-07-28":
        await ctx.session.send_tool_list_changed()
    return f"tug_{name}"


def asks() -> Elicit[Berth]:
    return Elicit("Where does she lie?", Berth)


@server.tool()
def moor(vessel: str, berth: Annotated[Berth, Resolve(asks)]) -> str:
    """Asks for a berth, and moors."""
    return f"{vessel} lies at {berth.name} for {berth.hours} hours"


@server.resource("log://guide", mime_type="text/markdown")
def guide() -> str:
    """The guide."""
    return "# Guide\n\nKeep the light to port.\n"


@server.resource("log://chart", mime_type="image/png")
def chart() -> bytes:
    """The chart."""
    return bytes.fromhex("89504e470d0a1a0a")


@server.resource(LOG)
def log() -> str:
    """The logged movements."""
    return "\n".join(movements)


@server.resource("log://vessels/{vessel}")
def vessel(vessel: str) -> str:
    """One vessel."""
    return f"{vessel}, of this harbour"


@server.prompt()
def passage(vessel: str, tone: str = "brief") -> str:
    """Plans a passage."""
    return f"Plan a {tone} passage for {vessel}."


@server.completion()
async def complete(ref, argument, context):  # noqa: ANN001, ANN201
    """Completes the names of vessels."""
    values = [name for name in VESSELS if name.startswith(argument.value)]
    return Completion(values=values, total=len(values)) if argument.name == "vessel" else None


match sys.argv[1:]:
    case ["http"]:
        server.run("streamable-http", host="127.0.0.1", port=0)
    case ["sse"]:
        server.run("sse", host="127.0.0.1", port=0)
    case _:
        server.run()
