//! The limits of a client.

use pintle_model::Revision;
use pintle_testkit::Endpoint;

#[test]
fn a_client_queues_a_bounded_number_of_notices_and_counts_the_others() {
    for revision in Revision::ALL {
        let mut client = Endpoint::client().welcomed_at(revision);
        let (now, engine) = (client.now(), client.engine());
        let text = br#"{"jsonrpc":"2.0","method":"notifications/any"}"#;
        for _ in 0..1_030 {
            engine.handle_text(now, text);
        }
        let queued = std::iter::from_fn(|| engine.poll_event()).count();
        assert_eq!(
            (queued, engine.ignored_messages()),
            (1_024, 6),
            "{revision}"
        );
        engine.handle_text(now, text);
        assert!(engine.poll_event().is_some(), "there is room again");
    }
}
