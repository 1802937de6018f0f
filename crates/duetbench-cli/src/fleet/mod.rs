//! Fleets from the command's side: which engine, whose worker, which prices, and what is shown meanwhile.

use std::path::{Path, PathBuf};

use duetbench_core::fleet::{PriceTable, Rate};
use duetbench_core::spec::{Arch, EngineName};
use duetbench_run::fleet::here::Here;
use duetbench_run::fleet::{Engine, FleetError, prices};

use crate::failure::Failure;
use crate::settings::Account;

mod recorder;

pub use recorder::FleetRecorder;

/// Prices with the day they were looked up.
#[derive(Debug, Clone)]
pub struct Prices {
    /// Prices of the region.
    pub rate: Rate,
    /// The day they were looked up.
    pub date: String,
}

/// The engine that was asked for, for so many calls at once.
///
/// # Errors
/// When it cannot be reached, or this duet was built without it.
pub fn engine(name: EngineName, parallel: u32, account: &Account) -> Result<Box<dyn Engine>, Failure> {
    match name {
        EngineName::Here => Ok(Box::new(Here::new(parallel))),
        EngineName::Lambda if account.role.is_none() => {
            let error = FleetError::new("AWS Lambda needs a role that functions run as: `--role`");
            Err(error.hint("docs/fleet/aws.md sets it up in a few steps; put it into duet.toml as `role`").into())
        }
        EngineName::Lambda => lambda(account),
    }
}

/// AWS Lambda.
///
/// # Errors
/// When it cannot be reached, or this duet was built without it.
#[cfg(not(feature = "lambda"))]
pub fn lambda(_: &Account) -> Result<Box<dyn Engine>, Failure> {
    let error = FleetError::new("this duet was built without AWS Lambda");
    Err(error.hint("build it with `make fleet`; `--on here` rehearses without it").into())
}

/// AWS Lambda.
///
/// # Errors
/// When there is no region, or no credentials.
#[cfg(feature = "lambda")]
pub fn lambda(account: &Account) -> Result<Box<dyn Engine>, Failure> {
    let settings = duetbench_lambda::Settings {
        region: account.region.clone(),
        // Only deploying needs one.
        role_arn: account.role.clone().unwrap_or_default(),
        bucket: account.bucket.clone(),
        profile: None,
    };
    Ok(Box::new(duetbench_lambda::Lambda::connect(settings)?))
}

/// The policies that AWS Lambda needs.
#[derive(Debug, Clone)]
pub struct Policies {
    /// The name of the role that functions run as.
    pub role: String,
    /// JSON: what whoever runs duet may do.
    pub coordinator: String,
    /// JSON: who may use the role.
    pub trust: String,
}

impl Policies {
    /// Both, each below a line that says where it goes.
    pub fn text(&self) -> String {
        let Policies { role, coordinator, trust } = self;
        format!(
            "# for whoever runs duet\n{coordinator}\n# who may use the role `{role}`; give that role no permission at all\n{trust}\n"
        )
    }
}

/// The policies that AWS Lambda needs.
///
/// # Errors
/// When the role is not said, from which the account is read.
#[cfg(feature = "lambda")]
pub fn policies(account: &Account) -> Result<Policies, Failure> {
    use duetbench_lambda::policy::{ROLE_NAME, Scope, account_of, coordinator, execution_trust};
    let role_arn = account.role.as_deref().unwrap_or_default();
    let (Some(id), Some((_, role))) = (account_of(role_arn), role_arn.split_once(":role/")) else {
        return Err(Failure::usage(format!(
            "`--role` must say which role functions shall run as, as `arn:aws:iam::123456789012:role/{ROLE_NAME}`; it need not exist yet"
        )));
    };
    let region = account.region.as_deref().ok_or_else(|| Failure::usage("`--region` must say where"))?;
    let scope = Scope { region, account: id, role, bucket: account.bucket.as_deref() };
    Ok(Policies { role: role.to_owned(), coordinator: coordinator(&scope), trust: execution_trust() })
}

/// The policies that AWS Lambda needs.
///
/// # Errors
/// Always: this duet was built without it.
#[cfg(not(feature = "lambda"))]
pub fn policies(account: &Account) -> Result<Policies, Failure> {
    Err(lambda(account).err().unwrap_or_else(|| Failure::usage("this duet was built without AWS Lambda")))
}

/// The worker's program: the one that was named, or the one beside `duet`.
///
/// # Errors
/// When there is none.
pub fn worker(account: &Account, arch: Arch) -> Result<PathBuf, Failure> {
    let beside = || {
        let duet = std::env::current_exe().ok()?;
        let names = [format!("duet-worker-{}", arch.word()), "duet-worker".to_owned()];
        names.iter().map(|name| duet.with_file_name(name)).find(|path| path.is_file())
    };
    match account.worker.clone().or_else(beside) {
        Some(path) if path.is_file() => Ok(path),
        Some(path) => Err(Failure::usage(format!("there is no worker `{}`: `make worker` builds one", path.display()))),
        None => Err(FleetError::new("there is no `duet-worker` beside `duet`")
            .hint("`make worker` builds it; `--worker FILE` names another")
            .into()),
    }
}

/// The prices to reckon with, of the region in which a fleet deploys.
///
/// # Errors
/// When the file that was named cannot be used.
pub fn prices_of(account: &Account, region: Option<&str>) -> Result<Prices, Failure> {
    let table: PriceTable = match &account.prices {
        None => prices::known(),
        Some(path) => read(path)?,
    };
    let region = region.filter(|region| !region.is_empty()).unwrap_or("default");
    let rate = table.rate(region).ok_or_else(|| Failure::usage(format!("the prices say nothing of `{region}`")))?;
    Ok(Prices { rate, date: table.date })
}

fn read(path: &Path) -> Result<PriceTable, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::usage(format!("the prices `{}` cannot be read: {e}", path.display())))?;
    prices::parse(&text)
        .map_err(|e| Failure::usage(format!("the prices `{}` cannot be understood: {e}", path.display())))
}

/// The processor of this machine.
pub fn this_arch() -> Arch {
    if cfg!(target_arch = "aarch64") { Arch::Arm64 } else { Arch::X86_64 }
}
