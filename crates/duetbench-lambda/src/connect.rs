//! Credentials, clients and connections.

use std::time::{Duration, SystemTime};

use aws_config::meta::region::RegionProviderChain;
use aws_config::profile::ProfileFileCredentialsProvider;
use aws_config::provider_config::ProviderConfig;
use aws_config::retry::RetryConfig;
use aws_config::stalled_stream_protection::StalledStreamProtectionConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::provider::{ProvideCredentials, error::CredentialsError};
use aws_sdk_lambda::Client;
use aws_smithy_http_client::pool;
use aws_smithy_http_client::proxy::ProxyConfig;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use duetbench_run::fleet::FleetError;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::Lambda;
use crate::bucket::Bucket;
use crate::failure::{LOG_IN, chain};
use crate::limits::CONNECT_MAX;

/// Gateways drop connections that say nothing for 350 s; a call says nothing until its answer.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// Shorter than any server keeps an idle connection, so that none is closed under a call that is about to be sent.
const IDLE_MAX: Duration = Duration::from_secs(15);
/// Time that an answer may take longer than the function: an instance is started before, and the answer travels after.
const ANSWER_SLACK: Duration = Duration::from_secs(60);
/// Most attempts at a request other than a call.
const ATTEMPTS: u32 = 10;
/// Longest pause between two of them.
const BACKOFF_MAX: Duration = Duration::from_secs(5);
/// Open files besides connections.
const OTHER_FILES: u64 = 256;

/// Where and as whom.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Region; otherwise that of the environment or profile.
    pub region: Option<String>,
    /// The execution role that functions get, `arn:aws:iam::…:role/duet-exec`.
    pub role_arn: String,
    /// Bucket through which packages above [`crate::DIRECT_BYTES_MAX`] go.
    pub bucket: Option<String>,
    /// Profile whose credentials are taken, even if variables have others.
    pub profile: Option<String>,
}

/// See [`Lambda::connect`].
pub(crate) fn connect(settings: Settings) -> Result<Lambda, FleetError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("duet-lambda")
        .enable_all()
        .build()
        .map_err(|e| FleetError::new(format!("no threads for connections: {e}")))?;
    let config = runtime.block_on(load(&settings))?;
    runtime.block_on(must_have_credentials(&config))?;
    let retries = RetryConfig::standard()
        .with_max_attempts(ATTEMPTS)
        .with_initial_backoff(Duration::from_millis(200))
        .with_max_backoff(BACKOFF_MAX);
    let control = aws_sdk_lambda::config::Builder::from(&config).retry_config(retries).build();
    let bucket = settings.bucket.map(|name| Bucket::new(name, &config));
    Ok(Lambda { runtime, control: Client::from_conf(control), config, role_arn: settings.role_arn, bucket })
}

/// Everything that the SDK finds by itself, and connections of our own.
async fn load(settings: &Settings) -> Result<SdkConfig, FleetError> {
    let pool = pool::Builder::default()
        .tls_provider(Provider::Rustls(CryptoMode::Ring))
        .tcp_keepalive(KEEP_ALIVE)
        .idle_timeout(IDLE_MAX)
        .proxy_config(ProxyConfig::from_env())
        .build_https()
        .map_err(|e| FleetError::new(format!("no connections can be made: {}", chain(&e))))?;
    let http = pool::Client::new(&pool).map_err(|e| FleetError::new(format!("no connections can be made: {e}")))?;
    let mut loader = aws_config::defaults(BehaviorVersion::latest()).http_client(http.clone());
    if let Some(region) = &settings.region {
        loader = loader.region(Region::new(region.clone()));
    }
    if let Some(profile) = &settings.profile {
        // Variables come before the profile otherwise, also before one that was asked for by name.
        let region = RegionProviderChain::first_try(settings.region.clone().map(Region::new))
            .or_else(aws_config::profile::ProfileFileRegionProvider::builder().profile_name(profile).build())
            .region()
            .await;
        let own = ProviderConfig::without_region().with_region(region).with_http_client(http);
        let credentials = ProfileFileCredentialsProvider::builder().profile_name(profile).configure(&own).build();
        loader = loader.profile_name(profile).credentials_provider(credentials);
    }
    let config = loader.load().await;
    if config.region().is_none() {
        let error = FleetError::new("no AWS region is set");
        return Err(error.hint("set `AWS_REGION`, as in `AWS_REGION=eu-central-1`, or a region in the profile"));
    }
    Ok(config)
}

/// Whoever has none should hear of it before anything is built.
async fn must_have_credentials(config: &SdkConfig) -> Result<(), FleetError> {
    let missing = |why: &str| FleetError::new(format!("there are no AWS credentials{why}")).hint(LOG_IN);
    let provider = config.credentials_provider().ok_or_else(|| missing(""))?;
    let credentials = provider.provide_credentials().await.map_err(|e| match e {
        // Every source that has nothing to say says that at length.
        CredentialsError::CredentialsNotLoaded(_) => missing(""),
        failed => missing(&format!(": {}", chain(&failed))),
    })?;
    match credentials.expiry() {
        Some(expiry) if expiry <= SystemTime::now() => Err(missing(": they have expired")),
        _ => Ok(()),
    }
}

/// A client for calls. The SDK never repeats one: it would run, and be billed, twice.
pub(crate) fn calling(lambda: &Lambda, call_max: Duration) -> Client {
    let answer = call_max.saturating_add(ANSWER_SLACK);
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(CONNECT_MAX)
        .read_timeout(answer)
        .operation_timeout(answer.saturating_add(CONNECT_MAX))
        .build();
    let config = aws_sdk_lambda::config::Builder::from(&lambda.config)
        .retry_config(RetryConfig::disabled())
        .timeout_config(timeouts)
        // Takes the silence before an answer for a stalled connection.
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
        .build();
    Client::from_conf(config)
}

/// Each call in flight is an open file, and the usual limit is 1,024. Where it cannot be raised, connecting says so.
pub(crate) fn allow_open_files(parallel: u32) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let needed = u64::from(parallel).saturating_add(OTHER_FILES);
    if current.is_some_and(|limit| limit < needed) {
        let current = Some(maximum.map_or(needed, |most| most.min(needed)));
        let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum });
    }
}
