//! AWS Lambda as an [`Engine`].
//!
//! A run gets a function of its own, made from its package and deleted with it. Everything that is made has a name that begins with
//! `duet-` and tags that say until when it is wanted, so that whatever a killed run leaves behind is found again by [`Engine::sweep`].
//! Calls are always synchronous and never sent twice: a second one would be billed, and whoever counts results decides on retries.
//!
//! No type of the provider's SDK leaves this crate, and nothing else of ours knows the SDK.

mod bucket;
mod connect;
mod deployment;
mod failure;
mod function;
mod limits;
pub mod policy;
mod removal;
mod reply;
mod sweeping;

use std::future::Future;

use aws_sdk_lambda::Client;
use aws_sdk_lambda::error::ProvideErrorMetadata;
use duetbench_run::fleet::{Deployed, Deployment, Engine, FleetError, Leftover, Limits, Swept};
use tokio::runtime::Runtime;

use crate::bucket::Bucket;
use crate::failure::told;

pub use crate::connect::Settings;
pub use crate::limits::{BUCKET_BYTES_MAX, CALL_MAX, DIRECT_BYTES_MAX, MEMORY_MB, PAYLOAD_BYTES_MAX};

/// AWS Lambda in one region of one account.
#[derive(Debug)]
pub struct Lambda {
    /// Drives what all blocked threads wait for.
    runtime: Runtime,
    config: aws_config::SdkConfig,
    /// For everything but calls; the SDK repeats what failed.
    control: Client,
    role_arn: String,
    bucket: Option<Bucket>,
}

impl Lambda {
    /// Takes region, credentials and endpoint from where every AWS tool takes them: variables, the profile, SSO, web identity.
    ///
    /// # Errors
    /// When there is no region, or no credentials.
    pub fn connect(settings: Settings) -> Result<Lambda, FleetError> {
        connect::connect(settings)
    }

    /// The region, as `eu-central-1`.
    #[must_use]
    pub fn region(&self) -> &str {
        self.config.region().map_or("", AsRef::as_ref)
    }

    /// Blocks this thread until it is done; any number of threads may.
    fn wait<F: Future>(&self, future: F) -> F::Output {
        self.runtime.handle().block_on(future)
    }

    /// Limits of the account, or nothing if we may not ask.
    async fn account_limits(&self) -> Result<Option<Limits>, FleetError> {
        match self.control.get_account_settings().send().await {
            Ok(settings) => Ok(Some(limits::of_account(settings.account_limit(), self.bucket.is_some()))),
            Err(e) if e.code().is_some_and(failure::is_denied) => Ok(None),
            Err(e) => Err(told("the limits of the AWS account cannot be asked", &e)),
        }
    }
}

impl Engine for Lambda {
    fn name(&self) -> &'static str {
        "lambda"
    }

    fn region(&self) -> Option<&str> {
        Some(Lambda::region(self))
    }

    fn limits(&self) -> Result<Limits, FleetError> {
        let limits = self.wait(self.account_limits())?;
        Ok(limits.unwrap_or_else(|| limits::usual(self.bucket.is_some())))
    }

    fn caveats(&self) -> Vec<String> {
        match self.wait(self.account_limits()) {
            Ok(None) => vec![limits::NOT_ASKED.into()],
            // Any other failure is told by whoever asks for the limits.
            Ok(Some(_)) | Err(_) => Vec::new(),
        }
    }

    fn deploy(&self, wish: &Deployment<'_>) -> Result<Box<dyn Deployed + '_>, FleetError> {
        limits::check(wish, self.bucket.is_some())?;
        connect::allow_open_files(wish.parallel);
        Ok(Box::new(self.wait(deployment::make(self, wish))?))
    }

    fn sweep(&self, is_over: &dyn Fn(&Leftover) -> bool) -> Result<Swept, FleetError> {
        self.wait(sweeping::sweep(self, is_over))
    }
}
