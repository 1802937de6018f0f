//! The way of large packages: one object, put into a bucket of the user's and deleted with its function. Two requests that need a
//! signature are no reason for another SDK.

use std::time::{Duration, SystemTime};

use aws_config::SdkConfig;
use aws_credential_types::provider::ProvideCredentials;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings, UriPathNormalizationMode,
    sign,
};
use aws_sigv4::sign::v4::SigningParams;
use aws_smithy_http_client::Connector;
use aws_smithy_http_client::proxy::ProxyConfig;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorSettings};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_types::service_config::ServiceConfigKey;
use duetbench_core::foreign::percent_encoded;
use duetbench_run::fleet::FleetError;

use crate::failure::{chain, failed, remedy};
use crate::limits::CONNECT_MAX;

/// Objects are called this and the name of their function.
pub(crate) const KEY_PREFIX: &str = "duet/";
/// For putting 250 MB over a slow line.
const ANSWER_MAX: Duration = Duration::from_secs(600);
/// Most attempts at a request; both kinds may be repeated.
const ATTEMPTS: u32 = 4;

/// A bucket of the user's.
#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    pub(crate) name: String,
    config: SdkConfig,
}

/// An answer of S3.
struct Answer {
    status: u16,
    body: String,
}

impl Bucket {
    pub(crate) fn new(name: String, config: &SdkConfig) -> Bucket {
        Bucket { name, config: config.clone() }
    }

    /// Puts an object.
    pub(crate) async fn put(&self, key: &str, bytes: &[u8]) -> Result<(), FleetError> {
        let doing = format!("the package cannot be put into bucket `{}`", self.name);
        self.insist("PUT", key, bytes).await.map_err(|(said, remedy)| failed(&doing, &said, remedy))
    }

    /// Deletes an object; that it is gone already is no error.
    pub(crate) async fn delete(&self, key: &str) -> Result<(), FleetError> {
        let doing = format!("`{key}` cannot be deleted from bucket `{}`", self.name);
        self.insist("DELETE", key, &[]).await.map_err(|(said, remedy)| failed(&doing, &said, remedy))
    }

    /// Sends until there is an answer that would not change; gives words and a remedy else.
    async fn insist(&self, method: &str, key: &str, body: &[u8]) -> Result<(), (String, Option<String>)> {
        let mut last = String::new();
        for attempt in 0..ATTEMPTS {
            tokio::time::sleep(Duration::from_millis(u64::from(attempt) * 500)).await;
            match self.send(method, key, body).await {
                Ok(Answer { status: 200..=299 | 404, .. }) if method == "DELETE" => return Ok(()),
                Ok(Answer { status: 200..=299, .. }) => return Ok(()),
                Ok(Answer { status, body }) => {
                    let code = element(&body, "Code").unwrap_or_default();
                    last = format!("{} ({code}, {status})", element(&body, "Message").unwrap_or("no reason is given"));
                    if status < 500 {
                        return Err((last.clone(), remedy_of(code, &last)));
                    }
                }
                Err(said) => last = said,
            }
        }
        Err((last, None))
    }

    async fn send(&self, method: &str, key: &str, body: &[u8]) -> Result<Answer, String> {
        let request = self.signed(method, key, body).await?;
        let settings = HttpConnectorSettings::builder().connect_timeout(CONNECT_MAX).read_timeout(ANSWER_MAX).build();
        let connector = Connector::builder()
            .connector_settings(settings)
            .proxy_config(ProxyConfig::from_env())
            .tls_provider(Provider::Rustls(CryptoMode::Ring))
            .build();
        let mut response = connector.call(request).await.map_err(|e| chain(&e))?;
        let status = response.status().as_u16();
        let body = aws_sdk_lambda::primitives::ByteStream::new(response.take_body());
        let body = body.collect().await.map_err(|e| chain(&e))?.into_bytes();
        Ok(Answer { status, body: String::from_utf8_lossy(&body).into_owned() })
    }

    /// A request with a signature of version 4, as S3 wants it: <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>.
    async fn signed(&self, method: &str, key: &str, body: &[u8]) -> Result<HttpRequest, String> {
        let provider = self.config.credentials_provider().ok_or("there are no AWS credentials")?;
        let identity = provider.provide_credentials().await.map_err(|e| chain(&e))?.into();
        let mut settings = SigningSettings::default();
        settings.percent_encoding_mode = PercentEncodingMode::Single;
        settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
        let params = SigningParams::builder()
            .identity(&identity)
            .region(self.region())
            .name("s3")
            .time(SystemTime::now())
            .settings(settings)
            .build()
            .map_err(|e| chain(&e))?
            .into();
        let url = self.url(key);
        let signable = SignableRequest::new(method, &url, std::iter::empty(), SignableBody::Bytes(body));
        let (signature, _) = sign(signable.map_err(|e| chain(&e))?, &params).map_err(|e| chain(&e))?.into_parts();
        let mut request = http::Request::builder()
            .method(method)
            .uri(&url)
            .header("content-length", body.len())
            .body(aws_sdk_lambda::primitives::SdkBody::from(body))
            .map_err(|e| chain(&e))?;
        signature.apply_to_request_http1x(&mut request);
        HttpRequest::try_from(request).map_err(|e| chain(&e))
    }

