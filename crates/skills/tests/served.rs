//! Skills as clients see them, in every revision, over a pipe.

mod client;

use std::time::Duration;

use pintle::model::Freshness;
use pintle::server::Server;
use pintle_skills::{
    EXTENSION, FileMismatchError, Skill, SkillEntry, SkillErrorKind, SkillLimits, Skills,
};
use serde_json::{Value, json};

use client::{Client, LEGACY, MODERN};

const REFUNDS: &str =
    "---\nname: refunds\ndescription: Pays money back.\nmetadata:\n  version: '1'\n---\nBe kind.\n";

fn skill_md(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n---\n")
}

fn refunds() -> Skill {
    Skill::new("acme/refunds", REFUNDS)
        .file("references/limits.md", "Up to 50 €.")
        .file("references/deep/er.txt", "deeper")
        .file("logo.png", &b"\x89PNG\xFF"[..])
}

fn skills() -> Skills {
    let hidden = Skill::new("hidden", skill_md("hidden")).unlisted();
    let made = Skill::new("made", skill_md("made")).dynamic();
    [refunds(), hidden, made]
        .into_iter()
        .try_fold(Skills::new(), Skills::skill)
        .expect("skills")
}

async fn client(skills: Skills) -> Client {
    Client::of(Server::new("shop", "1").extend(skills), MODERN).await
}

fn uris(list: &Value) -> Vec<&str> {
    let items = list.as_array().expect("a list").iter();
    items
        .map(|item| item["uri"].as_str().expect("a URI"))
        .collect()
}

// spec: 2026-07-28 X-SKILL-01, X-SKILL-11, N-EXT-01
#[tokio::test]
async fn skills_are_declared_with_resources_and_only_in_2026_07_28() {
    let client = client(skills()).await;
    let capabilities = &client.welcome["capabilities"];
    assert_eq!(
        capabilities["extensions"],
        json!({ EXTENSION: { "directoryRead": true } })
    );
    assert!(capabilities["resources"].is_object());

    let mut older = Client::of(Server::new("shop", "1").extend(skills()), LEGACY).await;
    assert_eq!(older.welcome["capabilities"].get("extensions"), None);
    assert_eq!(older.error("skills/list", json!({})).await["code"], -32601);
    let uri = "skill://acme/refunds/references/limits.md";
    let read = older.result("resources/read", json!({ "uri": uri })).await;
    assert_eq!(read["contents"][0]["text"], "Up to 50 €.");
}

// spec: 2026-07-28 X-SKILL-03, X-SKILL-04, X-SKILL-05
#[tokio::test]
async fn a_list_has_all_files_with_their_digests() {
    let hint = Freshness::public(Duration::from_secs(60));
    let mut client = client(skills().freshness(hint)).await;
    let list = client.result("skills/list", json!({})).await;
    assert_eq!(
        (&list["ttlMs"], &list["cacheScope"]),
        (&json!(60_000), &json!("public"))
    );
    assert_eq!(list.get("nextCursor"), None);
    assert_eq!(
        uris(&list["skills"]),
        ["skill://acme/refunds/SKILL.md", "skill://made/SKILL.md"]
    );

    let frontmatter = json!({ "name": "refunds", "description": "Pays money back.",
        "metadata": { "version": "1" } });
    assert_eq!(list["skills"][0]["frontmatter"], frontmatter);
    assert_eq!(list["skills"][1]["resources"], "dynamic");
    let entry: SkillEntry = serde_json::from_value(list["skills"][0].clone()).expect("an entry");
    let files = uris(&list["skills"][0]["resources"]);
    assert_eq!(files.len(), 4);
    for uri in files {
        let bytes = client.read(uri).await;
        assert_eq!(entry.check(uri, &bytes), Ok(()), "{uri}");
        assert!(matches!(
            entry.check(uri, &[&bytes[..], b"!"].concat()),
            Err(FileMismatchError::Size { .. })
        ));
    }
}

#[tokio::test]
async fn a_file_with_nul_bytes_is_served_as_a_blob() {
    let skill = Skill::new("made", skill_md("made")).file("data.txt", &b"a\0b"[..]);
    let mut client = client(Skills::new().skill(skill).expect("a skill")).await;
    let uri = "skill://made/data.txt";
    let read = client.result("resources/read", json!({ "uri": uri })).await;
    assert_eq!(read["contents"][0]["blob"], "YQBi");
    assert_eq!(read["contents"][0].get("text"), None);
}

