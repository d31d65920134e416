//! An entry that is added and removed leaves the same bytes.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Texts of JSON with comments, one of whose objects may have servers.
fn json_text() -> impl Strategy<Value = String> {
    let blank = || {
        prop_oneof![
            Just(""),
            Just(" "),
            Just("\n"),
            Just("\r\n\t"),
            Just("// }\n"),
            Just("/* \",{ */")
        ]
    };
    let scalar = prop_oneof![
        Just("1"),
        Just("\"a,}\\\"//\""),
        Just("[1, {}]"),
        Just("{\"x\": []}")
    ];
    let member = (blank(), "[ac]", blank(), scalar, blank());
    let comma = prop_oneof![Just(""), Just(",")];
    (
        proptest::collection::vec(member, 0..3),
        comma,
        blank(),
        blank(),
    )
        .prop_map(|(members, comma, begin, end)| {
            let members: Vec<_> = members
                .iter()
                .map(|(a, key, b, value, c)| format!("{a}\"{key}\"{b}:{value}{c}"))
                .collect();
            let comma = if members.is_empty() { "" } else { comma };
            let servers = format!("{{{begin}{}{comma}{end}}}", members.join(","));
            format!("{begin}{{\"mcpServers\":{end}{servers}{begin}}}{end}")
        })
}

proptest! {
    #[test]
    fn an_added_and_removed_json_entry_leaves_the_same_bytes(text in json_text()) {
        let target = target("cursor");
        let after = target.inserted(&text, &members(), false).expect("inserted");
        let again = target.removed(&after).expect("removed");
        let is_empty = target.value(&text).expect("valid")["mcpServers"] == json!({});
        if is_empty {
            // The blanks of an empty object are not kept; `uninstall` finds them in the backup.
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(bare(&again), bare(&text));
        } else {
            prop_assert_eq!(again, text);
        }
    }

    #[test]
    fn an_added_and_removed_toml_table_leaves_the_same_bytes(
        text in "(\u{feff})?(# c\n|a = 1\r?\n|\\[z\\]\n|\r?\n){0,1}([ \t]*\n|# d\r?\n){0,3}(# e)?",
    ) {
        let target = target("codex");
        let after = target.inserted(&text, &members(), false).expect("inserted");
        prop_assert_eq!(target.removed(&after).expect("removed"), text);
    }

    #[test]
    fn an_added_and_removed_yaml_entry_leaves_the_same_bytes(
        head in "(\u{feff})?(# c\n|a: 1\n|\n){0,3}extensions:( # x)?\n",
        rest in "(  # d\n|\n){0,2}(  a:\n    c: 1\n\n?)?(z: 1)?",
    ) {
        let (target, text) = (target("goose"), head + &rest);
        let after = target.inserted(&text, &members(), false).expect("inserted");
        prop_assert_eq!(target.removed(&after).expect("removed"), text);
    }

    #[test]
    fn no_text_is_too_odd_to_edit(text in "[abmcpServers:{}\\[\\]\",=#/* \n\t-]{0,60}") {
        for id in ["cursor", "codex", "goose"] {
            let _ = target(id).inserted(&text, &members(), true);
            let _ = target(id).removed(&text);
        }
    }
}
