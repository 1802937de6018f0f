//! Measured code kept apart from network, files and other processes, by bubblewrap's `bwrap` in front of its command line.

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::Launch;
use crate::error::RunError;
use crate::scratch::is_below_ours;
use crate::tool::{Tool, shorten};

/// Arguments of every sandbox: all files read-only; `/tmp`, `/run` (where services have their sockets) and `/dev` new and empty of
/// what is ours; no network; processes of its own alone; no rights that could undo any of it. It dies with us. (With `--new-session`
/// its processes would leave the group that is killed in the end: they get a session of their own before.)
const KEPT_APART: [&str; 26] = [
    "--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--cap-drop", "ALL",
    "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs",
    "/run", // Programs of NixOS are found there.
    "--ro-bind-try", "/run/current-system", "/run/current-system", "--setenv", "TMPDIR", "/tmp",
    // Hooks look for the process that started them, which has another number there, if it has one.
    "--unsetenv", "DUET_PARENT",
];
/// Hidden places, of those where our own files may be.
const HIDDEN: [&str; 2] = ["/tmp", "/run"];
/// The variable that names a file which the process reads.
const READ: &str = "DUET_SKIP";
/// Variables that name a file which the process writes.
const WRITTEN: [&str; 2] = ["DUET_PAGE", "DUET_LIST"];

/// Keeps measured code apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    bwrap: PathBuf,
}

impl Sandbox {
    /// Finds it, and tries whether it works here.
    ///
    /// # Errors
    /// When it is not installed, or may not do here what it has to.
    pub fn find() -> Result<Sandbox, RunError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let bwrap = std::env::split_paths(&path).map(|dir| dir.join("bwrap")).find(|file| file.is_file());
        let bwrap = bwrap.ok_or_else(|| {
            RunError::toolchain("`--sandbox` needs bubblewrap, and there is no `bwrap` on the `PATH`")
                .hint("install it (`apt install bubblewrap`), or leave out `--sandbox`")
        })?;
        let tried = Tool::new(&bwrap.to_string_lossy(), KEPT_APART.iter().chain(&["--", "true"]), Path::new("/"));
        let tried = tried.output()?;
        if tried.status.success() {
            return Ok(Sandbox { bwrap });
        }
        Err(RunError::toolchain(format!("`bwrap` cannot keep anything apart here: {}", shorten(&tried.stderr))).hint(
            "it needs user namespaces, which containers and some systems refuse: allow them, or leave out `--sandbox`",
        ))
    }

    /// The program to start instead, and its arguments.
    pub(super) fn around(&self, launch: &Launch) -> (PathBuf, Vec<OsString>) {
        let mut args: Vec<OsString> = KEPT_APART.iter().map(Into::into).collect();
        let mut bind = |how: &str, path: &OsStr| args.extend([how.into(), path.to_owned(), path.to_owned()]);
        named(launch).iter().for_each(|path| bind("--ro-bind-try", path.as_os_str()));
        // Whoever writes into a folder of the user's writes what is built or what git does there next.
        bind(if is_below_ours(&launch.dir) { "--bind" } else { "--ro-bind" }, launch.dir.as_os_str());
        written(launch).iter().for_each(|path| bind("--bind", path));
        args.extend(["--chdir".into(), launch.dir.clone().into_os_string(), "--".into()]);
        args.push(launch.program.clone().into_os_string());
        args.extend(launch.args.iter().cloned());
        (self.bwrap.clone(), args)
    }
}

/// Needed paths that lie in hidden places: the project, and files that the command line names, as its program or as part of a class
/// path, and a variable.
fn named(launch: &Launch) -> Vec<PathBuf> {
    let is_root = |dir: &&Path| ["go.mod", "pom.xml", ".git"].iter().any(|file| dir.join(file).exists());
    let project = launch.dir.ancestors().find(is_root).map(Path::to_owned);
    let words = [launch.program.as_os_str()].into_iter().chain(launch.args.iter().map(OsString::as_os_str));
    let read = launch.env.iter().filter(|(name, _)| name.as_os_str() == READ).map(|(_, value)| PathBuf::from(value));
    let paths = project.into_iter().chain(read).chain(words.flat_map(std::env::split_paths)).collect::<Vec<_>>();
    let hidden = |path: &PathBuf| HIDDEN.iter().any(|place| path.starts_with(place));
    paths.into_iter().filter(|path| hidden(path)).collect()
}