// spec: 2026-07-28 X-SKILL-05, X-SKILL-01
#[tokio::test]
async fn a_skill_is_found_by_its_uri_listed_or_not() {
    let mut client = client(skills()).await;
    for uri in [
        "skill://acme/refunds/SKILL.md",
        "skill://hidden/SKILL.md",
        "skill://made/SKILL.md",
    ] {
        let got = client.result("skills/get", json!({ "uri": uri })).await;
        assert_eq!(got["skill"]["uri"], uri);
        assert_eq!(
            (&got["ttlMs"], &got["cacheScope"]),
            (&json!(0), &json!("private"))
        );
        assert_eq!(got.get("nextCursor"), None);
    }
    for uri in [
        "skill://nobody/SKILL.md",
        "skill://acme/refunds",
        "skill://acme/refunds/logo.png",
        "skill://acme/SKILL.md",
        "SKILL.md",
        "",
    ] {
        let error = client.error("skills/get", json!({ "uri": uri })).await;
        assert_eq!(
            (&error["code"], &error["data"]["uri"]),
            (&json!(-32602), &json!(uri))
        );
    }
    assert_eq!(client.error("skills/get", json!({})).await["code"], -32602);
}

// spec: 2026-07-28 X-SKILL-06, N-RSRC-16, X-SKILL-01
#[tokio::test]
async fn a_directory_lists_its_direct_children() {
    let mut client = client(skills()).await;
    for (directory, expected) in [
        (
            "skill://acme",
            vec![("skill://acme/refunds", "refunds", "inode/directory")],
        ),
        (
            "skill://acme/refunds",
            vec![
                ("skill://acme/refunds/SKILL.md", "refunds", "text/markdown"),
                ("skill://acme/refunds/logo.png", "logo.png", "image/png"),
                (
                    "skill://acme/refunds/references",
                    "references",
                    "inode/directory",
                ),
            ],
        ),
        (
            "skill://acme/refunds/references/deep",
            vec![(
                "skill://acme/refunds/references/deep/er.txt",
                "er.txt",
                "text/plain",
            )],
        ),
    ] {
        let read = client
            .result("resources/directory/read", json!({ "uri": directory }))
            .await;
        let children: Vec<_> = read["resources"]
            .as_array()
            .expect("a list")
            .iter()
            .collect();
        let children: Vec<_> = children
            .iter()
            .map(|child| ["uri", "name", "mimeType"].map(|member| child[member].as_str()))
            .collect();
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(a, b, c)| [a, b, c].map(Some))
            .collect();
        assert_eq!(children, expected, "{directory}");
    }
    for uri in [
        "skill://acme/refunds/SKILL.md",
        "skill://acme/refunds/",
        "skill://acm",
        "skill://",
        "file:///etc",
        "skill://acme/refunds/..",
    ] {
        let error = client
            .error("resources/directory/read", json!({ "uri": uri }))
            .await;
        assert_eq!(error["code"], -32602, "{uri}");
    }
}

// spec: 2026-07-28 X-SKILL-05, X-SKILL-06, N-PAGE-01
#[tokio::test]
async fn lists_and_directories_come_in_pages() {
    let mut limits = SkillLimits::default();
    limits.page_size = 2;
    let mut skills = Skills::within(limits);
    for number in 0..5 {
        let name = format!("s{number}");
        skills = skills
            .skill(Skill::new(format!("all/{name}"), skill_md(&name)))
            .expect("a skill");
    }
    let mut client = client(skills).await;
    for (method, member, params) in [
        ("skills/list", "skills", json!({})),
        (
            "resources/directory/read",
            "resources",
            json!({ "uri": "skill://all" }),
        ),
    ] {
        let (mut seen, mut sizes, mut params) = (Vec::new(), Vec::new(), params);
        loop {
            let page = client.result(method, params.clone()).await;
            let uris: Vec<String> = uris(&page[member]).into_iter().map(str::to_owned).collect();
            sizes.push(uris.len());
            seen.extend(uris);
            match page.get("nextCursor") {
                Some(cursor) => params["cursor"] = cursor.clone(),
                None => break,
            }
        }
        assert_eq!(sizes, [2, 2, 1], "{method}");
        let mut distinct = seen.clone();
        distinct.dedup();
        assert_eq!((distinct.len(), &distinct), (5, &seen), "{method}");
        params["cursor"] = json!("mine");
        assert_eq!(
            client.error(method, params).await["code"],
            -32602,
            "{method}"
        );
    }
}

