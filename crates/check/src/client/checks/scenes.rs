//! Servers that do one unusual thing, which a client must bear.

use super::super::check::ClientCheck;
use super::super::scene::Scene;
use crate::check::{must, robust, should};
use crate::checks::{LEGACY, LEGACY_03, MODERN};

pub(super) const CHECKS: &[ClientCheck] = &[
    ClientCheck::new(
        "client-notification-unknown",
        "A notification of an unknown method is ignored.",
        "SECURITY: messages of a peer",
        &[robust(LEGACY, &["H-162"]), robust(MODERN, &["H-162"])],
        |seen| seen.survives(Scene::UnknownNotification),
    )
    .of(Scene::UnknownNotification),
    ClientCheck::new(
        "client-members-unknown",
        "Unknown members of results are ignored.",
        "Versioning",
        &[
            must(LEGACY, &["GEN-08"]),
            must(MODERN, &["N-VER-07", "N-BASE-16"]),
        ],
        |seen| seen.survives(Scene::UnknownMembers),
    )
    .of(Scene::UnknownMembers),
    ClientCheck::new(
        "client-answer-stray",
        "Answers with unknown ids, and second answers, are ignored.",
        "SECURITY: messages of a peer",
        &[robust(LEGACY, &["H-161"]), robust(MODERN, &["H-161"])],
        |seen| seen.survives(Scene::StrayAnswers),
    )
    .of(Scene::StrayAnswers),
    ClientCheck::new(
        "client-notification-stray",
        "Notifications about unknown requests, tokens and questions are ignored.",
        "Cancellation: Error handling",
        &[
            should(LEGACY, &["CANC-14", "CANC-08"]),
            should(MODERN, &["N-CANC-11"]),
        ],
        |seen| seen.survives(Scene::StrayNotifications),
    )
    .of(Scene::StrayNotifications),
    ClientCheck::new(
        "client-json-broken",
        "Broken JSON of the server does not end the conversation.",
        "SECURITY: messages of a peer",
        &[robust(LEGACY, &["H-116"]), robust(MODERN, &["H-116"])],
        |seen| seen.survives(Scene::BrokenJson),
    )
    .of(Scene::BrokenJson),
    ClientCheck::new(
        "client-message-large",
        "A result of 1 MiB is read.",
        "SECURITY: messages of a peer",
        &[
            robust(LEGACY, &["H-122"]).stdio(),
            robust(LEGACY_03, &["H-105"]).http(),
            robust(MODERN, &["H-105"]),
        ],
        |seen| seen.survives(Scene::LargeMessage),
    )
    .of(Scene::LargeMessage),
    ClientCheck::new(
        "client-answer-json",
        "An answer as JSON is read, and a server without a stream for GET is used.",
        "Streamable HTTP: Sending messages",
        &[
            must(LEGACY_03, &["TRANS-HTTP-14"]).http(),
            must(MODERN, &["N-HTTP-11"]).http(),
        ],
        |seen| seen.survives(Scene::JsonAnswers),
    )
    .of(Scene::JsonAnswers),
    ClientCheck::new(
        "client-answer-events",
        "An answer in an event stream is read.",
        "Streamable HTTP: Sending messages",
        &[
            must(LEGACY_03, &["TRANS-HTTP-14"]).http(),
            must(MODERN, &["N-HTTP-11"]).http(),
        ],
        |seen| match seen.plain_succeeds() {
            true => Ok(()),
            false => Err(super::super::seen::not_seen(
                "the end of the client is unknown",
            )),
        },
    ),
    ClientCheck::new(
        "client-event-forms",
        "Comments, unknown fields, CRLF and data in several lines are parts of event streams.",
        "Streamable HTTP: Sending messages",
        &[
            robust(LEGACY_03, &["H-154", "H-156"]).http(),
            must(MODERN, &["N-HTTP-17", "N-SUBS-20"]).http(),
        ],
        |seen| seen.survives(Scene::EventForms),
    )
    .of(Scene::EventForms),
    ClientCheck::new(
        "client-result-type-absent",
        "A result without `resultType` is complete.",
        "Overview: Result type",
        // The specification requires it of results of earlier servers only.
        &[robust(MODERN, &["N-BASE-11"])],
        |seen| seen.survives(Scene::NoResultType),
    )
    .of(Scene::NoResultType),
];
