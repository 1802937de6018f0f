//! Making a function and removing it again, in every path.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_sdk_lambda::error::ProvideErrorMetadata;
use aws_sdk_lambda::operation::get_function::GetFunctionOutput;
use aws_sdk_lambda::primitives::Blob;
use aws_sdk_lambda::types::{Architecture, EphemeralStorage, FunctionCode, PackageType, Runtime, State};
use duetbench_core::spec::Arch;
use duetbench_run::fleet::{Deployment, FleetError, NAME_PREFIX};

use crate::bucket::{Bucket, KEY_PREFIX};
use crate::failure::told;
use crate::function::Function;
use crate::limits::{DIRECT_BYTES_MAX, DISK_MB, LOOK, check_parallel};
use crate::removal::remove;
use crate::{Lambda, connect};

/// The run.
pub(crate) const TAG_RUN: &str = "duet:run";
/// When it may be swept away, seconds since 1970.
pub(crate) const TAG_EXPIRES: &str = "duet:expires";
/// Tells our own function from another of the same name.
pub(crate) const TAG_TOKEN: &str = "duet:token";
/// Bucket and key of the package, where it went through one.
pub(crate) const TAG_OBJECT: &str = "duet:object";

/// Longest that a new function may need to take calls.
const READY_MAX: Duration = Duration::from_secs(180);

/// The function that is made for one run, with the names by which it and its object are found again.
struct Making<'a> {
    lambda: &'a Lambda,
    wish: &'a Deployment<'a>,
    name: String,
    /// Key of the object that the package went through.
    key: Option<String>,
    token: String,
}

/// Makes what is wished for; what was made until an error is removed again.
pub(crate) async fn make<'a>(lambda: &'a Lambda, wish: &Deployment<'_>) -> Result<Function<'a>, FleetError> {
    if let Some(account) = lambda.account_limits().await? {
        check_parallel(wish.parallel, account)?;
    }
    let package = std::fs::read(wish.package)
        .map_err(|e| FleetError::new(format!("package `{}` cannot be read: {e}", wish.package.display())))?;
    let name = format!("{NAME_PREFIX}{}", wish.run);
    let large = u64::try_from(package.len()).is_ok_and(|bytes| bytes > DIRECT_BYTES_MAX);
    let key = large.then(|| format!("{KEY_PREFIX}{name}.zip"));
    let making = Making { lambda, wish, name, key, token: token() };
    match making.all(package).await {
        Ok(()) => {
            let calling = connect::calling(lambda, wish.call_max);
            Ok(Function { lambda, name: making.name.clone(), object: making.object(), calling })
        }
        Err(why) => Err(why),
    }
}

/// Something that no other deployment has.
fn token() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", std::process::id(), now.as_nanos())
}

