//! A function that takes calls.

use aws_sdk_lambda::Client;
use aws_sdk_lambda::primitives::Blob;
use aws_sdk_lambda::types::InvocationType;
use duetbench_run::fleet::{Deployed, FleetError, Reply};

use crate::bucket::Bucket;
use crate::limits::PAYLOAD_BYTES_MAX;
use crate::{Lambda, removal, reply};

/// A function that was made for a run.
#[derive(Debug)]
pub(crate) struct Function<'a> {
    pub(crate) lambda: &'a Lambda,
    pub(crate) name: String,
    /// The object in a bucket that its package went through.
    pub(crate) object: Option<(Bucket, String)>,
    /// Sends each request once.
    pub(crate) calling: Client,
}

impl Deployed for Function<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn call(&self, request: &[u8]) -> Reply {
        if request.len() > PAYLOAD_BYTES_MAX {
            let bytes = request.len();
            return Reply::Refused(format!("the request has {bytes} bytes, and Lambda takes {PAYLOAD_BYTES_MAX}"));
        }
        let call = self
            .calling
            .invoke()
            .function_name(&self.name)
            .invocation_type(InvocationType::RequestResponse)
            .payload(Blob::new(request));
        match self.lambda.wait(call.send()) {
            Ok(output) => reply::of_output(output),
            Err(e) => reply::of_error(&e),
        }
    }

    fn remove(&self) -> Result<(), FleetError> {
        self.lambda.wait(removal::remove(self.lambda, Some(&self.name), self.object.as_ref()))
    }
}
