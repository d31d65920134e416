//! Checks of the server, from its own description.

use crate::connect_error::ConnectError;

/// The oldest versions with all commands that the scripts use.
const OLDEST_REDIS: (u32, u32) = (6, 2);
const OLDEST_VALKEY: (u32, u32) = (7, 2);

/// Checks version, role and eviction policy in the answer of `INFO`.
pub(super) fn check(info: &str, host: &str) -> Result<(), ConnectError> {
    let host = host.to_owned();
    if let Some(found) = too_old(info) {
        return Err(ConnectError::Version { host, found });
    }
    if field(info, "role") == Some("slave") {
        return Err(ConnectError::ReadOnly { host });
    }
    // A provider may hide the policy.
    match field(info, "maxmemory_policy") {
        None | Some("noeviction") => Ok(()),
        Some(policy) => {
            let policy = policy.to_owned();
            Err(ConnectError::Evicting { host, policy })
        }
    }
}

fn field<'i>(info: &'i str, name: &str) -> Option<&'i str> {
    let mut fields = info.lines().filter_map(|line| line.split_once(':'));
    let found = fields.find(|(found, _)| *found == name);
    found.map(|(_, value)| value.trim())
}

/// Returns the program and its version if it is too old.
fn too_old(info: &str) -> Option<String> {
    let (program, version, oldest) = match field(info, "valkey_version") {
        Some(version) => ("Valkey", version, OLDEST_VALKEY),
        None => ("Redis", field(info, "redis_version")?, OLDEST_REDIS),
    };
    let mut numbers = version.split('.').map_while(|it| it.parse().ok());
    let found = (numbers.next()?, numbers.next().unwrap_or(0));
    (found < oldest).then(|| format!("{program} {version}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(version: &str) -> String {
        format!("# Server\r\n{version}\r\nrole:master\r\nmaxmemory_policy:noeviction\r\n")
    }

    #[test]
    fn versions_before_the_oldest_one_are_refused() {
        for (version, expected) in [
            ("redis_version:6.0.16", Some("Redis 6.0.16")),
            ("redis_version:5.0.7", Some("Redis 5.0.7")),
            ("redis_version:6.2.0", None),
            ("redis_version:7.0.15", None),
            ("redis_version:10.0.0", None),
            ("redis_version:7.2.4\r\nvalkey_version:7.2.5", None),
            ("redis_version:7.2.4\r\nvalkey_version:9.0.0", None),
        ] {
            match (check(&info(version), "cache:1"), expected) {
                (Ok(()), None) => {}
                (Err(ConnectError::Version { found, .. }), Some(expected)) => {
                    assert_eq!(found, expected);
                }
                other => panic!("{version}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_replica_is_refused() {
        let info = info("redis_version:7.0.15").replace("master", "slave");
        let error = check(&info, "cache:1").expect_err("a replica");
        assert!(matches!(error, ConnectError::ReadOnly { .. }), "{error:?}");
    }

    #[test]
    fn a_server_that_evicts_is_refused_with_its_policy() {
        let info = info("redis_version:7.0.15").replace("noeviction", "allkeys-lru");
        let error = check(&info, "cache:1").expect_err("a policy").to_string();
        assert!(error.contains("policy allkeys-lru"), "{error}");
    }

    #[test]
    fn a_server_that_hides_its_policy_is_accepted() {
        check("redis_version:7.0.15\r\n", "cache:1").expect("accepts");
    }
}
