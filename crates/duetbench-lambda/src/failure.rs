//! Puts errors of the service and of the way to it into words that name a remedy.

use std::error::Error;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_lambda::error::{ProvideErrorMetadata, SdkError};
use duetbench_run::fleet::FleetError;

/// Remedy for missing or expired credentials.
pub(crate) const LOG_IN: &str = "log in with `aws sso login`, name a profile in `AWS_PROFILE`, or set `AWS_ACCESS_KEY_ID` and \
                                 `AWS_SECRET_ACCESS_KEY`";
const POLICIES: &str = "`duet fleet policy` prints the policies that are needed";

/// An error with what was being done, what was said, and what helps.
pub(crate) fn told<E, R>(doing: &str, error: &SdkError<E, R>) -> FleetError
where
    E: ProvideErrorMetadata + Error + 'static,
    R: std::fmt::Debug + 'static,
{
    let said = words(error);
    let remedy = match error.code() {
        Some(code) => remedy(code, &said),
        None if is_about_credentials(error) => Some(LOG_IN.to_owned()),
        None => Some("is the network there, and `AWS_ENDPOINT_URL` unset or right?".to_owned()),
    };
    failed(doing, &said, remedy)
}

/// The same of what was said elsewhere.
pub(crate) fn failed(doing: &str, said: &str, remedy: Option<String>) -> FleetError {
    let error = FleetError::new(format!("{doing}: {said}"));
    match remedy {
        Some(remedy) => error.hint(remedy),
        None => error,
    }
}

/// Remedy for an error of this code.
pub(crate) fn remedy(code: &str, said: &str) -> Option<String> {
    if is_denied(code) {
        return Some(POLICIES.into());
    }
    if is_about_identity(code) {
        return Some(LOG_IN.into());
    }
    match code {
        "InvalidParameterValueException" if said.contains("assumed by Lambda") => {
            Some("`duet fleet policy` prints the trust policy that the execution role needs".into())
        }
        "InvalidParameterValueException" if said.contains("ole") && said.contains("cannot be found") => {
            Some("make the execution role first, or name another with `--role`; `duet fleet policy` says how".into())
        }
        "InvalidParameterValueException" | "ValidationException" if said.contains("emorySize") => {
            Some("new accounts get less memory: try `--memory 2048`".into())
        }
        "InvalidParameterValueException" if said.contains("UnreservedConcurrentExecution") => {
            Some("lower `--parallel`, or ask AWS for more: Service Quotas, AWS Lambda, Concurrent executions".into())
        }
        "CodeStorageExceededException" => {
            Some("delete functions that nobody needs; `duet fleet sweep` deletes ours".into())
        }
        _ => None,
    }
}

/// Whether a code says that a policy does not allow something.
pub(crate) fn is_denied(code: &str) -> bool {
    matches!(code, "AccessDenied" | "AccessDeniedException" | "UnauthorizedOperation")
}

/// Whether a code says that we are not who we say, or not any more.
pub(crate) fn is_about_identity(code: &str) -> bool {
    let known = [
        "ExpiredToken", "ExpiredTokenException", "IncompleteSignature", "IncompleteSignatureException",
        "InvalidAccessKeyId", "InvalidClientTokenId", "InvalidSignatureException", "MissingAuthenticationToken",
        "MissingAuthenticationTokenException", "RequestExpired", "RequestTimeTooSkewed", "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    ];
    known.contains(&code)
}

/// Whether there was nothing to sign a request with, so that it was never sent.
pub(crate) fn is_about_credentials(error: &(dyn Error + 'static)) -> bool {
    std::iter::successors(Some(error), |&e| e.source()).any(|e| e.is::<CredentialsError>())
}

/// The error in one line.
pub(crate) fn words<E, R>(error: &SdkError<E, R>) -> String
where
    E: ProvideErrorMetadata + Error + 'static,
    R: std::fmt::Debug + 'static,
{
    match (error.code(), error.message()) {
        (Some(code), Some(message)) => without_accounts(&format!("{message} ({code})")),
        (Some(code), None) => code.to_owned(),
        (None, _) => chain(error),
    }
}

/// An error with all its causes, each said once, in one line.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut told: Vec<String> = Vec::new();
    for cause in std::iter::successors(Some(error), |&e| e.source()) {
        let said = cause.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        if !told.iter().any(|before| before.contains(&said)) {
            told.push(said);
        }
    }
    without_accounts(&told.join(": "))
}

/// Account numbers are nobody's business in a log that everybody can read.
fn without_accounts(said: &str) -> String {
    let is_account = |part: &&str| part.len() == 12 && part.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<&str> = said.split(':').map(|part| if is_account(&part) { "…" } else { part }).collect();
    parts.join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn account_numbers_are_left_out() {
        let said = "User: arn:aws:sts::123456789012:assumed-role/ci is not authorized on arn:aws:lambda:eu-west-1:123456789012:function:f";
        let shown = without_accounts(said);
        assert!(!shown.contains("123456789012"), "{shown}");
        assert!(shown.contains("arn:aws:lambda:eu-west-1:…:function:f"), "{shown}");
    }

    #[test]
    fn what_is_known_has_a_remedy() {
        let check = |code: &str, said: &str, word: &str| {
            let remedy = remedy(code, said).unwrap();
            assert!(remedy.contains(word), "{code}: {remedy}");
        };
        check("AccessDeniedException", "", "duet fleet policy");
        check("ExpiredTokenException", "", "aws sso login");
        check("InvalidParameterValueException", "The role cannot be assumed by Lambda.", "trust policy");
        check("InvalidParameterValueException", "The role with name x cannot be found.", "--role");
        check("InvalidParameterValueException", "'memorySize' failed to satisfy", "--memory");
        check(
            "InvalidParameterValueException",
            "decreases account's UnreservedConcurrentExecution below",
            "--parallel",
        );
        assert_eq!(remedy("InvalidParameterValueException", "something else"), None);
    }
}
