//! Removing what was made.

use std::time::Duration;

use aws_sdk_lambda::error::ProvideErrorMetadata;
use duetbench_run::fleet::FleetError;

use crate::Lambda;
use crate::bucket::Bucket;
use crate::failure::told;
use crate::limits::LOOK;

/// Longest that one may need until it can be deleted.
const DELETABLE_MAX: Duration = Duration::from_secs(30);

/// Removes a function and the object it came from, both even if one fails. What is gone is no error.
pub(crate) async fn remove(
    lambda: &Lambda,
    function: Option<&str>,
    object: Option<&(Bucket, String)>,
) -> Result<(), FleetError> {
    let mut failures = Vec::new();
    if let Some(name) = function {
        failures.extend(delete(lambda, name).await.err());
    }
    if let Some((bucket, key)) = object {
        failures.extend(bucket.delete(key).await.err());
    }
    let Some(first) = failures.first() else { return Ok(()) };
    let what = failures.iter().map(|f| f.what.as_str()).collect::<Vec<_>>().join("; ");
    let hint = first.hint.clone().unwrap_or_else(|| "`duet fleet sweep` tries again once they have expired".into());
    Err(FleetError::new(what).hint(hint))
}

/// Deletes a function. One that is only being made is not deleted until that is done.
async fn delete(lambda: &Lambda, name: &str) -> Result<(), FleetError> {
    let mut looks = DELETABLE_MAX.as_millis() / LOOK.as_millis();
    loop {
        match lambda.control.delete_function().function_name(name).send().await {
            Ok(_) => return Ok(()),
            Err(e) if e.code() == Some("ResourceNotFoundException") => return Ok(()),
            Err(e) if e.code() == Some("ResourceConflictException") && looks > 0 => looks -= 1,
            Err(e) => return Err(told(&format!("the function `{name}` cannot be deleted"), &e)),
        }
        tokio::time::sleep(LOOK).await;
    }
}
