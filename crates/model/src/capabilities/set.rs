//! Sets of client capabilities: inclusion and difference.

use super::{
    ClientCapabilities, ElicitationCapability, RootsCapability, SamplingCapability, TasksCapability,
};
use crate::JsonObject;

impl ClientCapabilities {
    /// Returns true if the set has everything in `needs`.
    ///
    /// Extensions, experiments and unknown capabilities count by their names, not by their
    /// settings.
    pub fn covers(&self, needs: &Self) -> bool {
        self.missing(needs).is_empty()
    }

    /// Returns the capabilities in `needs` that are missing here.
    ///
    /// An error about missing capabilities lists this set.
    ///
    /// Spec: [2026-07-28, Missing required client capability](https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes).
    #[must_use]
    pub fn missing(&self, needs: &Self) -> Self {
        Self {
            elicitation: self.missing_elicitation(needs),
            sampling: missing(&self.sampling, &needs.sampling, SamplingCapability::missing),
            roots: missing(&self.roots, &needs.roots, RootsCapability::missing),
            tasks: missing(&self.tasks, &needs.tasks, TasksCapability::missing),
            extensions: missing(&self.extensions, &needs.extensions, missing_names),
            experimental: missing(&self.experimental, &needs.experimental, missing_names),
            extra: missing_names(&self.extra, &needs.extra)
                .unwrap_or_default()
                .into(),
        }
    }

    /// Returns true if the set is empty.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn missing_elicitation(&self, needs: &Self) -> Option<ElicitationCapability> {
        if self.elicitation.is_none() {
            return needs.elicitation.clone();
        }
        let lacks_form = needs.has_form_elicitation() && !self.has_form_elicitation();
        let lacks_url = needs.has_url_elicitation() && !self.has_url_elicitation();
        (lacks_form || lacks_url).then(|| ElicitationCapability {
            form: lacks_form.then(JsonObject::new),
            url: lacks_url.then(JsonObject::new),
            ..ElicitationCapability::default()
        })
    }
}

/// Returns the missing part of a capability: all of it, or the part that `part` finds.
fn missing<T: Clone>(
    have: &Option<T>,
    need: &Option<T>,
    part: impl Fn(&T, &T) -> Option<T>,
) -> Option<T> {
    match (have, need) {
        (_, None) => None,
        (None, Some(need)) => Some(need.clone()),
        (Some(have), Some(need)) => part(have, need),
    }
}

impl SamplingCapability {
    fn missing(&self, needs: &Self) -> Option<Self> {
        let missing = Self {
            context: missing(&self.context, &needs.context, |_, _| None),
            tools: missing(&self.tools, &needs.tools, |_, _| None),
            ..Self::default()
        };
        (missing != Self::default()).then_some(missing)
    }
}

impl RootsCapability {
    fn missing(&self, needs: &Self) -> Option<Self> {
        let lacks_notice = needs.list_changed == Some(true) && self.list_changed != Some(true);
        lacks_notice.then(|| Self {
            list_changed: Some(true),
            ..Self::default()
        })
    }
}

impl TasksCapability {
    fn missing(&self, needs: &Self) -> Option<Self> {
        let missing = Self {
            list: missing(&self.list, &needs.list, |_, _| None),
            cancel: missing(&self.cancel, &needs.cancel, |_, _| None),
            requests: missing(&self.requests, &needs.requests, missing_members),
            ..Self::default()
        };
        (missing != Self::default()).then_some(missing)
    }
}

/// The members of `need` whose names are not in `have`.
fn missing_names(have: &JsonObject, need: &JsonObject) -> Option<JsonObject> {
    let absent = need.iter().filter(|(name, _)| !have.contains_key(*name));
    let absent: JsonObject = absent
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    (!absent.is_empty()).then_some(absent)
}

/// The members of `need` that are not in `have`, on every level.
fn missing_members(have: &JsonObject, need: &JsonObject) -> Option<JsonObject> {
    let mut absent = JsonObject::new();
    for (name, value) in need {
        match (have.get(name), value.as_object()) {
            (None, _) => {
                absent.insert(name.clone(), value.clone());
            }
            (Some(have), Some(value)) => {
                let below = have
                    .as_object()
                    .and_then(|have| missing_members(have, value));
                absent.extend(below.map(|below| (name.clone(), below.into())));
            }
            (Some(_), None) => {}
        }
    }
    (!absent.is_empty()).then_some(absent)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn capabilities(value: Value) -> ClientCapabilities {
        serde_json::from_value(value).unwrap()
    }

    fn missing(have: Value, need: Value) -> Value {
        let (have, need) = (capabilities(have), capabilities(need));
        let missing = have.missing(&need);
        assert_eq!(have.covers(&need), missing.is_empty());
        serde_json::to_value(missing).unwrap()
    }

    // spec: 2026-07-28 N-EXT-08, N-EXT-09
    #[test]
    fn missing_capabilities_are_those_needed_but_not_declared() {
        assert_eq!(missing(json!({}), json!({})), json!({}));
        assert_eq!(missing(json!({"roots": {}}), json!({})), json!({}));
        assert_eq!(
            missing(json!({}), json!({"elicitation": {}})),
            json!({"elicitation": {}})
        );
        assert_eq!(
            missing(json!({"sampling": {}}), json!({"sampling": {"tools": {}}})),
            json!({"sampling": {"tools": {}}})
        );
        assert_eq!(
            missing(json!({"sampling": {"tools": {}}}), json!({"sampling": {}})),
            json!({})
        );
    }

    #[test]
    fn a_client_that_names_no_mode_of_elicitation_can_show_forms() {
        let form = || json!({"elicitation": {"form": {}}});
        let url = || json!({"elicitation": {"url": {}}});

        assert_eq!(missing(json!({"elicitation": {}}), form()), json!({}));
        assert_eq!(missing(json!({"elicitation": {}}), url()), url());
        assert_eq!(missing(url(), form()), form());
        assert_eq!(missing(url(), json!({"elicitation": {}})), form());
        assert_eq!(
            missing(form(), json!({"elicitation": {"form": {}, "url": {}}})),
            url()
        );
    }

    // spec: 2026-07-28 N-EXT-04
    #[test]
    fn extensions_count_by_name() {
        let need = json!({"extensions": {"com.example/a": {"x": 1}, "com.example/b": {}}});

        assert_eq!(
            missing(json!({"extensions": {"com.example/a": {}}}), need),
            json!({"extensions": {"com.example/b": {}}})
        );
    }

    #[test]
    fn requests_that_can_be_tasks_count_one_by_one() {
        let have =
            json!({"tasks": {"cancel": {}, "requests": {"sampling": {"createMessage": {}}}}});
        let need = json!({"tasks": {"requests": {
            "sampling": {"createMessage": {}}, "elicitation": {"create": {}}}}});

        assert_eq!(
            missing(have, need),
            json!({"tasks": {"requests": {"elicitation": {"create": {}}}}})
        );
    }
}