// spec: 2026-07-28 X-SKILL-03, N-RSRC-09
#[tokio::test]
async fn listed_skills_are_resources_and_other_files_can_be_read() {
    let mut client = client(skills()).await;
    let listed = client.result("resources/list", json!({})).await;
    assert_eq!(
        uris(&listed["resources"]),
        ["skill://acme/refunds/SKILL.md", "skill://made/SKILL.md"]
    );
    let first = &listed["resources"][0];
    assert_eq!(
        (&first["name"], &first["description"]),
        (&json!("refunds"), &json!("Pays money back."))
    );
    assert_eq!(
        (&first["mimeType"], &first["size"]),
        (&json!("text/markdown"), &json!(REFUNDS.len()))
    );
    assert_eq!(
        client.read("skill://hidden/SKILL.md").await,
        skill_md("hidden").as_bytes()
    );
    assert_eq!(
        client.read("skill://acme/refunds/logo.png").await,
        b"\x89PNG\xFF"
    );
    for uri in [
        "skill://acme/refunds",
        "skill://acme/refunds/references/../SKILL.md",
        "skill://acme/refunds/%2e%2e/SKILL.md",
        "skill://acme/refunds//SKILL.md",
        "skill://ACME/refunds/SKILL.md",
    ] {
        assert_eq!(
            client.error("resources/read", json!({ "uri": uri })).await["code"],
            -32602,
            "{uri}"
        );
    }
}

// spec: 2026-07-28 X-SKILL-04
#[test]
fn a_skill_inside_another_belongs_to_both() {
    let outer = Skill::new("outer", skill_md("outer")).file("inner/SKILL.md", skill_md("inner"));
    let inner = || Skill::new("outer/inner", skill_md("inner"));
    let both = Skills::new()
        .skill(outer.clone())
        .and_then(|skills| skills.skill(inner().file("x", "x")));
    assert!(both.is_ok());
    let other = inner().file("SKILL.md", "---\nname: inner\ndescription: other\n---\n");
    let error = Skills::new()
        .skill(outer)
        .and_then(|skills| skills.skill(other));
    assert!(matches!(
        error.expect_err("differs").fault(),
        SkillErrorKind::Taken
    ));
}

#[test]
fn an_invalid_skill_is_an_error_at_start_with_its_place() {
    let fault = |skill: Skill| {
        let error = Skills::new().skill(skill).expect_err("cannot be served");
        (error.place().to_owned(), error.fault().to_string())
    };
    for (skill, place, word) in [
        (Skill::new("a", skill_md("b")), "skill://a/SKILL.md", "`b`"),
        (Skill::new("a/../b", skill_md("b")), "a/../b", "name"),
        (Skill::new("a", "no yaml"), "skill://a/SKILL.md", "---"),
        (
            Skill::new("a", skill_md("a")).file("../x", ""),
            "skill://a/../x",
            "name",
        ),
        (
            Skill::new("a", "---\na: *b\n---\n"),
            "skill://a/SKILL.md",
            "line 1",
        ),
    ] {
        let (found, fault) = fault(skill);
        assert_eq!(found, place);
        assert!(fault.contains(word), "{fault}");
    }
    let twice = Skills::new()
        .skill(Skill::new("a", skill_md("a")))
        .and_then(|skills| skills.skill(Skill::new("a", skill_md("a"))));
    assert!(matches!(
        twice.expect_err("taken").fault(),
        SkillErrorKind::Taken
    ));
}

// spec: 2026-07-28 X-SKILL-07 (server)
#[test]
fn a_skill_is_not_larger_than_clients_must_accept() {
    let many = |files: usize| {
        let skill = Skill::new("a", skill_md("a"));
        let skill = (1..files).fold(skill, |skill, number| skill.file(format!("f{number}"), "x"));
        Skills::new().skill(skill)
    };
    assert!(many(512).is_ok());
    let setting = |error: pintle_skills::SkillError| match error.fault() {
        SkillErrorKind::TooMuch { setting, .. } => *setting,
        other => panic!("{other}"),
    };
    assert_eq!(setting(many(513).expect_err("too many")), "skill_files");

    let large = |bytes: usize| {
        let rest = bytes - skill_md("a").len();
        Skills::new().skill(Skill::new("a", skill_md("a")).file("f", vec![0; rest]))
    };
    assert!(large(16 << 20).is_ok());
    assert_eq!(
        setting(large((16 << 20) + 1).expect_err("too large")),
        "skill_bytes"
    );

    let mut limits = SkillLimits::default();
    (limits.max_skills, limits.max_total_bytes) = (1, 100);
    let within = || Skills::within(limits.clone());
    let one = within().skill(Skill::new("a", skill_md("a"))).expect("one");
    let second = one.skill(Skill::new("b", skill_md("b")));
    assert_eq!(setting(second.expect_err("a second")), "skills");
    let rest = 100 - skill_md("a").len();
    let filled = |bytes: usize| Skill::new("a", skill_md("a")).file("f", vec![0; bytes]);
    assert!(within().skill(filled(rest)).is_ok());
    assert_eq!(
        setting(within().skill(filled(rest + 1)).expect_err("too much")),
        "total_bytes"
    );
}
