//! The environment of a run: machine and tools. Data only; `duetbench-run` fills it in.

use serde::{Deserialize, Serialize};

/// The machine and the tools of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Operating system and architecture, as `linux/amd64`.
    pub platform: String,
    /// Kernel release.
    pub kernel: String,
    /// CPU model as the system names it, with its numbers where the name is that of many.
    pub cpu_model: String,
    /// Processors this process may use.
    pub cpus_usable: Vec<u32>,
    /// Distinct physical cores among them.
    pub cores_physical: u32,
    /// Whether two usable processors share a physical core.
    pub smt: bool,
    /// Frequency governor of the first usable processor, where the system tells.
    pub governor: Option<String>,
    /// Load average over one minute when the run began.
    pub load_1min: f64,
    /// Share of processor time stolen by the hypervisor during the run, where the system tells.
    pub steal_share: Option<f64>,
    /// Version of the harness's toolchain, as `go1.26.1`.
    pub toolchain: String,
    /// Version of duet.
    pub duet_version: String,
}
