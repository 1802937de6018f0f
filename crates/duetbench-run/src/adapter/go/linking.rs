//! Links of test binaries: the first as Go does it, those in other layouts, those for a fleet.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use duetbench_core::spec::Arch;
use sha2::{Digest, Sha256};

use super::{Go, matching, packages, reach};
use crate::adapter::{Artifact, Layout, Relink, Relinking, Shipping, Urgency, hex, is_hooked};
use crate::error::RunError;
use crate::tool::Tool;

/// The way in which a package is linked.
#[derive(Debug, Clone, Copy)]
struct Linking<'a> {
    /// The directory in which the go command runs.
    dir: &'a Path,
    /// The file to be made.
    program: &'a Path,
    /// Added to the user's flags for the linker.
    ldflags: &'a str,
    /// Runs another linker in place of Go's.
    toolexec: Option<&'a str>,
    /// Variables of the go command.
    env: &'a [(&'a str, &'a OsStr)],
}

impl<'a> Linking<'a> {
    /// Settings for a link as the user's own settings have it.
    fn plainly(dir: &'a Path, program: &'a Path) -> Linking<'a> {
        Linking { dir, program, ldflags: "", toolexec: None, env: &[] }
    }
}

impl Go {
    /// Builds the package; absent where its test files are all excluded by build constraints.
    pub(super) fn compile(
        &self,
        package: &packages::Package,
        overlay: &Path,
        program: PathBuf,
    ) -> Result<Option<Artifact>, RunError> {
        // vet would read the added files on disk, where they are not; trimpath and buildvcs make equal sources give
        // equal binaries wherever they lie.
        let fixed = ["-vet=off", "-trimpath", "-buildvcs=false"].map(String::from);
        let overlay = format!("-overlay={}", overlay.display());
        let build_args: Vec<String> = fixed
            .into_iter()
            .chain([overlay])
            .chain(self.arguments.build.iter().cloned())
            .chain([package.import_path.clone()])
            .collect();
        self.link_first(&build_args, Linking::plainly(&package.dir, &program))?;
        if !program.exists() {
            return Ok(None);
        }
        let digest = hex(&Sha256::digest(hooked(&program, &package.dir)?));
        Ok(Some(Artifact { program, dir: package.dir.clone(), digest, build_args }))
    }

    /// Links as Go would, and has our linker note what the program is made of. If that fails, Go's own does it, or says
    /// better what is wrong.
    fn link_first(&self, build_args: &[String], plainly: Linking<'_>) -> Result<(), RunError> {
        let go_alone = || self.link(build_args, plainly).start()?.finish();
        let Ok(linker) = &self.linker else { return go_alone() };
        let inventory = matching::inventory_of(plainly.program);
        let graph = reach::graph_of(plainly.program);
        let link = matching::link_of(plainly.program);
        // Those of another program must not be taken for this one's.
        drop((fs::remove_file(&graph), fs::remove_dir_all(&link)));
        let notes = [
            (matching::INVENTORY, inventory.as_os_str()),
            (matching::LINK, link.as_os_str()),
            (reach::GRAPH, graph.as_os_str()),
        ];
        let env = if matches!(self.reach, Some(Ok(()))) { &notes[..] } else { &notes[..2] };
        let how = Linking { toolexec: Some(&linker.toolexec), env, ..plainly };
        match self.link(build_args, how).start()?.finish() {
            Err(RunError::Tool { output, .. }) if has_failed(&output) => {
                drop(fs::remove_dir_all(&link));
                go_alone()?;
                matching::refuse(&inventory, &format!("duet's linker does not work here: {output}"))
            }
            linked => linked,
        }
    }

    /// `go test -c` with all its arguments.
    fn link(&self, build_args: &[String], how: Linking<'_>) -> Tool {
        // The last `-ldflags` wins, over that of `GOFLAGS` too.
        let users =
            || matching::in_force("ldflags", build_args, &self.toolchain.flags).ok().flatten().unwrap_or_default();
        let more = (!how.ldflags.is_empty()).then(|| format!("-ldflags={} {}", users(), how.ldflags));
        let program = how.program.to_string_lossy().into_owned();
        let args = ["test", "-c", "-o", &program].into_iter();
        // Flags come before the package.
        let (package, flags) = build_args.split_last().map_or((None, build_args), |(last, rest)| (Some(last), rest));
        let more = more.iter().map(String::as_str).chain(how.toolexec);
        let args = args.chain(flags.iter().map(String::as_str)).chain(more).chain(package.map(String::as_str));
        let tool = self.toolchain.command(args, how.dir).called("go test -c");
        how.env.iter().fold(tool, |tool, (name, value)| tool.env(name, value))
    }

