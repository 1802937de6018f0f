//! Limits of Lambda, as its page *Lambda quotas* has them (looked up 2026-11). We check them ourselves before anything is sent, because
//! the service says less about them, or says it only after an upload.

use std::ops::RangeInclusive;
use std::time::Duration;

use aws_sdk_lambda::types::AccountLimit;
use duetbench_run::fleet::{Deployment, FleetError, Limits};

/// Bytes of a package that goes along with the request.
pub const DIRECT_BYTES_MAX: u64 = 50 << 20;
/// Bytes of a package that goes through a bucket; unpacked it may have no more.
pub const BUCKET_BYTES_MAX: u64 = 250 << 20;
/// The worker is packed, and takes up to so many bytes more unpacked; all else in a package is stored.
const PACKED_BYTES: u64 = 24 << 20;
/// Bytes of a request, and of an answer.
pub const PAYLOAD_BYTES_MAX: usize = 6 << 20;
/// Longest call.
pub const CALL_MAX: Duration = Duration::from_secs(900);
/// Memory of an instance, megabytes.
pub const MEMORY_MB: RangeInclusive<u32> = 128..=10_240;
/// Until a connection is there.
pub(crate) const CONNECT_MAX: Duration = Duration::from_secs(10);
/// Between two looks at a function that is being made or deleted.
pub(crate) const LOOK: Duration = Duration::from_millis(500);
/// Room for files in an instance, megabytes. It always has the least of it.
pub(crate) const DISK_MB: RangeInclusive<u32> = 512..=10_240;
/// Calls at once that no function may reserve: an account keeps so many for all others.
const UNRESERVABLE: u32 = 100;
/// Calls at once that most accounts have.
const USUAL_CONCURRENCY: u32 = 1_000;

/// The note where the account may not be asked.
pub(crate) const NOT_ASKED: &str =
    "the policy does not allow `lambda:GetAccountSettings`: taking the usual limit of 1,000 calls at once";

/// Limits of an account.
pub(crate) fn of_account(account: Option<&AccountLimit>, bucket: bool) -> Limits {
    let told = account.and_then(AccountLimit::unreserved_concurrent_executions);
    let unreserved = told.map_or(USUAL_CONCURRENCY, |n| u32::try_from(n).unwrap_or(0));
    Limits { parallel: unreserved.saturating_sub(UNRESERVABLE), ..usual(bucket) }
}

/// Limits of most accounts.
pub(crate) fn usual(bucket: bool) -> Limits {
    Limits {
        parallel: USUAL_CONCURRENCY - UNRESERVABLE,
        package_bytes: if bucket { BUCKET_BYTES_MAX - PACKED_BYTES } else { DIRECT_BYTES_MAX },
        payload_bytes: PAYLOAD_BYTES_MAX,
    }
}

/// Whether Lambda takes such a deployment.
pub(crate) fn check(wish: &Deployment<'_>, bucket: bool) -> Result<(), FleetError> {
    let refuse = |what: String, hint: &str| Err(FleetError::new(what).hint(hint));
    if !MEMORY_MB.contains(&wish.memory_mb) {
        return refuse(format!("Lambda has no instances of {} MB", wish.memory_mb), "`--memory` takes 128 to 10240");
    }
    if wish.disk_mb > *DISK_MB.end() {
        let what = format!("instances would need {} MB for files, and Lambda gives 10240", wish.disk_mb);
        return refuse(what, "choose fewer benchmarks with `--bench`");
    }
    if wish.call_max > CALL_MAX || wish.call_max.is_zero() {
        let what = format!("Lambda takes no calls of {} s", wish.call_max.as_secs_f64());
        return refuse(what, "a call may take 900 s: let one measure fewer fork pairs");
    }
    if wish.parallel == 0 {
        return refuse("no call may run at once".into(), "raise `--parallel`");
    }
    check_package(wish, bucket)
}

