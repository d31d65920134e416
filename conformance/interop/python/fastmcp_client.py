"""The client of FastMCP visits the showcase.

python fastmcp_client.py ERA URL | python fastmcp_client.py ERA -- COMMAND ARGUMENTS
ERA: `modern` (pinned), `auto` (finds out) or `legacy`.
"""

import sys

import anyio
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from report import arguments
from showcase import BERTH, GUIDE, KEEL, LIES, PASSAGE, take

MODES = {"modern": "2026-07-28", "auto": "auto", "legacy": "legacy"}


async def answer(message, response_type, params, context):  # noqa: ANN001, ANN201
    return BERTH


class Visit:
    def __init__(self, era: str, url: str, command: list[str]) -> None:
        self.revision = "2025-11-25" if era == "legacy" else "2026-07-28"
        transport = StdioTransport(command[0], command[1:], keep_alive=False) if command else url
        self.client = Client(transport, mode=MODES[era], elicitation_handler=answer)

    async def connect(self) -> None:
        await self.client.__aenter__()
        assert self.client.protocol_version == self.revision, self.client.protocol_version

    async def list(self) -> None:
        tools = {tool.name for tool in await self.client.list_tools()}
        assert {"under_keel", "weather_forecast"} <= tools, tools
        assert GUIDE in {str(resource.uri) for resource in await self.client.list_resources()}
        assert "passage_plan" in {prompt.name for prompt in await self.client.list_prompts()}

    async def call(self) -> None:
        result = await self.client.call_tool("under_keel", KEEL)
        assert result.structured_content["is_safe"] is True, result

    async def wrong(self) -> None:
        result = await self.client.call_tool("under_keel", {**KEEL, "draught": 99}, raise_on_error=False)
        assert result.is_error and "/draught" in result.content[0].text, result

    async def read(self) -> None:
        contents = await self.client.read_resource(GUIDE)
        assert contents[0].text.startswith("# Pilotage guide"), contents

    async def prompt(self) -> None:
        prompt = await self.client.get_prompt("passage_plan", PASSAGE)
        assert "RECK to grain-pier" in prompt.messages[0].content.text, prompt

    async def ask(self) -> None:
        result = await self.client.call_tool("allot_berth", {"call_sign": "RECK"})
        assert result.content[0].text == LIES, result

    async def close(self) -> None:
        await self.client.__aexit__(None, None, None)


sys.exit(anyio.run(take, Visit(*arguments())))
