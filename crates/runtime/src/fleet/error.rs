//! The reasons why a replica cannot join.

use std::fmt;

use pintle_model::errors;
use pintle_store::StoreError;

use crate::random::RandomnessError;

errors! {
    /// The reason why a process cannot join a fleet.
    #[derive(Debug)]
    #[non_exhaustive]
    pub enum JoinError {
        /// The store did not answer within [`FleetOptions::join_timeout`](super::FleetOptions::join_timeout).
        TimedOut {
            /// The step that was not complete.
            step: JoinStep,
        } => "cannot {step}: the store does not answer; check its address and the network",
        /// An operation of the store failed.
        Store {
            /// The step that failed.
            step: JoinStep,
            /// The error of the store.
            source: StoreError,
        } => "cannot {step}" (source: source),
        /// The store belongs to another server, whose tasks this server cannot run.
        OtherServer {
            /// The name of this server.
            name: String,
            /// The name of the server that the store belongs to.
            found: String,
        } => "the store belongs to the server {found:?}, not to {name:?}; use another prefix",
        /// A newer version wrote the records of the fleet.
        OtherLayout {
            /// The layout of the records.
            found: u32,
            /// The newest layout that this version reads.
            supported: u32,
        } => "the store has layout {found}, and this version reads layouts up to {supported}; use a newer version",
        /// The record of the server is damaged.
        Damaged => "the record `system/server` of the store is damaged; remove it or use another prefix",
        /// The fleet has [`FleetOptions::max_replicas`](super::FleetOptions::max_replicas) replicas.
        TooManyReplicas {
            /// Maximum number of replicas.
            limit: usize,
        } => "the fleet has too many replicas; the limit is {limit}",
        /// The replica cannot draw its name.
        Randomness(error: RandomnessError) => "cannot draw the name of the replica" (source: error),
    }

    /// An operation of the store did not end within
    /// [`FleetOptions::operation_timeout`](super::FleetOptions::operation_timeout).
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct OperationTimeoutError => "the store did not answer in time";
}

/// A step of [`Fleet::join`](super::Fleet::join).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoinStep {
    /// Measuring the clock of the store.
    Clock,
    /// Reading the epoch of the store.
    Epoch,
    /// Comparing the server of the store.
    Server,
    /// Listing the present replicas.
    List,
    /// Writing the presence.
    Presence,
}

impl fmt::Display for JoinStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Clock => "read the clock of the store",
            Self::Epoch => "read the epoch of the store",
            Self::Server => "read the server of the store",
            Self::List => "list the replicas of the store",
            Self::Presence => "write the presence of this replica",
        })
    }
}
