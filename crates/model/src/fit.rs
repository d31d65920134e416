//! Fitting a value to a revision before it is sent.
//!
//! Neutral types hold the union of all revisions. Before a value is sent to a peer, it is fitted to
//! the peer's revision. Members that the revision does not know are dropped, renamed or replaced.
//! The implementations stand beside the types. This module has the trait and shared parts.

use crate::{Extra, Feature, Freshness, Revision};

/// A value that can be fitted to any revision.
pub trait Fit {
    /// Reduces the value to the members that `revision` knows. Members in `extra` stay, because the
    /// caller added them on purpose.
    ///
    /// For the latest revision almost nothing changes.
    ///
    /// # Errors
    ///
    /// [`FitError`] if the revision cannot express the value at all. The value may be partly
    /// changed then and must not be sent.
    fn fit(&mut self, revision: Revision) -> Result<(), FitError>;
}

errors! {
    /// A value cannot be sent to a peer of a revision.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum FitError {
        /// The peer's revision lacks a feature.
        MissingFeature {
            /// The feature that the value needs.
            needs: Feature,
        } => "the peer's protocol revision lacks {needs:?}",
        /// A tool use or a tool result is outside of a sampling message.
        MisplacedToolContent => "a `tool_use` or `tool_result` block is allowed in sampling messages only",
    }
}

impl FitError {
    /// Creates the error for a missing feature.
    pub fn new(needs: Feature) -> Self {
        Self::MissingFeature { needs }
    }

    /// Returns an error unless `revision` has the feature.
    ///
    /// # Errors
    ///
    /// [`FitError`] if the revision lacks the feature.
    pub fn unless(revision: Revision, needs: Feature) -> Result<(), Self> {
        if revision.has(needs) {
            Ok(())
        } else {
            Err(Self::new(needs))
        }
    }
}

impl<T: Fit> Fit for Vec<T> {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        self.iter_mut().try_for_each(|value| value.fit(revision))
    }
}

impl<T: Fit> Fit for Option<T> {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        self.as_mut().map_or(Ok(()), |value| value.fit(revision))
    }
}

impl<T: Fit> Fit for Box<T> {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        (**self).fit(revision)
    }
}

/// Drops a member that `revision` knows only with `feature`.
pub(crate) fn drop_without<T>(feature: Feature, revision: Revision, member: &mut Option<T>) {
    if !revision.has(feature) {
        *member = None;
    }
}

/// Drops the cache hint, or adds the default if it is missing.
pub(crate) fn fit_freshness(freshness: &mut Option<Freshness>, revision: Revision) {
    if revision.has(Feature::Freshness) {
        freshness.get_or_insert_default();
    } else {
        *freshness = None;
    }
}

/// Marks types that are the same in every revision.
macro_rules! always_fits {
    ($($name:ty),* $(,)?) => {$(
        impl $crate::Fit for $name {
            fn fit(&mut self, _: $crate::Revision) -> Result<(), $crate::FitError> {
                Ok(())
            }
        }
    )*};
}
pub(crate) use always_fits;

always_fits!(Extra, serde_json::Value);
