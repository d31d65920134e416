"""The MCP adapters of LangChain visit the showcase.

python langchain_client.py auto URL | python langchain_client.py auto -- COMMAND ARGUMENTS
"""

import sys
from contextlib import AsyncExitStack

import anyio
from langchain_core.tools import ToolException
from langchain_mcp_adapters.callbacks import Callbacks
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.resources import load_mcp_resources
from langchain_mcp_adapters.tools import load_mcp_tools
from mcp.types import ElicitResult
from report import arguments
from showcase import BERTH, GUIDE, KEEL, LIES, PASSAGE, take


async def answer(mcp_context, params, context) -> ElicitResult:  # noqa: ANN001
    return ElicitResult(action="accept", content=BERTH)


class Visit:
    def __init__(self, _: str, url: str, command: list[str]) -> None:
        stdio = {"transport": "stdio", "command": command[0], "args": command[1:]} if command else None
        http = {"transport": "streamable_http", "url": url}
        self.client = MultiServerMCPClient({"showcase": stdio or http}, callbacks=Callbacks(on_elicitation=answer))
        self.stack = AsyncExitStack()
        self.tools = {}

    async def connect(self) -> None:
        self.session = await self.stack.enter_async_context(self.client.session("showcase"))

    async def list(self) -> None:
        tools = await load_mcp_tools(self.session)
        self.tools = {tool.name: tool for tool in tools}
        assert {"under_keel", "weather_forecast"} <= self.tools.keys(), self.tools.keys()

    async def call(self) -> None:
        call = {"name": "under_keel", "args": KEEL, "id": "call", "type": "tool_call"}
        message = await self.tools["under_keel"].ainvoke(call)
        assert message.artifact["structured_content"]["is_safe"] is True, message

    async def wrong(self) -> None:
        try:
            result = await self.tools["under_keel"].ainvoke({**KEEL, "draught": 99})
        except ToolException as error:
            result = error
        assert "/draught" in str(result), result

    async def read(self) -> None:
        [guide] = await load_mcp_resources(self.session, uris=GUIDE)
        assert guide.as_string().startswith("# Pilotage guide"), guide

    async def prompt(self) -> None:
        # The adapters themselves convert no message that embeds a resource, as the second one here does.
        prompt = await self.session.get_prompt("passage_plan", PASSAGE)
        assert "RECK to grain-pier" in prompt.messages[0].content.text, prompt

    async def ask(self) -> None:
        result = await self.tools["allot_berth"].ainvoke({"call_sign": "RECK"})
        assert LIES in str(result), result

    async def close(self) -> None:
        await self.stack.aclose()


sys.exit(anyio.run(take, Visit(*arguments())))