/// Files that the process is to write, which are made, so that they alone can be written: the page with its pipes, the list, what it
/// is started to write.
fn written(launch: &Launch) -> Vec<OsString> {
    let mut files: Vec<OsString> = launch.writes.iter().map(OsString::from).collect();
    for (name, value) in &launch.env {
        if WRITTEN.iter().any(|written| name.as_os_str() == *written) {
            files.push(value.clone());
            let pipes = [".0", ".1"].map(|end| OsString::from_iter([value, OsStr::new(end)]));
            files.extend(pipes.into_iter().filter(|pipe| *name == "DUET_PAGE" && Path::new(pipe).exists()));
        }
    }
    for file in files.iter().filter(|file| !Path::new(file).exists()) {
        // Where it cannot be made, `bwrap` says that it is not there.
        let _ = OpenOptions::new().create(true).append(true).mode(0o600).open(file);
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Streams;

    #[test]
    fn what_may_be_written_is_a_copy_that_we_made_and_the_files_that_are_ours_to_read() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let [program, page, profile, counts] = ["it.test", "page", "profile", "counts"].map(at);
        std::fs::create_dir(&counts).unwrap();
        std::fs::write(at("page.0"), "").unwrap();
        let launch = Launch {
            program: program.clone(),
            args: vec![
                "-cp".into(),
                "/tmp/hook:/usr/share/x.jar:/run/y.jar".into(),
                "-test.cpuprofile=/home/me/.profile".into(),
            ],
            dir: "/home/me/project".into(),
            env: vec![("DUET_PAGE".into(), page.clone().into()), ("OTHER".into(), "/etc/passwd".into())],
            cpus: None,
            hooked: true,
            placed: true,
            sandbox: None,
            writes: vec![profile.clone(), counts.clone()],
            streams: Streams::default(),
        };
        let (bwrap, args) = Sandbox { bwrap: "/usr/bin/bwrap".into() }.around(&launch);
        assert_eq!(bwrap, Path::new("/usr/bin/bwrap"));
        let words: Vec<&str> = args.iter().map(|arg| arg.to_str().unwrap()).collect();
        assert_eq!(words[..KEPT_APART.len()], KEPT_APART);
        let bound = |how: &str| -> Vec<PathBuf> {
            let pairs = words[KEPT_APART.len()..].windows(3).filter(|w| w[0] == how && w[1] == w[2]);
            pairs.map(|w| w[1].into()).collect()
        };
        let project = Path::new("/home/me/project").to_owned();
        assert_eq!(bound("--ro-bind"), [project], "a folder of the user's");
        assert_eq!(bound("--bind"), [profile.clone(), counts, page, at("page.0")]);
        let read = ["/tmp/hook", "/run/y.jar"].map(PathBuf::from);
        assert_eq!(bound("--ro-bind-try"), [std::slice::from_ref(&program), &read[..]].concat());
        let end = args.iter().position(|arg| arg == "--").unwrap();
        assert_eq!(args[end + 1..], [&[program.into_os_string()], &launch.args[..]].concat());
        assert!(profile.exists(), "a file that is not there cannot be bound");
        let scratch = crate::scratch::Scratch::new().unwrap();
        let copy = scratch.path().join("tree");
        let (_, args) = Sandbox { bwrap: "/usr/bin/bwrap".into() }.around(&Launch { dir: copy.clone(), ..launch });
        assert!(args.windows(3).any(|w| w == ["--bind".as_ref(), copy.as_os_str(), copy.as_os_str()]));
    }
}
