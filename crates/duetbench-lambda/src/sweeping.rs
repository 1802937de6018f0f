//! Finding what was made by a duet, and removing what nobody needs any more.

use std::time::{Duration, UNIX_EPOCH};

use aws_sdk_lambda::error::ProvideErrorMetadata;
use aws_sdk_lambda::operation::get_function::GetFunctionOutput;
use duetbench_run::fleet::{FleetError, Leftover, NAME_PREFIX, Swept};

use crate::Lambda;
use crate::bucket::{Bucket, KEY_PREFIX};
use crate::deployment::{TAG_EXPIRES, TAG_OBJECT, TAG_RUN, TAG_TOKEN, tag};
use crate::failure::{failed, remedy, told};
use crate::removal::remove;

/// Looks at every function of ours, and removes those that are over, with their objects.
pub(crate) async fn sweep(lambda: &Lambda, is_over: &dyn Fn(&Leftover) -> bool) -> Result<Swept, FleetError> {
    let mut swept = Swept::default();
    for name in candidates(lambda).await? {
        let found = match lambda.control.get_function().function_name(&name).send().await {
            Ok(found) => found,
            // Its run was faster.
            Err(e) if e.code() == Some("ResourceNotFoundException") => continue,
            Err(e) => return Err(told(&format!("the function `{name}` cannot be looked at"), &e)),
        };
        if let Some(error) = found.tags_error() {
            let doing = format!("the tags of the function `{name}` cannot be read");
            return Err(failed(&doing, error.message(), remedy(error.error_code(), error.message())));
        }
        let Some(leftover) = ours(&name, &found) else { continue };
        if is_over(&leftover) {
            remove(lambda, Some(&name), object(lambda, &name, &found).as_ref()).await?;
            swept.removed.push(leftover);
        } else {
            swept.left.push(leftover);
        }
    }
    Ok(swept)
}

/// Names of functions that may be ours.
async fn candidates(lambda: &Lambda) -> Result<Vec<String>, FleetError> {
    let mut pages = lambda.control.list_functions().into_paginator().send();
    let mut candidates = Vec::new();
    while let Some(page) = pages.next().await {
        let page = page.map_err(|e| told("the functions of the AWS account cannot be listed", &e))?;
        let named = page.functions().iter().filter_map(|f| f.function_name());
        candidates.extend(named.filter(|name| name.starts_with(NAME_PREFIX)).map(str::to_owned));
    }
    Ok(candidates)
}

/// The function, if a duet made it. A name alone proves nothing: it bears all the tags that we give, and that of its run is its name.
fn ours(name: &str, found: &GetFunctionOutput) -> Option<Leftover> {
    let run = tag(found, TAG_RUN).filter(|run| name.strip_prefix(NAME_PREFIX) == Some(run))?;
    let expires_s = tag(found, TAG_EXPIRES)?.parse::<u64>().ok()?;
    let expires = UNIX_EPOCH.checked_add(Duration::from_secs(expires_s))?;
    tag(found, TAG_TOKEN).map(|_| Leftover { name: name.to_owned(), run: run.clone(), expires })
}

/// The object that it was made from, if it is where we put objects.
fn object(lambda: &Lambda, name: &str, found: &GetFunctionOutput) -> Option<(Bucket, String)> {
    let (bucket, key) = tag(found, TAG_OBJECT)?.split_once('/')?;
    let is_ours = key == format!("{KEY_PREFIX}{name}.zip");
    is_ours.then(|| (Bucket::new(bucket.into(), &lambda.config), key.to_owned()))
}
