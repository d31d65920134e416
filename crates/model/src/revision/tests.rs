use super::*;

// spec: 2026-07-28 N-VER-05
// spec: 2025-11-25 GEN-06
#[test]
fn dates_are_compared_as_whole_strings() {
    for revision in Revision::ALL {
        assert_eq!(revision.as_str().parse(), Ok(revision));
    }
    for date in ["", "2026-07-29", "2025-11-25 ", "draft", "9999-99-99"] {
        assert_eq!(date.parse::<Revision>(), Err(ParseRevisionError));
    }
}

#[test]
fn every_revision_is_of_one_era() {
    for revision in Revision::ALL {
        assert_ne!(
            revision.has(Feature::Handshake),
            revision.has(Feature::Envelope)
        );
    }
    assert_eq!(Revision::modern().collect::<Vec<_>>(), [Revision::LATEST]);
    assert_eq!(Revision::legacy().last(), Some(Revision::LATEST_LEGACY));
}

#[test]
fn a_feature_of_the_middle_is_absent_at_both_ends() {
    assert!(!V2024_11_05.has(Feature::HttpSessions) && V2025_03_26.has(Feature::HttpSessions));
    assert!(!V2026_07_28.has(Feature::HttpSessions));
}

/// The features and the revisions that have them, oldest revision first.
const MATRIX: [(Feature, &str); 48] = [
    (Feature::Handshake, "xxxx-"),
    (Feature::Envelope, "----x"),
    (Feature::ResultType, "----x"),
    (Feature::InputRequired, "----x"),
    (Feature::ServerRequests, "xxxx-"),
    (Feature::Discover, "----x"),
    (Feature::Ping, "xxxx-"),
    (Feature::ServerInfoInMeta, "----x"),
    (Feature::Freshness, "----x"),
    (Feature::Listen, "----x"),
    (Feature::SessionSubscriptions, "xxxx-"),
    (Feature::SetLevel, "xxxx-"),
    (Feature::RequestLogLevel, "----x"),
    (Feature::DisconnectCancels, "----x"),
    (Feature::ResourceNotFoundIsInvalidParams, "----x"),
    (Feature::Batches, "xx---"),
    (Feature::TwoEndpointHttp, "x----"),
    (Feature::StreamableHttp, "-xxxx"),
    (Feature::HttpSessions, "-xxx-"),
    (Feature::RevisionHeader, "--xxx"),
    (Feature::RoutingHeaders, "----x"),
    (Feature::Resumption, "-xxx-"),
    (Feature::PrimingEvent, "---x-"),
    (Feature::Audio, "-xxxx"),
    (Feature::ResourceLinks, "--xxx"),
    (Feature::StructuredContent, "--xxx"),
    (Feature::AnyStructuredContent, "----x"),
    (Feature::ToolAnnotations, "-xxxx"),
    (Feature::Titles, "--xxx"),
    (Feature::ObjectMeta, "--xxx"),
    (Feature::LastModified, "--xxx"),
    (Feature::Icons, "---xx"),
    (Feature::ProgressMessage, "-xxxx"),
    (Feature::CompletionsCapability, "-xxxx"),
    (Feature::CompletionContext, "--xxx"),
    (Feature::Elicitation, "--xxx"),
    (Feature::UrlElicitation, "---xx"),
    (Feature::ElicitationIds, "---x-"),
    (Feature::ElicitationDefaults, "---xx"),
    (Feature::ElicitationChoices, "---xx"),
    (Feature::SamplingTools, "---xx"),
    (Feature::SubCapabilities, "---xx"),
    (Feature::Extensions, "---xx"),
    (Feature::CoreTasks, "---x-"),
    (Feature::TasksExtension, "----x"),
    (Feature::RootsListChanged, "xxxx-"),
    (Feature::SchemaDialect, "---xx"),
    (Feature::ClientProgress, "xxxx-"),
];

#[test]
fn each_revision_has_the_features_of_the_matrix() {
    let has = |feature| {
        let mark = |revision: Revision| if revision.has(feature) { 'x' } else { '-' };
        Revision::ALL.into_iter().map(mark).collect::<String>()
    };
    for (feature, marks) in MATRIX {
        assert_eq!(has(feature), marks, "{feature:?}");
    }
    assert_eq!(Feature::ALL, MATRIX.map(|(feature, _)| feature));
}
