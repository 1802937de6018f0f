//! A server, packages for it, and ways to connect.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use duetbench_core::spec::Arch;
use duetbench_lambda::{DIRECT_BYTES_MAX, Lambda, Settings};
use duetbench_run::fleet::{Deployed, Deployment, FleetError, Reply};
use serde_json::{Value, json};
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

use crate::ministack::{ACCOUNT, Ministack, Options, REGION, ROOT};

/// The bucket of all tests.
pub const BUCKET: &str = "packages";
/// Names profiles.
static PROFILES: AtomicU32 = AtomicU32::new(0);
/// Guards the file with profiles.
static WRITING: Mutex<()> = Mutex::new(());

/// Takes away what the user has set for AWS. Every connection of a test gets a profile of its own instead, in one file.
pub fn set_variables() {
    let ours: Vec<_> = std::env::vars_os().map(|(name, _)| name).collect();
    let profiles = profiles();
    fs::write(&profiles, "").unwrap();
    // SAFETY: there is no other thread yet.
    unsafe {
        for name in ours.iter().filter(|name| name.to_string_lossy().starts_with("AWS_")) {
            std::env::remove_var(name);
        }
        std::env::set_var("AWS_CONFIG_FILE", profiles);
        std::env::set_var("AWS_SHARED_CREDENTIALS_FILE", "/dev/null");
        std::env::set_var("AWS_EC2_METADATA_DISABLED", "true");
    }
}

fn profiles() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("profiles-{}", std::process::id()))
}

/// Once all tests have ended.
pub fn remove_profiles() {
    let _ = fs::remove_file(profiles());
}

/// The execution role that tests hand over.
pub fn role() -> String {
    format!("arn:aws:iam::{ACCOUNT}:role/duet-exec")
}

/// A server with the execution role and the bucket.
pub fn place(options: Options) -> Ministack {
    let server = Ministack::start(options);
    let trust = duetbench_lambda::policy::execution_trust();
    let role = json!({ "RoleName": "duet-exec", "AssumeRolePolicyDocument": trust });
    let made = server.ask(ROOT, &json!([["iam", "create_role", role], ["s3", "create_bucket", { "Bucket": BUCKET }]]));
    assert!(made.iter().all(|answer| answer.get("error").is_none()), "{made:?}");
    server
}

/// Connects to an endpoint with these keys.
pub fn connect_to(endpoint: &str, keys: (&str, &str), bucket: bool) -> Result<Lambda, FleetError> {
    let profile = format!("p{}", PROFILES.fetch_add(1, Ordering::Relaxed));
    let (key, secret) = keys;
    let text = format!(
        "[profile {profile}]\nregion = {REGION}\nendpoint_url = {endpoint}\naws_access_key_id = {key}\naws_secret_access_key = {secret}\n"
    );
    {
        let _writing = WRITING.lock().unwrap();
        OpenOptions::new().append(true).open(profiles()).unwrap().write_all(text.as_bytes()).unwrap();
    }
    let bucket = bucket.then(|| BUCKET.to_owned());
    Lambda::connect(Settings { region: None, role_arn: role(), bucket, profile: Some(profile) })
}

/// Connects as somebody who may do everything.
pub fn connect(server: &Ministack) -> Lambda {
    connect_to(&server.endpoint(), ROOT, false).unwrap()
}

/// A package with the worker for tests.
pub fn package(server: &Ministack) -> PathBuf {
    pack(&server.dir().join("package.zip"), 0)
}

/// One that is too large to go directly.
pub fn large_package(server: &Ministack) -> PathBuf {
    pack(&server.dir().join("large.zip"), usize::try_from(DIRECT_BYTES_MAX).unwrap())
}

fn pack(path: &Path, ballast: usize) -> PathBuf {
    let mut zip = zip::ZipWriter::new(fs::File::create(path).unwrap());
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).unix_permissions(0o755);
    zip.start_file("bootstrap", stored).unwrap();
    zip.write_all(include_bytes!("../support/bootstrap.py")).unwrap();
    zip.start_file("ballast", stored).unwrap();
    zip.write_all(&vec![0; ballast]).unwrap();
    zip.finish().unwrap();
    path.to_owned()
}

/// An everyday deployment.
pub fn wish<'a>(package: &'a Path, run: &'a str) -> Deployment<'a> {
    Deployment {
        package,
        run,
        memory_mb: 2048,
        disk_mb: 600,
        arch: Arch::X86_64,
        call_max: Duration::from_secs(60),
        parallel: 10,
        expires: SystemTime::now() + Duration::from_secs(3600),
    }
}

/// A call of the worker for tests.
pub fn call(deployed: &dyn Deployed, event: &Value) -> Reply {
    deployed.call(event.to_string().as_bytes())
}

/// Fails unless the worker answered with what it was asked.
#[track_caller]
pub fn must_answer(deployed: &dyn Deployed, event: &Value) {
    match call(deployed, event) {
        Reply::Answer(answer) => assert_eq!(&serde_json::from_slice::<Value>(&answer).unwrap(), event),
        other => panic!("{other:?}"),
    }
}
