// The start of the page.

import { failure, fill } from "./dom.js";
import { follow, on, request } from "./api.js";
import { open, setConnection } from "./app.js";
import { connect, describeTargets } from "./connection.js";
import "./tools.js";
import "./resources.js";
import "./prompts.js";
import "./tasks.js";
import "./checks.js";
import "./bench.js";
import { showRecording } from "./timeline.js";
import { showOpen } from "./questions.js";

on("gone", () => {
  const panels = document.getElementById("panels");
  panels.prepend(failure({ messages: ["The program that serves this page has ended, or the token is not valid."], hint: "Start pintle web again, and open the URL that it prints." }));
});

async function start() {
  try {
    const known = await request("state");
    // A reloaded page shows the messages that are still stored.
    follow(0);
    const isGiven = describeTargets(known);
    open("server");
    setConnection(known.connection);
    showOpen(known.questions);
    if (known.connection) open(known.connection.server?.capabilities?.tools ? "tools" : "server");
    else if (isGiven) await connect();
    if (known.recording) await showRecording();
  } catch (error) {
    fill(document.getElementById("panels"), failure(error));
  }
}

start();
