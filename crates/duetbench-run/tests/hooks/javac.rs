//! The compiler of the hook for Java, and its options.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// For any JVM from Java 9 on, without anything that depends on where or when it is compiled. `-implicit:none` keeps the
/// signatures of JMH out: where the hook is used, JMH itself is there.
const OPTIONS: [&str; 7] = ["--release", "9", "-g:none", "-proc:none", "-implicit:none", "-encoding", "UTF-8"];

/// Compiles the sources in `hook` into `out`, which is made anew, and says which classes there are, in order.
pub(crate) fn compile(hook: &Path, out: &Path) -> Result<Vec<String>, String> {
    if out.exists() {
        fs::remove_dir_all(out).map_err(cannot("remove", out))?;
    }
    fs::create_dir_all(out).map_err(cannot("create", out))?;
    let sources = hook.join("src");
    let files = below(&sources, "java").map_err(cannot("read", &sources))?;
    let javac = javac();
    let ran = Command::new(&javac)
        .args(OPTIONS)
        .arg("-sourcepath")
        .arg(hook.join("stubs"))
        .arg("-d")
        .arg(out)
        .args(files.iter().map(|file| sources.join(file)))
        .output();
    let ran = ran.map_err(|e| {
        format!("cannot run `{}`: {e}\ninstall a JDK (9 or later), or let `JAVA_HOME` name one", javac.display())
    })?;
    if !ran.status.success() {
        return Err(format!("`{}` failed:\n{}", javac.display(), String::from_utf8_lossy(&ran.stderr)));
    }
    below(out, "class").map_err(cannot("read", out))
}

/// Words for what could not be done to a file.
fn cannot(what: &str, path: &Path) -> impl Fn(std::io::Error) -> String {
    move |e| format!("cannot {what} `{}`: {e}", path.display())
}

/// The compiler's name and version.
pub(crate) fn version() -> String {
    let said = Command::new(javac()).arg("-version").output();
    said.map_or_else(|_| String::new(), |said| String::from_utf8_lossy(&said.stdout).into_owned())
}

/// The compiler of the JDK that `JAVA_HOME` names, else the first one in `PATH`.
fn javac() -> PathBuf {
    let at_home = std::env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin/javac"));
    at_home.filter(|javac| javac.exists()).unwrap_or_else(|| "javac".into())
}

/// All files below a folder that end so, relative to it, in order.
fn below(dir: &Path, ending: &str) -> std::io::Result<Vec<String>> {
    fn walk(dir: &Path, prefix: &str, found: &mut Vec<String>) -> std::io::Result<()> {
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                walk(&entry.path(), &format!("{name}/"), found)?;
            } else {
                found.push(name);
            }
        }
        Ok(())
    }
    let mut found = Vec::new();
    walk(dir, "", &mut found)?;
    found.retain(|name| Path::new(name).extension().is_some_and(|e| e == ending));
    found.sort();
    Ok(found)
}
