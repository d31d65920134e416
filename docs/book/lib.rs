//! The programs of the book are doc tests of this crate.

#[cfg(doctest)]
#[doc = include_str!("src/start.md")]
struct Start;

#[cfg(doctest)]
#[doc = include_str!("src/install.md")]
struct Install;

#[cfg(doctest)]
#[doc = include_str!("src/recipes.md")]
struct Recipes;

#[cfg(doctest)]
#[doc = include_str!("src/tools.md")]
struct Tools;

#[cfg(doctest)]
#[doc = include_str!("src/resources.md")]
struct Resources;

#[cfg(doctest)]
#[doc = include_str!("src/prompts.md")]
struct Prompts;

#[cfg(doctest)]
#[doc = include_str!("src/asking.md")]
struct Asking;

#[cfg(doctest)]
#[doc = include_str!("src/long-work.md")]
struct LongWork;

#[cfg(doctest)]
#[doc = include_str!("src/files.md")]
struct Files;

#[cfg(doctest)]
#[doc = include_str!("src/running-servers.md")]
struct RunningServers;

#[cfg(doctest)]
#[doc = include_str!("src/openapi.md")]
struct Openapi;

#[cfg(doctest)]
#[doc = include_str!("src/testing.md")]
struct Testing;

#[cfg(doctest)]
#[doc = include_str!("src/proxy.md")]
struct Proxy;

#[cfg(doctest)]
#[doc = include_str!("src/clients.md")]
struct Clients;

#[cfg(doctest)]
#[doc = include_str!("src/tap.md")]
struct Tap;

#[cfg(doctest)]
#[doc = include_str!("src/web.md")]
struct Web;

#[cfg(doctest)]
#[doc = include_str!("src/lock.md")]
struct Lock;

#[cfg(doctest)]
#[doc = include_str!("src/check.md")]
struct CheckServer;

#[cfg(doctest)]
#[doc = include_str!("src/lint.md")]
struct Lint;

#[cfg(doctest)]
#[doc = include_str!("src/doctor.md")]
struct Doctor;

#[cfg(doctest)]
#[doc = include_str!("src/authorization.md")]
struct Authorization;

#[cfg(doctest)]
#[doc = include_str!("src/sign-in.md")]
struct SignIn;

#[cfg(doctest)]
#[doc = include_str!("src/deployment.md")]
struct Deployment;

#[cfg(doctest)]
#[doc = include_str!("src/telemetry.md")]
struct Telemetry;

#[cfg(doctest)]
#[doc = include_str!("src/replicas.md")]
struct Replicas;

#[cfg(doctest)]
#[doc = include_str!("src/capacity.md")]
struct Capacity;

#[cfg(doctest)]
#[doc = include_str!("src/from-rmcp.md")]
struct FromRmcp;

#[cfg(doctest)]
#[doc = include_str!("src/from-fastmcp.md")]
struct FromFastmcp;

#[cfg(doctest)]
#[doc = include_str!("src/from-typescript.md")]
struct FromTypescript;
