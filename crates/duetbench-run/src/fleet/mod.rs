//! A fleet: many instances that each measure a few fork pairs, behind one interface whoever runs them.
//!
//! The path of a call: [`package`] puts both versions' programs and the worker into one file, an [`Engine`] deploys it, [`campaign`]
//! sends a [`wire::Request`] for each task, [`worker`] carries it out in the instance with the same code that measures here, and its
//! [`wire::Response`] goes into the store.

use std::path::Path;
use std::time::{Duration, SystemTime};

use duetbench_core::spec::Arch;
use thiserror::Error;

pub mod bundle;
pub mod campaign;
pub mod convoy;
pub mod here;
pub mod package;
pub mod prices;
pub mod rehearsal;
pub mod smoke;
pub mod wire;
pub mod worker;

/// Who runs instances. Every engine passes the same conformance suite.
pub trait Engine: Sync {
    /// In a word.
    fn name(&self) -> &'static str;

    /// The region in which it deploys, for a provider that has several: another one has other prices, and does not see what lies in
    /// this one.
    fn region(&self) -> Option<&str> {
        None
    }

    /// Limits of the account or machine.
    ///
    /// # Errors
    /// When it cannot be asked.
    fn limits(&self) -> Result<Limits, FleetError>;

    /// Assumptions about its limits with the reasons, a sentence each.
    fn caveats(&self) -> Vec<String> {
        Vec::new()
    }

    /// Makes a package callable; on return calls are taken. Anything made until an error is removed again.
    ///
    /// # Errors
    /// When it is refused, or not ready in time.
    fn deploy(&self, wish: &Deployment<'_>) -> Result<Box<dyn Deployed + '_>, FleetError>;

    /// Looks for what was made by a duet and is still there, and removes what nobody needs any more, as `is_over` says.
    ///
    /// # Errors
    /// When it cannot be looked for, or not removed.
    fn sweep(&self, is_over: &dyn Fn(&Leftover) -> bool) -> Result<Swept, FleetError>;
}

/// A package to be made callable.
#[derive(Debug, Clone, Copy)]
pub struct Deployment<'a> {
    /// A zip file with an executable `bootstrap` in it.
    pub package: &'a Path,
    /// Names what is made: `duet-` and this, of at most 50 letters, digits and `-`.
    pub run: &'a str,
    /// Memory of an instance, megabytes.
    pub memory_mb: u32,
    /// Room for files in an instance, megabytes.
    pub disk_mb: u32,
    /// Its processor.
    pub arch: Arch,
    /// Longest call.
    pub call_max: Duration,
    /// Most calls at once that the provider shall ever take: a cap that holds even if we go astray.
    pub parallel: u32,
    /// When it may be swept away.
    pub expires: SystemTime,
}

/// Something that a duet made and that is still there: left behind, or of a run that goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Its name at the provider's.
    pub name: String,
    /// The name that it was deployed under: that of a sitting, or for one of several packages, that with a number.
    pub run: String,
    /// When it may be swept away.
    pub expires: SystemTime,
}

impl Leftover {
    /// Whether its time is up.
    pub fn has_expired(&self, now: SystemTime) -> bool {
        self.expires < now
    }

    /// Whether a sitting of this name deployed it.
    pub fn is_of(&self, sitting: &str) -> bool {
        let rest = self.run.strip_prefix(sitting);
        rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok()))
    }
}

/// The result of sweeping.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Removed now.
    pub removed: Vec<Leftover>,
    /// Still there.
    pub left: Vec<Leftover>,
}

/// Something that can be called.
pub trait Deployed: Sync {
    /// Its name at the provider's.
    fn name(&self) -> &str;

    /// Calls it and waits for the answer; blocks its thread, and is called from many. Never sends anything twice.
    fn call(&self, request: &[u8]) -> Reply;

    /// Removes it; calls in flight are lost. Removing what is gone is no error.
    ///
    /// # Errors
    /// When it is still there.
    fn remove(&self) -> Result<(), FleetError>;
}

/// Result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The worker's answer.
    Answer(Vec<u8>),
    /// The provider would not take it now.
    Throttled(String),
    /// No answer: whether it ran is not known.
    Lost(String),
    /// The instance ended under it, or ran out of time or memory.
    Crashed(String),
    /// The provider will never take it.
    Refused(String),
}

/// Limits of an account or a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Calls at once.
    pub parallel: u32,
    /// Bytes of a package.
    pub package_bytes: u64,
    /// Bytes of a request, and of an answer.
    pub payload_bytes: usize,
}

/// Error of a fleet, with the remedy where there is one.
#[derive(Debug, Error)]
#[error("{what}")]
pub struct FleetError {
    /// The error in words.
    pub what: String,
    /// Remedy for the user.
    pub hint: Option<String>,
}

impl FleetError {
    /// An error without a remedy.
    pub fn new(what: impl Into<String>) -> FleetError {
        FleetError { what: what.into(), hint: None }
    }

    /// The same with a remedy.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> FleetError {
        FleetError { hint: Some(hint.into()), ..self }
    }
}

/// Prefix of the names of all that a fleet makes.
pub const NAME_PREFIX: &str = "duet-";
