// Tasks: those that this page started, and those that the server lists.

import { announce, button, el, failure, fill, json, more } from "./dom.js";
import { on, request } from "./api.js";
import { onConnection, open, section, setCount, state } from "./app.js";
import { run } from "./run.js";
import { toolResult } from "./content.js";

const MAX_TASKS = 200;
const tasks = new Map();
const list = el("ul", { className: "stack" });
const note = el("div", {});
const reload = button("Reload", () => read(), { className: "small quiet", "aria-label": "Reload tasks" });
const panel = el("section", {}, el("div", { className: "bar" }, el("h2", { className: "grow" }, "Tasks"), reload), note, list);

/** Adds a task that a call became. Without one, it opens the section. */
export function adopt(task) {
  if (task) update(task);
  else open("tasks");
}

function update(task) {
  const known = tasks.get(task.taskId);
  if (known) {
    known.draw({ ...known.task, ...task });
  } else {
    const entry = card(task);
    tasks.set(task.taskId, entry);
    list.prepend(entry.node);
    if (tasks.size > MAX_TASKS) {
      const [oldest, { node }] = tasks.entries().next().value;
      tasks.delete(oldest);
      node.remove();
    }
  }
  setCount("tasks", tasks.size);
  describe();
}

function card(first) {
  const id = first.taskId;
  const head = el("div", { className: "stack" });
  const place = el("div", { className: "stack result" });
  const problem = el("div", {});
  const attempt = async (name) => {
    try {
      const answer = await request(name, { id });
      fill(problem);
      if (answer.task) update(answer.task);
      return true;
    } catch (error) {
      fill(problem, failure(error));
      return false;
    }
  };
  const entry = { task: first, draw };
  function draw(task) {
    const isNew = task.status !== entry.task.status;
    entry.task = task;
    fill(head, el("h3", { className: "mono wrap" }, id),
      el("div", { className: "tags" }, el("span", { className: "tag" }, task.status ?? "started")),
      task.statusMessage && el("p", { className: "prose" }, task.statusMessage),
      task.createdAt && el("p", { className: "soft small" }, `Created ${task.createdAt}`));
    if (isNew) announce(`The task ${id} is ${task.status}.`);
  }
  entry.node = el("li", { className: "card" }, head,
    el("div", { className: "bar" },
      button("Poll", () => attempt("task"), { "aria-label": `Poll the task ${id}` }),
      button("Wait for the result", () => run(place, `Task ${id}`, "task-result", { id }, (answer) => toolResult(answer.result)).then(() => attempt("task")), { "aria-label": `Wait for the result of the task ${id}` }),
      button("Cancel the task", async () => (await attempt("task-cancel")) && attempt("task"), { "aria-label": `Cancel the task ${id}` })),
    problem, place, more("Record", () => json(entry.task)));
  draw(first);
  return entry;
}

async function read() {
  const can = state.connection?.server?.capabilities;
  if (!can?.tasks?.list) {
    await Promise.all([...tasks.keys()].map((id) => request("task", { id }).then(({ task }) => update(task), () => {})));
    return;
  }
  try {
    const { items } = await request("list", { kind: "tasks" });
    fill(note);
    [...items].reverse().forEach(update);
  } catch (error) {
    fill(note, failure(error));
  }
}

function describe() {
  fill(note, tasks.size === 0 && el("p", { className: "soft" }, "There are no tasks. Call a tool as a task."));
}

const isOffered = (can) => Boolean(can?.tasks) || Object.hasOwn(can?.extensions ?? {}, "io.modelcontextprotocol/tasks");
section({ name: "tasks", title: "Tasks", panel, offered: isOffered, shown: () => read() });
on("task", ({ task }) => update(task));
onConnection(() => {
  tasks.clear();
  fill(list);
  describe();
});
