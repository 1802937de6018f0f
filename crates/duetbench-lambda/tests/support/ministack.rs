//! A server that takes AWS's requests, on loopback: MiniStack from PyPI, at one version. It runs functions as processes here.
//!
//! It differs from AWS: it takes any size of package, request and answer, reserves more calls than the account has, limits neither
//! memory nor the time to start, asks nobody whether a role may be passed, and with `auth` on holds `CreateFunction` against no
//! function's name. The crate's own checks have tests of their own.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use rustix::process::{Pid, Signal};
use serde_json::Value;

const VERSION: &str = "1.5.33";
/// The account of everything in it.
pub const ACCOUNT: &str = "000000000000";
/// The region of everything in it.
pub const REGION: &str = "us-east-1";
/// Who may do everything; its signatures are not looked at.
pub const ROOT: (&str, &str) = ("test", "test");
/// Longest that it may take to start, on a busy machine.
const START_MAX: Duration = Duration::from_secs(120);

/// Sends requests with AWS's own library, which comes with the server: service, method and parameters of each from standard input.
const ADMIN: &str = r#"
import json, sys
import botocore.config, botocore.exceptions, botocore.session
endpoint, region, key, secret = sys.argv[1:]
def ask(service, method, parameters):
    config = botocore.config.Config(retries={"max_attempts": 0})
    client = botocore.session.Session().create_client(service, region_name=region, endpoint_url=endpoint,
        aws_access_key_id=key, aws_secret_access_key=secret, config=config)
    try:
        answer = getattr(client, method)(**parameters)
    except botocore.exceptions.ClientError as error:
        return {"error": error.response["Error"]["Code"]}
    answer.pop("Body", None)
    return answer
print(json.dumps([ask(*request) for request in json.load(sys.stdin)], default=str))
"#;

/// Options of a server.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// It verifies signatures and asks policies.
    pub auth: bool,
    /// Calls at once that the account has.
    pub concurrency: Option<u32>,
}

/// A running server; killed with all its functions on drop, and when the thread that started it is gone.
#[derive(Debug)]
pub struct Ministack {
    child: Child,
    port: u16,
    dir: tempfile::TempDir,
}

/// Where it is installed, once for all tests.
fn home() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ministack-{VERSION}"))
}

/// Installs it unless it is there.
///
/// # Errors
/// When there is no Python, or PyPI cannot be reached.
pub fn install() -> Result<(), String> {
    let (home, done) = (home(), home().join("installed"));
    fs::create_dir_all(&home).map_err(|e| e.to_string())?;
    // Outside, because what is there is cleared.
    let lock = File::create(format!("{}.lock", home.display())).map_err(|e| e.to_string())?;
    rustix::fs::flock(&lock, FlockOperation::LockExclusive).map_err(|e| e.to_string())?;
    if done.exists() {
        return Ok(());
    }
    let run = |command: &mut Command| match command.stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(e) => Err(format!("python3: {e}")),
    };
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home))?;
    let package = format!("ministack=={VERSION}");
    run(Command::new(home.join("bin/python")).args(["-m", "pip", "install", "--quiet"]).arg(package))?;
    File::create(done).map(|_| ()).map_err(|e| e.to_string())
}

/// A command that sees nothing of the user's AWS.
fn bare(program: &Path) -> Command {
    let mut command = Command::new(program);
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", home().join("bin").display());
    command.env_clear().env("PATH", path).env("LANG", "C.UTF-8").env("AWS_EC2_METADATA_DISABLED", "true");
    command
}

impl Ministack {
    /// Starts a server and waits until it answers.
    pub fn start(options: Options) -> Ministack {
        install().expect("MiniStack can be installed");
        // A port that was free may be taken before the server has it.
        for _ in 0..3 {
            let mut server = Ministack::spawn(options);
            if server.answers() {
                return server;
            }
        }
        panic!("MiniStack does not start");
    }

    fn spawn(options: Options) -> Ministack {
        let dir = tempfile::tempdir().unwrap();
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let log = File::create(dir.path().join("log")).unwrap();
        let mut command = bare(&home().join("bin/ministack"));
        command
            .current_dir(dir.path())
            .env("HOME", dir.path())
            .env("TMPDIR", dir.path())
            .env("BIND_HOST", "127.0.0.1")
            .env("GATEWAY_PORT", port.to_string())
            .env("IOT_MTLS_ENABLED", "0")
            .env("LAMBDA_EXECUTOR", "local")
            .env("AUTH", options.auth.to_string())
            .envs(options.concurrency.map(|n| ("LAMBDA_ACCOUNT_CONCURRENCY", n.to_string())))
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .process_group(0);
        // SAFETY: the closure makes one system call and neither allocates nor takes a lock.
        unsafe {
            command.pre_exec(|| Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?));
        }
        Ministack { child: command.spawn().unwrap(), port, dir }
    }

    /// Waits for the first answer; gives up when it ends by itself.
    fn answers(&mut self) -> bool {
        let begin = Instant::now();
        while begin.elapsed() < START_MAX && self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            let asked = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).and_then(|mut connection| {
                connection.set_read_timeout(Some(Duration::from_secs(5)))?;
                connection.write_all(b"GET /_ministack/health HTTP/1.0\r\n\r\n")?;
                let mut head = [0; 12];
                connection.read_exact(&mut head)?;
                Ok(head)
            });
            if asked.is_ok_and(|head| head.ends_with(b" 200")) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        false
    }

    /// The value that `AWS_ENDPOINT_URL` must have.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Variables for a program that is to find it.
    #[allow(dead_code, reason = "not every test starts programs")]
    pub fn variables(&self) -> [(&'static str, String); 5] {
        [
            ("AWS_ENDPOINT_URL", self.endpoint()),
            ("AWS_REGION", REGION.into()),
            ("AWS_ACCESS_KEY_ID", ROOT.0.into()),
            ("AWS_SECRET_ACCESS_KEY", ROOT.1.into()),
            ("AWS_EC2_METADATA_DISABLED", "true".into()),
        ]
    }

    /// Sends requests past our code, as whoever has these keys; gives the answers, or `{"error": code}`.
    pub fn ask(&self, keys: (&str, &str), requests: &Value) -> Vec<Value> {
        let mut command = bare(&home().join("bin/python"));
        command.args(["-c", ADMIN, &self.endpoint(), REGION, keys.0, keys.1]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(requests.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e} in the answer to {requests}"))
    }

    /// Names of all functions.
    pub fn functions(&self) -> Vec<String> {
        let answers = self.ask(ROOT, &serde_json::json!([["lambda", "list_functions", { "MaxItems": 500 }]]));
        let functions = answers[0]["Functions"].as_array().unwrap();
        functions.iter().map(|f| f["FunctionName"].as_str().unwrap().to_owned()).collect()
    }

    /// Its folder, which is gone with it.
    #[allow(dead_code, reason = "not every test needs room")]
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Ends it and all its functions at once.
    pub fn kill(&mut self) {
        // Once it is reaped its number may be another's.
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            let _ = rustix::process::kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

impl Drop for Ministack {
    fn drop(&mut self) {
        self.kill();
    }
}