impl Making<'_> {
    async fn all(&self, package: Vec<u8>) -> Result<(), FleetError> {
        let made = match self.upload(package).await {
            Ok(code) => self.create(code).await,
            Err(why) => return Err(self.undone(why, false).await),
        };
        if let Err(why) = made {
            return Err(self.undone(why, false).await);
        }
        match self.make_ready().await {
            Ok(()) => Ok(()),
            Err(why) => Err(self.undone(why, true).await),
        }
    }

    /// The error, once what was made is removed; says so if that fails too.
    async fn undone(&self, why: FleetError, created: bool) -> FleetError {
        let name = created.then_some(self.name.as_str());
        match remove(self.lambda, name, self.object().as_ref()).await {
            Ok(()) => why,
            Err(left) => FleetError { what: format!("{}; besides, {}", why.what, left.what), ..why },
        }
    }

    /// Bucket and key of the package, where it goes through one.
    fn object(&self) -> Option<(Bucket, String)> {
        self.lambda.bucket.clone().zip(self.key.clone())
    }

    async fn upload(&self, package: Vec<u8>) -> Result<FunctionCode, FleetError> {
        let code = FunctionCode::builder();
        let Some((bucket, key)) = self.object() else { return Ok(code.zip_file(Blob::new(package)).build()) };
        bucket.put(&key, &package).await?;
        Ok(code.s3_bucket(&bucket.name).s3_key(key).build())
    }

    async fn create(&self, code: FunctionCode) -> Result<(), FleetError> {
        let Making { lambda, wish, name, .. } = self;
        let doing = format!("the function `{name}` cannot be made");
        let disk_mb = wish.disk_mb.max(*DISK_MB.start());
        let disk = EphemeralStorage::builder().size(disk_mb.cast_signed()).build();
        let timeout_s = wish.call_max.as_secs() + u64::from(wish.call_max.subsec_nanos() > 0);
        let request = lambda
            .control
            .create_function()
            .function_name(name)
            .description("Measures benchmarks; made and deleted by duet")
            .runtime(Runtime::Providedal2023)
            .handler("bootstrap")
            .package_type(PackageType::Zip)
            .role(&lambda.role_arn)
            .architectures(architecture(wish.arch))
            .memory_size(wish.memory_mb.cast_signed())
            .ephemeral_storage(disk.map_err(|e| FleetError::new(format!("{doing}: {e}")))?)
            .timeout(i32::try_from(timeout_s).unwrap_or(i32::MAX))
            .set_tags(Some(self.tags().into_iter().map(|(key, value)| (key.to_owned(), value)).collect()))
            .code(code);
        match request.send().await {
            Ok(_) => Ok(()),
            Err(e) if e.code() == Some("ResourceConflictException") => self.must_be_ours().await,
            Err(e) => Err(told(&doing, &e)),
        }
    }

    fn tags(&self) -> Vec<(&'static str, String)> {
        let expires = self.wish.expires.duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut tags = vec![
            (TAG_RUN, self.wish.run.to_owned()),
            (TAG_EXPIRES, expires.as_secs().to_string()),
            (TAG_TOKEN, self.token.clone()),
        ];
        tags.extend(self.object().map(|(bucket, key)| (TAG_OBJECT, format!("{}/{key}", bucket.name))));
        tags
    }

    /// A function that exists already is ours if the answer to our first request was lost on its way and the SDK sent it again.
    async fn must_be_ours(&self) -> Result<(), FleetError> {
        let name = &self.name;
        let found = self.lambda.control.get_function().function_name(name).send().await;
        let found = found.map_err(|e| told(&format!("the function `{name}` exists, and cannot be looked at"), &e))?;
        if tag(&found, TAG_TOKEN) == Some(&self.token) {
            return Ok(());
        }
        let error =
            FleetError::new(format!("there is a function `{name}` already, of another run or of one that was killed"));
        Err(error.hint(format!(
            "`duet fleet sweep` deletes it once it has expired; at once: `aws lambda delete-function --function-name {name}`"
        )))
    }

    /// Waits until it takes calls, and sets aside how many at once.
    async fn make_ready(&self) -> Result<(), FleetError> {
        let Making { lambda, wish, name, .. } = self;
        let looks = READY_MAX.as_millis() / LOOK.as_millis();
        let mut state = None;
        for _ in 0..looks {
            let found = lambda.control.get_function_configuration().function_name(name).send().await;
            let found = found.map_err(|e| told(&format!("the function `{name}` cannot be looked at"), &e))?;
            let reason = found.state_reason().unwrap_or("no reason is given").to_owned();
            match found.state() {
                Some(State::Active) => return self.set_aside(wish.parallel).await,
                Some(State::Failed) => {
                    return Err(FleetError::new(format!("the function `{name}` did not become ready: {reason}")));
                }
                other => state = other.cloned(),
            }
            tokio::time::sleep(LOOK).await;
        }
        let state = state.map_or_else(|| "unknown".into(), |s| s.as_str().to_lowercase());
        Err(FleetError::new(format!("the function `{name}` is still {state} after {} s", READY_MAX.as_secs())))
    }

    /// A cap that holds even if we go astray.
    async fn set_aside(&self, parallel: u32) -> Result<(), FleetError> {
        let request = self.lambda.control.put_function_concurrency().function_name(&self.name);
        let sent = request.reserved_concurrent_executions(parallel.cast_signed()).send().await;
        sent.map(|_| ()).map_err(|e| told(&format!("{parallel} calls at once cannot be set aside"), &e))
    }
}

fn architecture(arch: Arch) -> Architecture {
    match arch {
        Arch::X86_64 => Architecture::X8664,
        Arch::Arm64 => Architecture::Arm64,
    }
}

pub(crate) fn tag<'a>(found: &'a GetFunctionOutput, key: &str) -> Option<&'a String> {
    found.tags().and_then(|tags| tags.get(key))
}
