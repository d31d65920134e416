"""The MCP servers of the OpenAI Agents SDK visit the showcase.

python openai_agents_client.py auto URL | python openai_agents_client.py auto -- COMMAND ARGUMENTS
"""

import sys

import anyio
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from report import NotApplicable, arguments
from showcase import GUIDE, KEEL, PASSAGE, take


class Visit:
    def __init__(self, _: str, url: str, command: list[str]) -> None:
        limit = {"client_session_timeout_seconds": 20}
        stdio = MCPServerStdio({"command": command[0], "args": command[1:]}, **limit) if command else None
        self.server = stdio or MCPServerStreamableHttp({"url": url, "timeout": 20}, **limit)

    async def connect(self) -> None:
        await self.server.connect()

    async def list(self) -> None:
        tools = {tool.name for tool in await self.server.list_tools()}
        assert {"under_keel", "weather_forecast"} <= tools, tools
        resources = await self.server.list_resources()
        assert GUIDE in {str(resource.uri) for resource in resources.resources}
        prompts = await self.server.list_prompts()
        assert "passage_plan" in {prompt.name for prompt in prompts.prompts}

    async def call(self) -> None:
        result = (await self.server.call_tool("under_keel", KEEL)).model_dump(by_alias=True)
        assert result["structuredContent"]["is_safe"] is True, result

    async def wrong(self) -> None:
        result = (await self.server.call_tool("under_keel", {**KEEL, "draught": 99})).model_dump(by_alias=True)
        assert result["isError"] is True and "/draught" in result["content"][0]["text"], result

    async def read(self) -> None:
        result = await self.server.read_resource(GUIDE)
        assert result.contents[0].text.startswith("# Pilotage guide"), result

    async def prompt(self) -> None:
        prompt = await self.server.get_prompt("passage_plan", PASSAGE)
        assert "RECK to grain-pier" in prompt.messages[0].content.text, prompt

    async def ask(self) -> None:
        raise NotApplicable("this client answers no questions")

    async def close(self) -> None:
        await self.server.cleanup()


sys.exit(anyio.run(take, Visit(*arguments())))
