//! How long a result may be cached, and who may share it.
//!
//! Spec: [2026-07-28, Caching](https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching).

use std::fmt;
use std::time::Duration;

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde::ser::{SerializeMap, SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::number;
use crate::read::{ReadError, Source, WriteMembers, of_value};
use crate::time::whole_millis;

const MEMBERS: &[&str] = &["ttlMs", "cacheScope"];

/// The cache hint of a result: `ttlMs` and `cacheScope`, written beside its other members.
///
/// The default is the safe one: stale at once, and private.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Freshness {
    /// Time for which the result is fresh, counted from its receipt.
    pub ttl: Duration,
    /// Scope of caches that may share the result.
    pub scope: CacheScope,
}

impl Freshness {
    /// Allows every cache to store the result for `ttl` and to share it with all users.
    pub fn public(ttl: Duration) -> Self {
        Self {
            ttl,
            scope: CacheScope::Public,
        }
    }

    /// Allows caching for `ttl`, only for the principal of the request.
    pub fn private(ttl: Duration) -> Self {
        Self {
            ttl,
            scope: CacheScope::Private,
        }
    }
}

/// Scope in which a cached result may be shared.
// Closed: an unknown scope is read as the narrow one, because sharing too much is a leak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CacheScope {
    /// Any user.
    Public,
    /// Only the principal of the request.
    #[default]
    Private,
}

impl Freshness {
    /// Reads a member of a hint. An invalid one becomes the safe default and is never an error.
    pub(crate) fn read_member(
        hint: &mut Option<Self>,
        name: &str,
        source: &mut dyn Source<'_>,
    ) -> Result<(), ReadError> {
        let value = source.value()?;
        let hint = hint.get_or_insert_default();
        if name == "ttlMs" {
            hint.ttl = ttl(value);
        } else {
            hint.scope = scope(&value);
        }
        Ok(())
    }
}

impl Serialize for CacheScope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::Public => "public",
            Self::Private => "private",
        })
    }
}

impl WriteMembers for Freshness {
    fn write_members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("ttlMs", &whole_millis(self.ttl))?;
        map.serialize_entry("cacheScope", &self.scope)
    }
}

impl Serialize for Freshness {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("Freshness", MEMBERS.len())?;
        members.serialize_field("ttlMs", &whole_millis(self.ttl))?;
        members.serialize_field("cacheScope", &self.scope)?;
        members.end()
    }
}

impl<'de> Deserialize<'de> for Freshness {
    /// Reads the valid parts of a hint. An invalid hint becomes the safe default and is never an
    /// error. The hint is absent only if both members are missing.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("Freshness", MEMBERS, FreshnessVisitor)
    }
}

struct FreshnessVisitor;

impl<'de> Visitor<'de> for FreshnessVisitor {
    type Value = Freshness;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`ttlMs` or `cacheScope`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Freshness, A::Error> {
        let mut found: Option<Freshness> = None;
        while let Some(member) = map.next_key::<String>()? {
            match member.as_str() {
                "ttlMs" => found.get_or_insert_default().ttl = ttl(map.next_value()?),
                "cacheScope" => found.get_or_insert_default().scope = scope(&map.next_value()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        found.ok_or_else(|| A::Error::missing_field("ttlMs"))
    }
}

fn ttl(value: Value) -> Duration {
    number::whole(&mut of_value(value))
        .map(Duration::from_millis)
        .unwrap_or_default()
}

fn scope(value: &Value) -> CacheScope {
    match value.as_str() {
        Some("public") => CacheScope::Public,
        _ => CacheScope::Private,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Extra;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Page {
        #[serde(flatten)]
        freshness: Option<Freshness>,
        #[serde(flatten)]
        extra: Extra,
    }

    fn read(value: Value) -> Option<Freshness> {
        serde_json::from_value::<Page>(value).unwrap().freshness
    }

    // spec: 2026-07-28 N-CACHE-05, N-CACHE-17, A-10, A-32
    #[test]
    fn a_hint_that_makes_no_sense_is_the_safe_default() {
        assert_eq!(read(json!({"ttlMs": -5})), Some(Freshness::default()));
        assert_eq!(read(json!({"ttlMs": "soon"})), Some(Freshness::default()));
        assert_eq!(read(json!({"cacheScope": ""})), Some(Freshness::default()));
        assert_eq!(
            read(json!({"cacheScope": null})),
            Some(Freshness::default())
        );
        assert_eq!(
            read(json!({"ttlMs": 1500.7, "cacheScope": "public"})),
            Some(Freshness::public(Duration::from_millis(1500)))
        );
    }

    #[test]
    fn a_missing_hint_stays_missing_and_is_not_written() {
        let wire = json!({"other": 1});
        let page: Page = serde_json::from_value(wire.clone()).unwrap();

        assert_eq!(page.freshness, None);
        assert_eq!(serde_json::to_value(&page).unwrap(), wire);
    }

    #[test]
    fn a_hint_is_written_beside_the_other_members() {
        let wire = json!({"ttlMs": 60_000, "cacheScope": "private", "other": 1});
        let page: Page = serde_json::from_value(wire.clone()).unwrap();

        assert_eq!(
            page.freshness,
            Some(Freshness::private(Duration::from_secs(60)))
        );
        assert_eq!(serde_json::to_value(&page).unwrap(), wire);
    }
}