    fn region(&self) -> &str {
        self.config.region().map_or("", AsRef::as_ref)
    }

    /// Where an object is: in the path with an endpoint of the user's, and where the bucket's name makes no valid host.
    fn url(&self, key: &str) -> String {
        let (bucket, region) = (percent_encoded(self.name.as_bytes(), b""), self.region());
        let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
        let key = percent_encoded(key.as_bytes(), b"/");
        match self.endpoint() {
            Some(endpoint) => format!("{}/{bucket}/{key}", endpoint.trim_end_matches('/')),
            None if self.name.contains('.') => format!("https://s3.{region}.{domain}/{bucket}/{key}"),
            None => format!("https://{bucket}.s3.{region}.{domain}/{key}"),
        }
    }

    /// The endpoint in `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL` or the profile.
    fn endpoint(&self) -> Option<String> {
        let key = ServiceConfigKey::builder().service_id("S3").env("AWS_ENDPOINT_URL").profile("endpoint_url").build();
        let own = self.config.service_config().zip(key.ok()).and_then(|(config, key)| config.load_config(key));
        own.or_else(|| self.config.endpoint_url().map(str::to_owned))
    }
}

fn remedy_of(code: &str, said: &str) -> Option<String> {
    match code {
        "NoSuchBucket" => Some("`--bucket` names a bucket that exists, in the region of the functions".into()),
        "PermanentRedirect" | "IllegalLocationConstraintException" | "AuthorizationHeaderMalformed" => {
            Some("the bucket must be in the region of the functions".into())
        }
        _ => remedy(code, said),
    }
}

/// Text of an XML element that has no other in it.
fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let from = xml.find(&format!("<{name}>"))? + name.len() + 2;
    let length = xml[from..].find("</")?;
    Some(&xml[from..from + length])
}

#[cfg(test)]
mod tests {
    use aws_config::Region;
    use aws_credential_types::Credentials;
    use aws_credential_types::provider::SharedCredentialsProvider;
    use sha2::{Digest, Sha256};

    use super::*;

    fn bucket(name: &str, region: &'static str, endpoint: Option<&str>) -> Bucket {
        let keys = Credentials::new("key", "secret", Some("token".into()), None, "test");
        let mut config =
            SdkConfig::builder().region(Region::new(region)).credentials_provider(SharedCredentialsProvider::new(keys));
        config.set_endpoint_url(endpoint.map(str::to_owned));
        Bucket::new(name.into(), &config.build())
    }

    #[test]
    fn objects_are_where_s3_has_them() {
        let check = |name, region, endpoint, url: &str| assert_eq!(bucket(name, region, endpoint).url("duet/a b"), url);
        check("acme", "eu-west-1", None, "https://acme.s3.eu-west-1.amazonaws.com/duet/a%20b");
        check("acme.org", "eu-west-1", None, "https://s3.eu-west-1.amazonaws.com/acme.org/duet/a%20b");
        check("acme", "cn-north-1", None, "https://acme.s3.cn-north-1.amazonaws.com.cn/duet/a%20b");
        check("acme", "eu-west-1", Some("http://127.0.0.1:9/"), "http://127.0.0.1:9/acme/duet/a%20b");
    }

    #[test]
    fn what_is_sent_is_signed_with_its_content() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let request = runtime.block_on(bucket("acme", "eu-west-1", None).signed("PUT", "duet/x.zip", b"abc")).unwrap();
        let header = |name: &str| request.headers().get(name).unwrap_or_default().to_owned();
        let content: String = Sha256::digest(b"abc").iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(header("x-amz-content-sha256"), content);
        assert_eq!(header("x-amz-security-token"), "token");
        assert_eq!(header("content-length"), "3");
        let signature = header("authorization");
        assert!(signature.contains("/eu-west-1/s3/aws4_request"), "{signature}");
        assert!(
            signature.contains("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token"),
            "{signature}"
        );
    }

    #[test]
    fn a_reason_is_found_in_an_answer() {
        let xml = "<?xml version=\"1.0\"?><Error><Code>NoSuchBucket</Code><Message>not there</Message></Error>";
        assert_eq!((element(xml, "Code"), element(xml, "Message")), (Some("NoSuchBucket"), Some("not there")));
        assert_eq!(element("<Code>cut", "Code"), None);
        assert!(remedy_of("NoSuchBucket", "").is_some_and(|remedy| remedy.contains("--bucket")));
    }
}
