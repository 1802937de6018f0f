//! Reads the outcome of a call. The question that decides is whether it may have run: if so it is paid for, and its result may exist.

use std::error::Error;

use aws_sdk_lambda::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_lambda::operation::invoke::{InvokeError, InvokeOutput};
use aws_sdk_lambda::primitives::Blob;
use duetbench_run::fleet::Reply;

use crate::failure::{is_about_credentials, is_about_identity, is_denied, words};

/// The reply to a call that Lambda took.
pub(crate) fn of_output(output: InvokeOutput) -> Reply {
    let failed = output.function_error().is_some();
    let payload = output.payload.map(Blob::into_inner).unwrap_or_default();
    if !failed {
        return Reply::Answer(payload);
    }
    let told: serde_json::Value = serde_json::from_slice(&payload).unwrap_or_default();
    let part = |key: &str| told.get(key).and_then(serde_json::Value::as_str);
    let kind = part("errorType").unwrap_or("unknown");
    let said = format!("{} ({kind})", part("errorMessage").unwrap_or("no reason is given"));
    // Without a program that can be started, every call ends so.
    if kind == "Runtime.InvalidEntrypoint" { Reply::Refused(said) } else { Reply::Crashed(said) }
}

/// The reply to a call that Lambda did not take, or whose answer did not arrive.
pub(crate) fn of_error<R: std::fmt::Debug + 'static>(error: &SdkError<InvokeError, R>) -> Reply {
    let said = words(error);
    match error {
        SdkError::ServiceError(context) => of_service_error(context.err(), said),
        // Nothing that could be sent, or nothing to sign it with. A token that is only old is renewed by the SDK before that.
        SdkError::ConstructionFailure(_) => Reply::Refused(said),
        SdkError::DispatchFailure(failure) if failure.is_user() => Reply::Refused(said),
        _ if is_about_credentials(error as &(dyn Error + 'static)) => Reply::Refused(said),
        _ => Reply::Lost(said),
    }
}

fn of_service_error(error: &InvokeError, said: String) -> Reply {
    if let InvokeError::TooManyRequestsException(throttled) = error {
        return Reply::Throttled(throttled.reason().map_or(said, |reason| reason.as_str().to_owned()));
    }
    match error.code().unwrap_or_default() {
        // Not ready yet, or the machinery below is short of something: it did not run.
        "EC2ThrottledException" | "ResourceConflictException" | "ResourceNotReadyException" => Reply::Throttled(said),
        "Throttling" | "ThrottlingException" | "RequestLimitExceeded" => Reply::Throttled(said),
        "InvalidParameterValueException" | "InvalidRequestContentException" | "InvalidRuntimeException" => {
            Reply::Refused(said)
        }
        "InvalidZipFileException" | "RequestTooLargeException" | "ResourceNotFoundException" => Reply::Refused(said),
        "UnsupportedMediaTypeException" => Reply::Refused(said),
        code if is_denied(code) || is_about_identity(code) => Reply::Refused(said),
        // `ServiceException` and what else is wrong on their side: it may have run.
        _ => Reply::Lost(said),
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_lambda::error::ErrorMetadata;
    use aws_sdk_lambda::types::ThrottleReason;
    use aws_sdk_lambda::types::error::TooManyRequestsException;

    use super::*;

    fn ended(kind: &str, said: &str) -> Reply {
        let payload = serde_json::json!({ "errorType": kind, "errorMessage": said }).to_string();
        of_output(InvokeOutput::builder().function_error("Unhandled").payload(Blob::new(payload)).build())
    }

    #[test]
    fn an_instance_that_ended_is_crashed_with_its_words() {
        let check = |kind, said| assert_eq!(ended(kind, said), Reply::Crashed(format!("{said} ({kind})")));
        check("Runtime.ExitError", "RequestId: 1 Error: Runtime exited with error: exit status 3");
        check("Runtime.OutOfMemory", "RequestId: 1 Error: Runtime exited with error: signal: killed");
        check("Sandbox.Timedout", "2026-11-01 1 Task timed out after 3.00 seconds");
        check("Function.ResponseSizeTooLarge", "Response payload size exceeded maximum allowed");
        check("Whatever", "panicked");
    }

    #[test]
    fn a_program_that_cannot_be_started_is_not_tried_again() {
        assert!(matches!(ended("Runtime.InvalidEntrypoint", "exec format error"), Reply::Refused(_)));
    }

    #[test]
    fn no_reason_is_a_reason() {
        let output = InvokeOutput::builder().function_error("Unhandled").payload(Blob::new("not JSON")).build();
        assert_eq!(of_output(output), Reply::Crashed("no reason is given (unknown)".into()));
        assert_eq!(of_output(InvokeOutput::builder().build()), Reply::Answer(Vec::new()));
    }

    fn heard(code: &str) -> Reply {
        let error = InvokeError::generic(ErrorMetadata::builder().code(code).message("words").build());
        of_error(&SdkError::service_error(error, ()))
    }

    #[test]
    fn codes_tell_what_may_have_run() {
        for code in ["ResourceConflictException", "EC2ThrottledException", "ThrottlingException"] {
            assert_eq!(heard(code), Reply::Throttled(format!("words ({code})")));
        }
        let never = [
            "AccessDeniedException", "ExpiredTokenException", "InvalidSignatureException", "ResourceNotFoundException",
        ];
        for code in never.into_iter().chain(["RequestTooLargeException", "InvalidZipFileException"]) {
            assert_eq!(heard(code), Reply::Refused(format!("words ({code})")));
        }
        for code in ["ServiceException", "InternalFailure", "SomethingNew"] {
            assert_eq!(heard(code), Reply::Lost(format!("words ({code})")));
        }
    }

    #[test]
    fn a_throttle_gives_its_reason() {
        let reason = ThrottleReason::ReservedFunctionConcurrentInvocationLimitExceeded;
        let error = InvokeError::TooManyRequestsException(TooManyRequestsException::builder().reason(reason).build());
        let told = of_error(&SdkError::service_error(error, ()));
        assert_eq!(told, Reply::Throttled("ReservedFunctionConcurrentInvocationLimitExceeded".into()));
    }
}
