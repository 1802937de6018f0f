//! Published Go modules, through the ordinary Go client, copied so that nothing is written into its cache.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::RunError;
use crate::source::{self, Source};
use crate::tool::Tool;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Downloaded {
    path: Option<String>,
    version: Option<String>,
    dir: Option<PathBuf>,
    error: Option<String>,
}

/// The Go client outside of any module: inside one, that module's requirements would have a say in versions.
fn client<const N: usize>(args: [&str; N], place: &Path) -> Tool {
    Tool::new("go", args, place).env("GOFLAGS", "").env("GOWORK", "off")
}

/// The Go module proxy that `go` is set up for.
#[derive(Debug)]
pub(super) struct Modules;

impl source::Registry for Modules {
    fn form(&self) -> &'static str {
        "modules as `example.com/m@v1.2.0`"
    }

    fn takes(&self, name: &str) -> bool {
        name.split('/').next().is_some_and(|host| host.contains('.'))
    }

    fn fetch(&self, version: &str, scratch: &Path) -> Result<Source, RunError> {
        download(version, scratch)
    }

    fn versions(&self, name: &str) -> Result<Vec<String>, RunError> {
        versions(name)
    }
}

/// All published versions of a module, the oldest first.
fn versions(path: &str) -> Result<Vec<String>, RunError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Listed {
        #[serde(default)]
        versions: Vec<String>,
    }
    let place = tempfile::tempdir().map_err(|e| RunError::file("create", &std::env::temp_dir(), e))?;
    let output = client(["list", "-m", "-versions", "-json", path], place.path()).output()?;
    let listed: Listed = serde_json::from_slice(&output.stdout).map_err(|_| {
        RunError::version(format!(
            "the releases of `{path}` are not known: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ))
        .hint("`go list -m -versions PATH` lists the published versions")
    })?;
    Ok(listed.versions)
}

fn download(module: &str, scratch: &Path) -> Result<Source, RunError> {
    let unusable = |why: &str| {
        RunError::version(format!("the module `{module}` cannot be used: {why}"))
            .hint("`go list -m -versions PATH` lists the published versions")
    };
    let output = client(["mod", "download", "-json", module], scratch).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let found: Downloaded =
        serde_json::from_str(&text).map_err(|_| unusable(String::from_utf8_lossy(&output.stderr).trim()))?;
    if let Some(error) = found.error {
        return Err(unusable(&error));
    }
    let (Some(path), Some(version), Some(cached)) = (found.path, found.version, found.dir) else {
        return Err(unusable("the Go client did not say where it is"));
    };
    if !cached.join("go.mod").exists() {
        return Err(unusable("it has no go.mod"));
    }
    Source::published(module, format!("{path}@{version}"), &cached, scratch)
}
