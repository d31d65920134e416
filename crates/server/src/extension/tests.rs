use pintle_model::{Extra, NoParams};

use super::*;
use crate::ability::ExtractContext;
use crate::testing::context;
use crate::{FromMethod, MethodCall, MethodHandler, Rejection, Server, StartError, State};

macro_rules! methods {
    ($($marker:ident = $name:literal;)+) => {
        $(enum $marker {}
        impl Method for $marker {
            const NAME: &'static str = $name;
            type Params = NoParams;
            type Result = Extra;
        })+
    };
}

methods! {
    Get = "tides/get";
    List = "tools/list";
    Announced = "notifications/tides";
    Spaced = "tides get";
}

enum Risen {}

impl Notice for Risen {
    const NAME: &'static str = "notifications/tides/risen";
    type Params = NoParams;
}

fn tides(id: &str) -> ProtocolExtension {
    ProtocolExtension::new(id).method::<Get, _>(async || Ok::<_, AnyFailure>(Extra::new()))
}

type AnyFailure = pintle_model::Error;

fn answering<M: Method<Params = NoParams, Result = Extra>>() -> ProtocolExtension {
    let handler = async || Ok::<_, AnyFailure>(Extra::new());
    ProtocolExtension::new("com.example/tides").method::<M, _>(handler)
}

fn fault(server: Server) -> String {
    let error = server.build().expect_err("does not start");
    let StartError::ProtocolExtension { fault, .. } = &error else {
        panic!("{error}");
    };
    assert!(error.to_string().contains(&fault.to_string()), "{error}");
    fault.to_string()
}

fn with(extension: ProtocolExtension) -> Server {
    Server::new("pilot", "1").extend(extension)
}

// spec: 2026-07-28 N-EXT-02, N-META-09
// spec: 2025-11-25 META-06
#[test]
fn an_id_has_a_prefix_of_its_author() {
    for id in [
        "tides",
        "com.example/",
        "9com.example/x",
        "com.mcp.dev/x",
        "io.modelcontextprotocol/",
    ] {
        assert!(
            fault(with(ProtocolExtension::new(id))).contains("id"),
            "{id}"
        );
        assert!(
            fault(Server::new("s", "1").extension(id, JsonObject::new())).contains("id"),
            "{id}"
        );
    }
    for id in [
        "com.example/tides",
        "io.modelcontextprotocol/skills",
        "dev.a-b.c/d.e",
    ] {
        assert!(with(tides(id)).build().is_ok(), "{id}");
    }
}

#[test]
fn nothing_is_offered_under_a_name_of_the_core() {
    assert_eq!(
        fault(with(answering::<List>())),
        "`tools/list` is the protocol's own"
    );
    assert!(fault(with(answering::<Announced>())).contains("cannot be its name"));
    assert!(fault(with(answering::<Spaced>())).contains("cannot be its name"));
    let topic = |member: &str| with(tides("a.b/c").notice::<Risen>(member));
    for taken in ["toolsListChanged", "taskIds", "resourceSubscriptions"] {
        assert!(fault(topic(taken)).contains(taken));
    }
    assert!(topic("tidesRisen").build().is_ok());
}

#[test]
fn two_extensions_share_no_name() {
    let twice = with(tides("com.example/a")).extend(tides("com.example/b"));
    assert_eq!(fault(twice), "another extension has `tides/get`");
    let same = with(tides("com.example/a")).extend(ProtocolExtension::new("com.example/a"));
    assert!(fault(same).contains("already"));
    let mounted = with(tides("com.example/a")).mount("x", with(tides("com.example/a")));
    assert!(fault(mounted).contains("already"));
    let notices = |id: &str, topic: &str| ProtocolExtension::new(id).notice::<Risen>(topic);
    let extension = with(notices("a.b/c", "one")).extend(notices("a.b/d", "two"));
    assert!(fault(extension).contains("notifications/tides/risen"));
    let advertised = with(tides("com.example/a")).extension("com.example/a", JsonObject::new());
    assert!(fault(advertised).contains("already"));
}

#[test]
fn state_comes_with_the_extension_or_from_the_server() {
    let needing = || {
        ProtocolExtension::new("com.example/a")
            .method::<Get, _>(async |_: State<u8>| Ok::<_, AnyFailure>(Extra::new()))
    };
    let error = with(needing()).build().expect_err("nobody has a u8");
    assert!(matches!(error, StartError::MissingState { .. }), "{error}");
    assert!(with(needing()).state(1u8).build().is_ok());
    assert!(with(needing().state(1u8)).build().is_ok());
}

/// The params of a request as the client sent them.
struct RawParams(String);

enum ViaRaw {}

impl<M: Method> FromMethod<M, ViaRaw> for RawParams {
    fn need() -> Option<crate::RequiredState> {
        None
    }

    fn from_method(call: &MethodCall<'_>) -> Result<Self, Rejection> {
        Ok(Self(call.raw_params().to_owned()))
    }
}

#[tokio::test]
async fn an_extractor_reads_the_params_as_the_client_sent_them() {
    let (cx, state) = (context(), Extensions::new());
    let call = MethodCall::new(&cx.request().params, ExtractContext::new(&cx, &state));
    let handler = async |RawParams(text): RawParams| {
        assert!(text.starts_with(r#"{"name":"test","_meta":{"#), "{text}");
        assert!(text.ends_with("}}"), "{text}");
        Ok::<_, AnyFailure>(Extra::new())
    };
    let started = MethodHandler::<Get, _>::start(&handler, &call);
    let answered = started.map_err(Rejection::into_error).expect("starts");
    assert_eq!(answered.await, Ok(Extra::new()));
}
