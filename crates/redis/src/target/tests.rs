use super::*;

fn read(url: &str) -> Target {
    url.parse().expect("a URL")
}

#[test]
fn parameters_have_defaults() {
    let target = read("redis://me:secret@cache.example");
    assert_eq!((target.prefix.as_str(), target.connections), ("pintle", 2));
    assert_eq!(target.operation_timeout, Duration::from_secs(1));
    assert_eq!(target.connect_timeout, Duration::from_secs(10));
    assert_eq!((target.replicas, target.is_encrypted()), (0, false));
    assert_eq!(target.host, "cache.example:6379");
}

#[test]
fn a_url_sets_each_parameter() {
    let target = read(
        "rediss://me:p%40ss@cache.example:7000/3?prefix=harbour-1&connections=5&wait=1\
        &operation_timeout=250&connect_timeout=4&ca=%2Fetc%2Fca.pem",
    );
    assert_eq!(
        (target.prefix.as_str(), target.connections),
        ("harbour-1", 5)
    );
    assert_eq!((target.replicas, target.is_encrypted()), (1, true));
    assert_eq!(target.operation_timeout, Duration::from_millis(250));
    assert_eq!(target.connect_timeout, Duration::from_secs(4));
    assert_eq!(target.files.ca, Some("/etc/ca.pem".into()));
    let redis = target.info.redis_settings();
    assert_eq!((redis.db(), redis.password()), (3, Some("p@ss")));
    assert_eq!(target.secrets, ["p@ss", "p%40ss"]);
}

#[test]
fn a_url_may_name_a_socket() {
    let target = read("redis+unix:///run/redis.sock?db=2&user=me&pass=secret&prefix=a");
    assert_eq!(target.host, "/run/redis.sock");
    assert_eq!(target.info.redis_settings().db(), 2);
    assert_eq!(target.secrets, ["secret"]);
    assert!(!target.is_exposed());
}

#[test]
fn an_unencrypted_connection_beyond_loopback_is_exposed() {
    for (url, expected) in [
        ("redis://localhost", false),
        ("redis://LOCALHOST", false),
        ("redis://127.0.0.2:1", false),
        ("redis://[::1]", false),
        ("redis://10.0.0.1", true),
        ("redis://cache.example", true),
        ("rediss://cache.example", false),
    ] {
        assert_eq!(read(url).is_exposed(), expected, "{url}");
    }
}

#[test]
fn an_invalid_url_is_refused_without_its_password() {
    for url in [
        "http://me:secret@cache.example",
        "redis://me:secret@cache.example:port",
        "redis://me:se#cret@cache.example",
        "redis://me:secret@cache.example/one",
        "redis://me:secret@0.0.0.0",
        "redis://me:secret@cache.example?prefix=A",
        "redis://me:secret@cache.example?prefix=",
        "redis://me:secret@cache.example?prefix=a%7Bb",
        "redis://me:secret@cache.example?connections=0",
        "redis://me:secret@cache.example?connections=65",
        "redis://me:secret@cache.example?wait=17",
        "redis://me:secret@cache.example?operation_timeout=9",
        "redis://me:secret@cache.example?connect_timeout=0",
        "redis://me:secret@cache.example?sslmode=require",
        "redis://me:secret@cache.example?pass=secret",
        "secret",
    ] {
        let error = Target::from_str(url).expect_err(url);
        let text = format!("{error} {error:?}");
        assert!(matches!(error, ConnectError::Url { .. }), "{url}: {text}");
        assert!(!text.contains("cret"), "{text}");
    }
}

#[test]
fn debug_output_of_a_target_hides_the_password() {
    let target = read("redis://me:secret@cache.example");
    let expected = r#"Target { host: "cache.example:6379", prefix: "pintle", .. }"#;
    assert_eq!(format!("{target:?}"), expected);
}

#[test]
fn the_rights_of_a_user_are_limited_to_the_prefix() {
    let rights = read("redis://cache.example?prefix=harbour").rights();
    assert!(rights.starts_with("~harbour:* &harbour:* "), "{rights}");
}
