"""What visitors of the showcase send. Their report is the one of the longer visits."""

from report import Report

BERTH = {"berth": "grain-pier", "hours": 6, "shore_power": True}
KEEL = {"charted_depth": 8, "tide": 2, "draught": 6.8}
PASSAGE = {"call_sign": "RECK", "berth": "grain-pier", "hours": "1.5"}
GUIDE = "harbour://guide"
LIES = "RECK lies at grain-pier for 6 hours, with power"
STEPS = ("connect", "list", "call", "wrong", "read", "prompt", "ask", "close")


async def take(visit: object) -> int:
    """Takes the steps, which are methods of the visit; exit code 1 if one failed.

    The client's scopes outlive the step that connects, so that step and the last one have no limit of time.
    """
    report = Report()
    for step in STEPS:
        limits = {"timeout": None} if step in ("connect", "close") else {}
        await report.step(step, getattr(visit, step), **limits)
    return 1 if report.failures else 0