fn check_package(wish: &Deployment<'_>, bucket: bool) -> Result<(), FleetError> {
    let shown = wish.package.display();
    let package = std::fs::metadata(wish.package).map_err(|e| FleetError::new(format!("package `{shown}`: {e}")))?;
    let told = |limit: u64| {
        format!("the package has {} MB, and Lambda takes {}", package.len().div_ceil(1 << 20), limit >> 20)
    };
    if package.len() > BUCKET_BYTES_MAX {
        return Err(FleetError::new(told(BUCKET_BYTES_MAX)).hint("choose fewer benchmarks with `--bench`"));
    }
    if package.len() > DIRECT_BYTES_MAX && !bucket {
        let hint = "larger ones go through a bucket of yours: `--bucket NAME`";
        return Err(FleetError::new(told(DIRECT_BYTES_MAX) + " directly").hint(hint));
    }
    Ok(())
}

/// Whether so many calls at once can be reserved where the account allows these.
pub(crate) fn check_parallel(wanted: u32, account: Limits) -> Result<(), FleetError> {
    if wanted <= account.parallel {
        return Ok(());
    }
    let error = FleetError::new(format!(
        "the AWS account can set aside {} calls at once for this run, not {wanted}: {UNRESERVABLE} must be left for all else",
        account.parallel
    ));
    Err(match account.parallel {
        0 => error.hint("ask AWS for more: Service Quotas, AWS Lambda, Concurrent executions"),
        most => error.hint(format!(
            "`--parallel {most}`, or ask AWS for more: Service Quotas, AWS Lambda, Concurrent executions"
        )),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::SystemTime;

    use duetbench_core::spec::Arch;

    use super::*;

    fn wish(package: &Path) -> Deployment<'_> {
        Deployment {
            package,
            run: "r1",
            memory_mb: 2048,
            disk_mb: 512,
            arch: Arch::X86_64,
            call_max: Duration::from_secs(60),
            parallel: 10,
            expires: SystemTime::UNIX_EPOCH,
        }
    }

    fn package(bytes: u64) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(bytes).unwrap();
        file
    }

    #[track_caller]
    fn refused(wish: &Deployment<'_>, bucket: bool, word: &str) {
        let error = check(wish, bucket).unwrap_err();
        assert!(error.what.contains(word) && error.hint.is_some(), "{error:?}");
    }

    #[test]
    fn what_lambda_does_not_take_is_refused_with_a_remedy() {
        let file = package(1000);
        let good = wish(file.path());
        assert!(check(&good, false).is_ok());
        refused(&Deployment { memory_mb: 127, ..good }, false, "127 MB");
        refused(&Deployment { memory_mb: 10_241, ..good }, false, "10241 MB");
        refused(&Deployment { disk_mb: 10_241, ..good }, false, "10241 MB");
        refused(&Deployment { call_max: Duration::from_secs(901), ..good }, false, "901 s");
        refused(&Deployment { call_max: Duration::ZERO, ..good }, false, "0 s");
        refused(&Deployment { parallel: 0, ..good }, false, "at once");
        assert!(check(&Deployment { memory_mb: 10_240, disk_mb: 10_240, call_max: CALL_MAX, ..good }, false).is_ok());
    }

    #[test]
    fn a_large_package_needs_a_bucket_and_a_larger_one_goes_nowhere() {
        let (direct, large, huge) =
            (package(DIRECT_BYTES_MAX), package(DIRECT_BYTES_MAX + 1), package(BUCKET_BYTES_MAX + 1));
        assert!(check(&wish(direct.path()), false).is_ok());
        refused(&wish(large.path()), false, "51 MB");
        assert!(check(&wish(large.path()), true).is_ok());
        refused(&wish(huge.path()), true, "251 MB");
    }

    #[test]
    fn a_small_account_hears_how_many_it_may_reserve() {
        let account = |n| of_account(Some(&AccountLimit::builder().unreserved_concurrent_executions(n).build()), false);
        assert!(check_parallel(150, account(250)).is_ok());
        let error = check_parallel(150, account(249)).unwrap_err();
        assert!(error.hint.unwrap().starts_with("`--parallel 149`"));
        let error = check_parallel(1, account(10)).unwrap_err();
        assert!(error.hint.unwrap().starts_with("ask AWS"));
    }
}
