use clap::Parser as _;

use super::*;
use crate::args::Kind;

fn planned(line: &str) -> Result<Plan, UsageError> {
    let args = Args::try_parse_from(line.split(' ')).expect("understood");
    args.try_into()
}

fn transport(line: &str) -> Transport {
    match planned(line).expect("planned").task {
        Task::Serve(serving) => serving.transport,
        other => panic!("{other:?}"),
    }
}

fn talk(line: &str) -> Talk {
    match planned(line).expect("planned").task {
        Task::Talk(talk) => *talk,
        other => panic!("{other:?}"),
    }
}

fn misunderstood(line: &str) -> String {
    planned(line).expect_err(line).to_string()
}

#[test]
fn nobody_is_let_in_from_outside_unless_asked_for() {
    let address = "127.0.0.1:8000".parse().expect("an address");
    let loopback = Transport::Http {
        address,
        exposure: Exposure::Loopback,
    };
    assert_eq!(transport("pintle serve"), loopback);
    let anybody = Transport::Http {
        address,
        exposure: Exposure::Anybody,
    };
    assert_eq!(transport("pintle serve --allow-insecure-bind"), anybody);
    let holders = Transport::Http {
        address,
        exposure: Exposure::Holders(BearerPolicy {
            issuer: "https://i.example".to_owned(),
            audience: "https://a.example/mcp".to_owned(),
            scopes: vec!["mcp".to_owned()],
        }),
    };
    let line = "pintle serve --auth-issuer https://i.example --audience https://a.example/mcp \
                --require-scope mcp";
    assert_eq!(transport(line), holders);
}

#[test]
fn every_v_says_more() {
    let chatter = |line| planned(line).expect("planned").chatter;
    assert_eq!(chatter("pintle serve --stdio"), Verbosity::Warnings);
    assert_eq!(chatter("pintle serve --stdio -v"), Verbosity::Calls);
    assert_eq!(chatter("pintle -vvv serve --stdio"), Verbosity::Everything);
}

#[test]
fn a_server_is_a_url_a_name_or_a_program() {
    for (line, wanted) in [
        (
            "pintle ping https://a.example/mcp",
            Wanted::Url("https://a.example/mcp".to_owned()),
        ),
        ("pintle ping @github", Wanted::Named("github".to_owned())),
        (
            "pintle ping -- npx -y x",
            Wanted::Program(vec!["npx".to_owned(), "-y".to_owned(), "x".to_owned()]),
        ),
    ] {
        assert_eq!(talk(line).wanted, wanted, "{line}");
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
        ("pintle bench @a", "which tool"),
    ] {
        let reason = misunderstood(line);
        assert!(reason.contains(hint), "{line}: {reason}");
    }
}

#[test]
fn the_rest_of_the_words_belongs_to_the_command() {
    let Wish::Call(call) = talk("pintle call @a add a=1 b=2").wish else {
        panic!("a call");
    };
    assert_eq!((call.tool.as_str(), call.words.len()), ("add", 2));
    let Wish::List(kinds) = talk("pintle list tools Prompts -- x").wish else {
        panic!("a list");
    };
    assert_eq!(kinds, [Kind::Tools, Kind::Prompts]);
    let Wish::Complete(completion) = talk("pintle complete @a greet who=a=b how=x").wish else {
        panic!("a completion");
    };
    assert_eq!(
        (completion.argument.as_str(), completion.prefix.as_str()),
        ("who", "a=b")
    );
    assert_eq!(completion.others, [("how".to_owned(), "x".to_owned())]);
    let Wish::Tasks(wish) = talk("pintle tasks @a cancel 7").wish else {
        panic!("tasks");
    };
    assert_eq!(wish, TaskWish::Cancel("7".to_owned()));
}

#[test]
fn the_servers_of_hosts_are_listed_without_one() {
    let Task::Hosts(hosts) = planned("pintle list @ --json").expect("planned").task else {
        panic!("hosts");
    };
    assert_eq!(hosts.format, Format::Json);
}
