"""The toolset of Pydantic AI visits the showcase.

python pydantic_ai_client.py ERA URL | python pydantic_ai_client.py ERA -- COMMAND ARGUMENTS
ERA: `auto` (the toolset makes its client), or `legacy` (a client is handed to it).
"""

import sys

import anyio
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from pydantic_ai import ModelRetry
from pydantic_ai.mcp import MCPToolset
from report import NotApplicable, arguments
from showcase import BERTH, GUIDE, KEEL, LIES, PASSAGE, take


async def answer(message, response_type, params, context):  # noqa: ANN001, ANN201
    return BERTH


class Visit:
    def __init__(self, era: str, url: str, command: list[str]) -> None:
        target = StdioTransport(command[0], command[1:], keep_alive=False) if command else url
        self.is_legacy = era == "legacy"
        if self.is_legacy:
            target = Client(target, mode="legacy", elicitation_handler=answer)
        self.toolset = MCPToolset(target)

    async def connect(self) -> None:
        await self.toolset.__aenter__()
        assert self.toolset.server_info.name == "pintle-showcase"
        assert "harbour pilot" in self.toolset.instructions

    async def list(self) -> None:
        tools = {tool.name for tool in await self.toolset.list_tools()}
        assert {"under_keel", "weather_forecast"} <= tools, tools
        assert GUIDE in {str(resource.uri) for resource in await self.toolset.list_resources()}
        assert "passage_plan" in {prompt.name for prompt in await self.toolset.list_prompts()}

    async def call(self) -> None:
        result = await self.toolset.direct_call_tool("under_keel", KEEL)
        assert result["is_safe"] is True, result

    async def wrong(self) -> None:
        try:
            result = await self.toolset.direct_call_tool("under_keel", {**KEEL, "draught": 99})
        except ModelRetry as error:
            result = error
        assert "/draught" in str(result), result

    async def read(self) -> None:
        guide = await self.toolset.read_resource(GUIDE)
        assert guide.startswith("# Pilotage guide"), guide

    async def prompt(self) -> None:
        prompt = await self.toolset.get_prompt("passage_plan", PASSAGE)
        assert "RECK to grain-pier" in str(prompt), prompt

    async def ask(self) -> None:
        if not self.is_legacy:
            raise NotApplicable("this toolset answers no question of a server of 2026-07-28")
        result = await self.toolset.direct_call_tool("allot_berth", {"call_sign": "RECK"})
        assert LIES in str(result), result

    async def close(self) -> None:
        await self.toolset.__aexit__(None, None, None)


sys.exit(anyio.run(take, Visit(*arguments())))