    /// Starts to link a program again in another layout.
    pub(super) fn link_again(&self, artifact: &Artifact, wanted: Relink<'_>) -> Result<Relinking, RunError> {
        let (Layout::Random(seed) | Layout::Planned { seed, .. }) = wanted.layout;
        // Without debugging tables linking takes half the time; they are no part of what runs.
        let ldflags = &format!("-w -randlayout={seed}");
        let how = Linking { ldflags, ..Linking::plainly(&artifact.dir, wanted.program) };
        let linker = self.linker.as_ref().ok();
        // A work tree may have changed since it was built, which the go command would see.
        let recorded = linker.and_then(|linker| linker.again(artifact, ldflags, wanted.program));
        let by_go = |toolexec| self.link(&artifact.build_args, Linking { toolexec, ..how });
        let tool = match wanted.layout {
            Layout::Random(_) => recorded.unwrap_or_else(|| by_go(None)),
            Layout::Planned { plan, .. } => recorded
                .unwrap_or_else(|| by_go(linker.map(|linker| linker.toolexec.as_str())))
                .env(matching::PLAN, plan),
        };
        let tool = if wanted.urgency == Urgency::Later { tool.giving_way() } else { tool };
        Ok(Relinking {
            linker: tool.start()?,
            program: wanted.program.to_owned(),
            dir: artifact.dir.clone(),
            check: |program, dir| hooked(program, dir).map(drop),
        })
    }

    /// Links a program for the instances of a fleet, laid out by what it is made of itself.
    pub(super) fn link_for_a_fleet(
        &self,
        artifact: &Artifact,
        shipping: Shipping,
        program: &Path,
    ) -> Result<(), RunError> {
        let goarch = match shipping.arch {
            Arch::X86_64 => "amd64",
            Arch::Arm64 => "arm64",
        };
        let layout = shipping.layout_seed.map_or(String::new(), |seed| format!(" -randlayout={seed}"));
        // Tables for debuggers are half of what would be sent.
        let ldflags = &format!("-s -w{layout}");
        let env =
            &[("CGO_ENABLED", "0"), ("GOOS", "linux"), ("GOARCH", goarch)].map(|(key, value)| (key, OsStr::new(value)));
        let how = Linking { ldflags, env, ..Linking::plainly(&artifact.dir, program) };
        let by_go = || self.link(&artifact.build_args, how).start()?.finish();
        let by_ours = |linker: &matching::Linker| {
            let how = Linking { toolexec: Some(&linker.toolexec), ..how };
            self.link(&artifact.build_args, how).env(matching::PLAN, matching::OWN_PLAN).start()?.finish()
        };
        let linked = match self.linker.as_ref().ok().filter(|_| shipping.layout_seed.is_some()).map(by_ours) {
            // Where ours fails, Go's own tells why, or links.
            Some(Err(RunError::Tool { output, .. })) if has_failed(&output) => by_go(),
            Some(linked) => linked,
            None => by_go(),
        };
        linked.map_err(without_cgo)?;
        hooked(program, &artifact.dir).map(drop)
    }
}

/// The bytes of a program that was built with the hook in it.
fn hooked(program: &Path, dir: &Path) -> Result<Vec<u8>, RunError> {
    let bytes = fs::read(program).map_err(|e| RunError::file("read", program, e))?;
    if is_hooked(&bytes) {
        return Ok(bytes);
    }
    Err(RunError::toolchain(format!("the toolchain built `{}` without duet's hook", dir.display()))
        .hint("an overlay was ignored: is `GOROOT` what `go env GOROOT` says, and is no build wrapper in the way?"))
}

/// Whether a go command failed by itself: one that was interrupted says nothing.
fn has_failed(output: &str) -> bool {
    !output.is_empty()
}

/// A package that builds here and not for a fleet most likely needs C.
fn without_cgo(error: RunError) -> RunError {
    match error {
        RunError::Tool { command, output } => {
            RunError::toolchain(format!("`{command}` failed without cgo, which a fleet does not have: {output}"))
                .hint("leave the package out with `--packages`, and compare it without `--on`")
        }
        other => other,
    }
}
