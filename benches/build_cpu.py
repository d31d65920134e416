#!/usr/bin/env python3
"""CPU time of the build of the smallest stdio server, of this repository and of rmcp.

  benches/build_cpu.py [--rounds N] [--profile dev|release] [--features LIST]

Each server has one tool that adds two numbers. It is built from nothing, N times, in turn with that of rmcp. Ours comes
from the last commit as a dependency by git, because cargo compiles such a dependency as one from the registry: without
incremental compilation. The time is that of the user and of the system, of all processes of the build. Nothing else
should run on the machine.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

OURS = '''
use pintle::prelude::*;

/// Adds two numbers.
#[tool(read_only)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

pintle::serve!(Server::new("calculator", "1.0.0").tool::<add>());
'''

RMCP_DEPENDENCIES = '''
rmcp = { version = "=3.11.0", default-features = false, features = ["server", "macros", "transport-io"] }
schemars = "1"
serde = { version = "1", features = ["derive"] }
tokio = { version = "1", features = ["macros", "rt-multi-thread", "io-std"] }
'''

RMCP = '''
use rmcp::handler::server::wrapper::Parameters;
use rmcp::transport::stdio;
use rmcp::{ServiceExt, schemars, tool, tool_handler, tool_router};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Clone)]
struct Calculator;

#[tool_router]
impl Calculator {
    /// Adds two numbers.
    #[tool]
    async fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
        (a + b).to_string()
    }
}

#[tool_handler]
impl rmcp::ServerHandler for Calculator {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Calculator.serve(stdio()).await?.waiting().await?;
    Ok(())
}
'''


def git(*arguments):
    return subprocess.check_output(["git", "-C", ROOT, *arguments], text=True).strip()


def our_dependency(features):
    url = f"file://{git('rev-parse', '--path-format=absolute', '--git-common-dir')}"
    dependency = f'pintle = {{ git = "{url}", rev = "{git("rev-parse", "HEAD")}"'
    if features is not None:
        names = ", ".join(f'"{name}"' for name in features.split(",") if name)
        dependency += f", default-features = false, features = [{names}]"
    return dependency + " }\n"


def write(folder, dependencies, source):
    (folder / "src").mkdir(parents=True)
    (folder / "src/main.rs").write_text(source)
    (folder / "Cargo.toml").write_text(
        f'[package]\nname = "calculator"\nversion = "0.1.0"\nedition = "2024"\n\n[dependencies]\n{dependencies}\n[workspace]\n'
    )
    subprocess.run(["cargo", "fetch", "--quiet"], cwd=folder, check=True)


def build(folder, profile):
    shutil.rmtree(folder / "target", ignore_errors=True)
    before = os.times()
    subprocess.run(["cargo", "build", "--quiet", "--offline", "--profile", profile], cwd=folder, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", default="dev")
    parser.add_argument("--features", default="macros", help="of pintle, without its defaults; default: macros")
    parser.add_argument("--defaults", action="store_true", help="the default features of pintle instead")
    options = parser.parse_args()
    os.environ.pop("CARGO_TARGET_DIR", None)
    with tempfile.TemporaryDirectory() as folder:
        ours, rmcp = pathlib.Path(folder, "ours"), pathlib.Path(folder, "rmcp")
        write(ours, our_dependency(None if options.defaults else options.features), OURS)
        write(rmcp, RMCP_DEPENDENCIES, RMCP)
        rounds = [(build(ours, options.profile), build(rmcp, options.profile)) for _ in range(options.rounds)]
    for ours, rmcp in rounds:
        print(f"ours {ours:.1f} s, rmcp {rmcp:.1f} s, ratio {ours / rmcp:.2f}")
    print(f"median of the ratios: {statistics.median(ours / rmcp for ours, rmcp in rounds):.2f}")


if __name__ == "__main__":
    main()
