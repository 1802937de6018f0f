//! Published Go modules, through the ordinary Go client, copied so that nothing is written into its cache.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Source, canonical};
use crate::error::RunError;
use crate::tool::Tool;
use crate::tree;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Downloaded {
    path: Option<String>,
    version: Option<String>,
    dir: Option<PathBuf>,
    error: Option<String>,
}

pub(super) fn download(module: &str, scratch: &Path) -> Result<Source, RunError> {
    let unusable = |why: &str| RunError::Source {
        what: format!("the module `{module}` cannot be used: {why}"),
        hint: Some("`go list -m -versions PATH` lists the published versions".into()),
    };
    // From an empty directory: inside a module, that module's requirements would have a say in the version.
    let output = Tool::new("go", ["mod", "download", "-json", module], scratch)
        .env("GOFLAGS", "")
        .env("GOWORK", "off")
        .output()?;
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
    let copy = (0..).map(|n| scratch.join(format!("module-{n}"))).find(|p| !p.exists()).unwrap_or_default();
    tree::copy(&cached, &copy, &|_| true)?;
    let dir = canonical(&copy)?;
    Ok(Source {
        requested: module.to_owned(),
        resolved: format!("{path}@{version}"),
        tree: dir.clone(),
        dir,
        finished: None,
        worktree: None,
    })
}
