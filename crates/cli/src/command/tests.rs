use clap::Parser as _;

use pintle_serving::{BearerPolicy, Exposure, Transport};

use super::*;
use crate::args::Args;

fn planned(line: &str) -> Result<Invocation, UsageError> {
    let args = Args::try_parse_from(line.split(' ')).expect("understood");
    args.try_into()
}

fn transport(line: &str) -> Transport {
    match planned(line).expect("planned").action {
        Action::Serve(serve) => serve.serving.transport,
        other => panic!("{other:?}"),
    }
}

fn action(line: &str) -> Action {
    planned(line).expect("planned").action
}

fn misunderstood(line: &str) -> String {
    planned(line).expect_err(line).to_string()
}

#[test]
fn only_loopback_is_exposed_by_default() {
    let address = "127.0.0.1:8000".parse().expect("an address");
    let loopback = Transport::Http {
        address,
        exposure: Exposure::Loopback,
    };
    assert_eq!(transport("pintle serve"), loopback);
    let any_client = Transport::Http {
        address,
        exposure: Exposure::AnyClient,
    };
    assert_eq!(transport("pintle serve --allow-insecure-bind"), any_client);
    let token_holders = Transport::Http {
        address,
        exposure: Exposure::TokenHolders(BearerPolicy {
            issuer: "https://i.example".to_owned(),
            audience: "https://a.example/mcp".to_owned(),
            scopes: vec!["mcp".to_owned()],
        }),
    };
    let line = "pintle serve --auth-issuer https://i.example --audience https://a.example/mcp \
                --require-scope mcp";
    assert_eq!(transport(line), token_holders);
}

#[test]
fn a_served_server_is_a_url_a_name_or_a_program() {
    let server = |line| planned(line).expect("planned").server;
    assert_eq!(server("pintle serve"), None);
    let named = Some(ServerSpec::Named("github".to_owned()));
    assert_eq!(server("pintle serve @github --stdio"), named);
    let program = Some(ServerSpec::Program(vec!["npx".to_owned(), "x".to_owned()]));
    assert_eq!(server("pintle serve --http 127.0.0.1:0 -- npx x"), program);
    let without = misunderstood("pintle serve --header a:b");
    assert!(without.contains("--header requires a server"), "{without}");
    assert!(misunderstood("pintle serve github").contains("@github"));
}

#[test]
fn every_v_raises_the_verbosity() {
    let verbosity = |line| planned(line).expect("planned").verbosity;
    assert_eq!(verbosity("pintle serve --stdio"), Verbosity::Warnings);
    assert_eq!(verbosity("pintle serve --stdio -v"), Verbosity::Calls);
    assert_eq!(
        verbosity("pintle -vvv serve --stdio"),
        Verbosity::Everything
    );
}

#[test]
fn a_server_is_a_url_a_name_or_a_program() {
    for (line, expected) in [
        (
            "pintle ping https://a.example/mcp",
            ServerSpec::Url("https://a.example/mcp".to_owned()),
        ),
        (
            "pintle ping @github",
            ServerSpec::Named("github".to_owned()),
        ),
        (
            "pintle ping -- npx -y x",
            ServerSpec::Program(vec!["npx".to_owned(), "-y".to_owned(), "x".to_owned()]),
        ),
    ] {
        let server = planned(line).expect("planned").server;
        assert_eq!(server, Some(expected), "{line}");
    }
    for (line, hint) in [
        ("pintle ping", "which server"),
        ("pintle ping github", "@github"),
        (
            "pintle ping localhost:8000/mcp",
            "http://localhost:8000/mcp",
        ),
        ("pintle ping @", "which server"),
        ("pintle ping @a b", "`b`"),
        ("pintle call @a", "which tool"),
        ("pintle call -- npx x", "which tool"),
        ("pintle read @a", "which resource"),
        ("pintle prompt @a", "which prompt"),
        ("pintle complete @a p", "KEY=PREFIX"),
        ("pintle complete @a p word", "KEY=PREFIX"),
        ("pintle list @a toools", "tools"),
        ("pintle tasks @a get", "which task"),
        ("pintle tasks @a remove x", "`remove`"),
        (
            "pintle tasks wait 7 http://a.example/mcp",
            "pintle tasks http://a.example/mcp wait 7",
        ),
        ("pintle tasks cancel @a", "pintle tasks @a cancel ID"),
        ("pintle tasks get 7", "pintle tasks SERVER get 7"),
        ("pintle tasks list @a", "pintle tasks @a list"),
        ("pintle bench @a", "which tool"),
    ] {
        let reason = misunderstood(line);
        assert!(reason.contains(hint), "{line}: {reason}");
    }
}

#[test]
fn the_rest_of_the_words_belongs_to_the_command() {
    let Action::Call(call) = action("pintle call @a add a=1 b=2") else {
        panic!("a call");
    };
    assert_eq!((call.tool.as_str(), call.words.len()), ("add", 2));
    let Action::List(kinds) = action("pintle list tools Prompts -- x") else {
        panic!("a list");
    };
    assert_eq!(kinds, [Kind::Tools, Kind::Prompts]);
    let Action::Complete(completion) = action("pintle complete @a greet who=a=b how=x") else {
        panic!("a completion");
    };
    assert_eq!(
        (completion.argument.as_str(), completion.prefix.as_str()),
        ("who", "a=b")
    );
    assert_eq!(completion.others, [("how".to_owned(), "x".to_owned())]);
    let Action::Tasks(action) = action("pintle tasks @a cancel 7") else {
        panic!("tasks");
    };
    assert_eq!(action, TaskAction::Cancel("7".to_owned()));
}

#[test]
fn the_servers_of_hosts_are_listed_without_one() {
    let invocation = planned("pintle list @ --json").expect("planned");
    assert!(matches!(invocation.action, Action::Hosts));
    assert_eq!(invocation.format, Format::Json);
}
