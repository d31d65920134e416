"""The official Python client visits the showcase (`pintle serve`): every server feature, asserted.

python client.py ERA URL | python client.py ERA -- COMMAND ARGUMENTS
ERA: `modern` (pinned), `auto` (negotiated) or `legacy`.
"""

import json
import logging
import os
import sys
import warnings
from base64 import b64decode
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import anyio
import mcp_types as types
from mcp import MCPError
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from report import NotApplicable, Report, arguments, logged, until

GUIDE = "harbour://guide"
CHART = "harbour://charts/tide.png"
MOVEMENTS = "harbour://movements"
TEMPLATE = "harbour://vessels/{call_sign}"
CONDITIONS = "https://harbour.example/conditions"
ROOTS = [("file:///charts/north", "north"), ("file:///charts/south", None)]
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
TURNS_BACK = "the pilot boat turns back"

MODES = {"modern": "2026-07-28", "auto": "auto", "legacy": "legacy"}


class Visit:
    """One client and the messages that it received."""

    def __init__(self, era: str, url: str, command: list[str]) -> None:
        self.is_modern = era != "legacy"
        self.is_pinned = era == "modern"
        self.logs: list[types.LoggingMessageNotificationParams] = []
        self.updates: list[str] = []
        self.changes = 0
        self.asked: list[Any] = []
        self.warnings = Warnings(logging.WARNING)
        logging.getLogger().addHandler(self.warnings)
        environment = {"INTEROP_LOG": os.environ["INTEROP_LOG"]}
        stdio = StdioServerParameters(command=command[0], args=command[1:], env=environment) if command else None
        self.client = Client(
            stdio or url,
            mode=MODES[era],
            client_info=types.Implementation(name="interop-python", version="1.0.0"),
            logging_callback=self.receive_log,
            message_handler=self.receive,
            elicitation_callback=self.answer,
            sampling_callback=self.sample,
            list_roots_callback=self.list_roots,
        )

    async def receive_log(self, params: types.LoggingMessageNotificationParams) -> None:
        self.logs.append(params)

    async def receive(self, message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            self.updates.append(str(message.params.uri))
        if isinstance(message, types.ToolListChangedNotification):
            self.changes += 1

    async def answer(self, _: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        self.asked.append(params)
        if params.mode == "url":
            return types.ElicitResult(action="accept")
        if "RULE" in params.message:
            return types.ElicitResult(action="decline")
        if "SLAK" in params.message:
            return types.ElicitResult(action="cancel")
        if "may RECK leave" in params.message:
            return types.ElicitResult(action="accept", content={"may_leave": True, "remark": "mind the ferry"})
        content = {"berth": "grain-pier", "hours": 6, "shore_power": True}
        return types.ElicitResult(action="accept", content=content)

    async def sample(self, _: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        self.asked.append(params)
        said = types.TextContent(type="text", text=f"Aye: {params.messages[0].content.text}")
        return types.CreateMessageResult(role="assistant", model="parrot", content=said)

    async def list_roots(self, _: Any) -> types.ListRootsResult:
        self.asked.append("roots")
        return types.ListRootsResult(roots=[types.Root(uri=uri, name=name) for uri, name in ROOTS])

    async def call(self, tool: str, arguments: dict[str, Any] | None = None, **options: Any) -> types.CallToolResult:
        return await self.client.call_tool(tool, arguments or {}, **options)

    async def text(self, tool: str, arguments: dict[str, Any] | None = None, **options: Any) -> str:
        result = await self.call(tool, arguments, **options)
        assert not result.is_error, result
        return result.content[0].text

    async def connects(self) -> None:
        await self.client.__aenter__()
        assert self.client.protocol_version == ("2026-07-28" if self.is_modern else "2025-11-25")
        if self.is_pinned:
            return  # A pinned client does not ask for the server's description.
        assert self.client.server_info is not None and self.client.server_info.name == "pintle-showcase"
        assert "harbour pilot" in (self.client.instructions or "")
        capabilities = self.client.server_capabilities
        assert capabilities.tools and capabilities.tools.list_changed
        assert capabilities.resources and capabilities.resources.subscribe
        assert capabilities.prompts and capabilities.completions and capabilities.logging is not None

    async def lists(self) -> None:
        page = await self.client.list_tools()
        assert len(page.tools) == 5 and page.next_cursor is not None
        tools = {tool.name: tool for tool in await every(self.client.list_tools, "tools")}
        assert {"under_keel", "board", "watch", "weather_forecast"} <= tools.keys()
        keel = tools["under_keel"]
        assert keel.input_schema["required"] == ["charted_depth", "tide", "draught"]
        assert keel.output_schema is not None and keel.title == "Under-keel clearance"
        assert keel.annotations is not None and keel.annotations.read_only_hint is True
        resources = await every(self.client.list_resources, "resources")
        assert {str(resource.uri) for resource in resources} == {GUIDE, CHART, MOVEMENTS}
        templates = await every(self.client.list_resource_templates, "resource_templates")
        assert [template.uri_template for template in templates] == [TEMPLATE]
        prompts = await every(self.client.list_prompts, "prompts")
        assert {prompt.name for prompt in prompts} == {"passage_plan", "tide_briefing"}

    async def calls_tools(self) -> None:
        result = await self.call("under_keel", {"charted_depth": 8, "tide": 2, "draught": 6.8, "speed": 10})
        clearance = result.structured_content
        assert clearance["squat"] == 1 and clearance["is_safe"] is True
        assert abs(clearance["clearance"] - 2.2) < 1e-9
        assert json.loads(result.content[0].text) == clearance
        vessels = (await self.call("vessels", {"kind": "tug"})).structured_content
        tugs = [{"call_sign": "GUDG", "name": "Gudgeon", "kind": "tug", "draught": 3.2, "berth": "fish-quay"}]
        assert (vessels if self.is_modern else next(iter(vessels.values()))) == tugs
        assert "Gudgeon lies at fish-quay" in await self.text("berth", {"name": "fish-quay"})
        assert await self.text("weather_forecast", {"day": 2}) == "gale later"
        assert "6.3" in await self.text("highest_tide", {"days": 3})

    async def shows_content(self) -> None:
        content = (await self.call("notice")).content
        assert [block.type for block in content] == ["text", "resource", "resource_link", "resource_link"]
        assert content[0].annotations.priority == 1 and "fairway light" in content[1].resource.text
        (image,) = (await self.call("tide_curve")).content
        assert image.mime_type == "image/png" and b64decode(image.data)[1:4] == b"PNG"
        (sound,) = (await self.call("sound_signal", {"manoeuvre": "port"})).content
        assert sound.type == "audio" and b64decode(sound.data)[:4] == b"RIFF"

    async def refuses_arguments(self) -> None:
        depth = {"charted_depth": 8, "tide": 2, "draught": 6.8}
        for tool, given, says in [
            ("under_keel", depth | {"charted_depth": "deep"}, "/charted_depth"),
            ("under_keel", depth | {"draught": 99}, "/draught"),
            ("hail", {"call_sign": "NONE"}, "no vessel has the call sign NONE"),
        ]:
            result = await self.call(tool, given)
            assert result.is_error is True and says in result.content[0].text, result

    async def reads_resources(self) -> None:
        (guide,) = (await self.client.read_resource(GUIDE)).contents
        assert guide.mime_type == "text/markdown" and guide.text.startswith("# Pilotage guide")
        (chart,) = (await self.client.read_resource(CHART)).contents
        assert len(b64decode(chart.blob)) > 100
        (vessel,) = (await self.client.read_resource("harbour://vessels/RULE")).contents
        assert str(vessel.uri) == "harbour://vessels/RULE"
        assert json.loads(vessel.text)["name"] == "Rule of Twelfths"

    async def refuses_unknown_names(self) -> None:
        for uri in ["harbour://nowhere", "harbour://vessels/NONE"]:
            error = await refused(self.client.read_resource(uri))
            assert error.code == (-32602 if self.is_modern else -32002), error
            assert error.data == {"uri": uri}
        assert (await refused(self.call("no_such_tool"))).code == -32602
        assert (await refused(self.client.get_prompt("no_such_prompt"))).code == -32602

    async def gets_prompts(self) -> None:
        given = {"call_sign": "RECK", "berth": "grain-pier", "hours": "1.5"}
        plan = await self.client.get_prompt("passage_plan", given)
        assert "RECK to grain-pier, 1.5 hours" in plan.messages[0].content.text
        assert str(plan.messages[1].content.resource.uri) == "harbour://vessels/RECK"
        briefing = await self.client.get_prompt("tide_briefing")
        assert [message.role for message in briefing.messages] == ["user", "assistant", "user"]
        assert briefing.messages[0].content.type == "image"
        assert (await refused(self.client.get_prompt("passage_plan", {}))).code == -32602

    async def completes(self) -> None:
        plan = types.PromptReference(type="ref/prompt", name="passage_plan")
        signs = await self.client.complete(plan, {"name": "call_sign", "value": "r"})
        assert signs.completion.values == ["RULE", "RECK"]
        berths = await self.client.complete(plan, {"name": "berth", "value": ""}, {"call_sign": "GUDG"})
        assert "fish-quay" not in berths.completion.values and "grain-pier" in berths.completion.values
        vessel = types.ResourceTemplateReference(type="ref/resource", uri=TEMPLATE)
        templated = await self.client.complete(vessel, {"name": "call_sign", "value": "SL"})
        assert templated.completion.values == ["SLAK"]

    async def receives_progress(self) -> None:
        steps: list[tuple[float, float | None, str | None]] = []

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            steps.append((progress, total, message))

        said = await self.text("board", {"call_sign": "RULE", "cables": 5}, progress_callback=on_progress)
        assert "on board of RULE" in said
        # Callbacks run beside the call: progress that precedes the result may be handled after it.
        await until("all of the progress", lambda: len(steps) == 5)
        assert steps == [(n, 5, f"{n} of 5 cables") for n in range(1, 6)], steps

    async def receives_logs(self) -> None:
        assert await self.watch("warning") == ["warning", "error"]
        assert self.logs[0].logger == "radio"
        assert self.logs[0].data == {"channel": 16, "heard": "fog is coming in"}
        assert await self.watch("debug") == ["debug", "info", "warning", "error", "info"]
        assert await self.watch(None) == []

    async def watch(self, level: str | None) -> list[str]:
        self.logs.clear()
        meta = {LOG_LEVEL: level} if level and self.is_modern else None
        if not self.is_modern:
            await self.client.set_logging_level(level or "emergency")
        await self.call("watch", {"channel": 16}, meta=meta)
        await anyio.sleep(0.1)
        return [log.level for log in self.logs]

    async def cancels(self) -> None:
        under_way = anyio.Event()

        async def on_progress(*_: Any) -> None:
            under_way.set()

        await self.stops_one(under_way.wait, progress_callback=on_progress)
        # The server has sent nothing yet: over HTTP the answer has no status so far.
        await self.stops_one(partial(anyio.sleep, 0.3))
        with anyio.fail_after(1):
            assert "Slack Water" in await self.text("hail", {"call_sign": "SLAK"})

    async def stops_one(self, under_way: Callable[[], Awaitable[Any]], **options: Any) -> None:
        before = logged(TURNS_BACK)
        trip = partial(self.call, "board", {"call_sign": "RECK", "cables": 60}, **options)
        async with anyio.create_task_group() as group:
            group.start_soon(trip)
            await under_way()
            group.cancel_scope.cancel()
        await until("the server receives the cancellation", lambda: logged(TURNS_BACK) == before + 1)

    async def receives_changes(self) -> None:
        async with AsyncExitStack() as stack:
            await self.listen(stack)
            today = int(await self.text("log_movement"))
            await until("an update", lambda: self.updates == [MOVEMENTS])
            (movements,) = (await self.client.read_resource(MOVEMENTS)).contents
            assert json.loads(movements.text)["today"] == today
            await self.receives_changes_of_tools()
        # The client leaves the subscription at once, and notifies the server beside its next request.
        await anyio.sleep(0.1)
        await self.text("log_movement")
        await anyio.sleep(0.3)
        assert self.updates == [MOVEMENTS], "an update after the subscription ended"

    async def listen(self, stack: AsyncExitStack) -> None:
        if not self.is_modern:
            await self.client.subscribe_resource(MOVEMENTS)
            stack.push_async_callback(self.client.unsubscribe_resource, MOVEMENTS)
            return
        listening = self.client.listen(tools_list_changed=True, resource_subscriptions=[MOVEMENTS])
        subscription = await stack.enter_async_context(listening)
        assert subscription.honored.tools_list_changed is True
        assert [str(uri) for uri in subscription.honored.resource_subscriptions] == [MOVEMENTS]

    async def receives_changes_of_tools(self) -> None:
        name = "p" + "".join("abcdefghij"[int(digit)] for digit in str(os.getpid()))
        await self.text("hire_tug", {"name": name})
        await until("a change", lambda: self.changes >= 1)
        assert f"tug_{name}" in [tool.name for tool in await every(self.client.list_tools, "tools")]
        assert await self.text(f"tug_{name}") == f"{name} pulls"
        changes = self.changes
        await self.text("release_tug", {"name": name})
        await until("another change", lambda: self.changes > changes)
        assert f"tug_{name}" not in [tool.name for tool in await every(self.client.list_tools, "tools")]

    async def fills_in_forms(self) -> None:
        self.asked.clear()
        for call_sign, says in [
            ("RECK", "RECK lies at grain-pier for 6 hours, with power"),
            ("RULE", "RULE gets no berth"),
            ("SLAK", "nobody has decided about SLAK"),
        ]:
            assert await self.text("allot_berth", {"call_sign": call_sign}) == says
        assert len(self.asked) == 3 and "Where does RECK lie" in self.asked[0].message
        schema = self.asked[0].requested_schema
        assert schema["required"] == ["berth", "hours"]
        assert schema["properties"]["berth"]["enum"] == ["breakwater", "fish-quay", "grain-pier", "old-dock"]

    async def visits_urls(self) -> None:
        self.asked.clear()
        assert await self.text("sign_conditions") == "the master is on the way to sign"
        (asked,) = self.asked
        assert asked.mode == "url" and asked.url == CONDITIONS
        assert (asked.elicitation_id is None) == self.is_modern

    async def asks_its_model(self) -> None:
        self.asked.clear()
        report = "The fairway light is out."
        said = await self.text("phrase_report", {"report": report})
        assert said == f"Aye: Put into one sentence for the radio: {report}"
        assert [asked.max_tokens for asked in self.asked] == [200]

    async def lists_its_roots(self) -> None:
        self.asked.clear()
        assert json.loads(await self.text("chart_folders")) == ["north", "file:///charts/south"]
        assert self.asked == ["roots"]

    async def goes_through_rounds(self) -> None:
        """One call asks two questions, one after the other. The work before them is done once."""
        self.asked.clear()
        before = int(await self.text("log_movement"))
        cleared = await self.text("clear_for_sea", {"call_sign": "RECK"})
        assert cleared == f"{before + 1}: Aye: Clear RECK for sea: mind the ferry"
        assert len(self.asked) == 2
        assert int(await self.text("log_movement")) == before + 2

    async def pings(self) -> None:
        if self.is_modern:
            raise NotApplicable("no ping in this revision")
        await self.client.send_ping()

    async def logs_no_warnings(self) -> None:
        assert self.warnings.messages == [], self.warnings.messages

    async def closes(self) -> None:
        await self.client.__aexit__(None, None, None)


class Warnings(logging.Handler):
    """The warnings in the log of the client."""

    def __init__(self, level: int) -> None:
        super().__init__(level)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


async def every(listed: Callable[..., Awaitable[Any]], member: str) -> list[Any]:
    """Every entry of a list, page by page."""
    page = await listed()
    entries = list(getattr(page, member))
    while page.next_cursor is not None:
        page = await listed(cursor=page.next_cursor)
        entries += getattr(page, member)
    return entries


async def refused(request: Awaitable[Any]) -> Any:
    """Returns the error that answers a request."""
    try:
        answer = await request
    except MCPError as error:
        return error.error
    raise AssertionError(f"answered with {answer}")


async def main() -> None:
    visit, report = Visit(*arguments()), Report()
    # A client is entered and left in the same scope, so these steps have no deadline of their own.
    await report.step("connect", visit.connects, timeout=None)
    await report.step("list", visit.lists)
    await report.step("call", visit.calls_tools)
    await report.step("content", visit.shows_content)
    await report.step("bad args", visit.refuses_arguments)
    await report.step("read", visit.reads_resources)
    await report.step("unknown", visit.refuses_unknown_names)
    await report.step("prompt", visit.gets_prompts)
    await report.step("complete", visit.completes)
    await report.step("progress", visit.receives_progress)
    await report.step("logs", visit.receives_logs)
    await report.step("cancel", visit.cancels)
    await report.step("changes", visit.receives_changes)
    await report.step("form", visit.fills_in_forms)
    await report.step("url", visit.visits_urls)
    await report.step("sample", visit.asks_its_model)
    await report.step("roots", visit.lists_its_roots)
    await report.step("rounds", visit.goes_through_rounds)
    await report.step("ping", visit.pings)
    await report.step("quiet", visit.logs_no_warnings)
    await report.step("close", visit.closes, timeout=None)
    sys.exit(report.failures > 0)


warnings.simplefilter("ignore")  # Features that a revision removed are deprecated, and tested all the same.
anyio.run(main)
