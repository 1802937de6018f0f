//! Build pairs: the same sources linked again, with their functions in another order.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use duetbench_core::Role;

use super::Needed;
use super::placement::Placements;
use crate::adapter::{Adapter, Artifact, Build};
use crate::error::RunError;
use crate::tool::each;

/// Half of a build pair: which it is.
type Key = (Role, String, u32);

/// One program that is to be linked.
#[derive(Debug)]
struct Link {
    key: Key,
    artifact: Artifact,
    layout_seed: u32,
    program: PathBuf,
}

/// A linker of builds in other orders.
#[derive(Debug, Clone, Copy)]
pub(super) struct Linker<'a> {
    pub(super) adapter: &'a dyn Adapter,
    /// The two versions, baseline first.
    pub(super) builds: &'a [Build; 2],
    /// Programs that are linked at a time.
    pub(super) at_once: usize,
    pub(super) interrupted: &'a AtomicBool,
}

/// The build pairs at hand. Older ones are removed when newer ones are asked for, because a program takes megabytes.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    programs: HashMap<Key, PathBuf>,
}

impl Layouts {
    /// The program of one half; empty where it was not provided.
    pub(super) fn program(&self, role: Role, package: &str, build: u32) -> &Path {
        self.programs.get(&(role, package.to_owned(), build)).map_or(Path::new(""), PathBuf::as_path)
    }

    /// What must be linked so that everything needed is there; what is not needed any more is removed.
    fn missing(&mut self, needed: &[Needed], builds: &[Build; 2], placements: &mut Placements) -> Vec<Link> {
        let is_needed = |key: &Key| needed.iter().any(|n| n.build == key.2 && n.package == key.1);
        self.programs.retain(|key, program| is_needed(key) || fs::remove_file(program).is_err());
        let mut links = Vec::new();
        for (needed, role) in needed.iter().flat_map(|n| Role::BOTH.map(|role| (n, role))) {
            let key = (role, needed.package.clone(), needed.build);
            let side = usize::from(role == Role::Candidate);
            // A package that one version lacks is not measured; its trials say so.
            if let Some(artifact) = builds[side].artifacts.get(&needed.package)
                && !self.programs.contains_key(&key)
            {
                let (layout_seed, program) = (needed.layout_seeds[side], placements.fresh());
                links.push(Link { key, artifact: artifact.clone(), layout_seed, program });
            }
        }
        links
    }

    /// Links what is missing of what is needed, several programs at a time; nothing is measured meanwhile.
    ///
    /// # Errors
    /// The first failure; what was being linked then is finished. On an interrupt.
    pub(super) fn provide(
        &mut self,
        needed: &[Needed],
        linker: &Linker<'_>,
        placements: &mut Placements,
    ) -> Result<(), RunError> {
        let links = self.missing(needed, linker.builds, placements);
        let relink = |link: &Link| linker.adapter.relink(&link.artifact, link.layout_seed, &link.program);
        let linked = each(&links, linker.at_once, relink);
        // An interrupt reaches the linker too, and it is not the linker that failed.
        RunError::stop_if(linker.interrupted)?;
        linked?;
        self.programs.extend(links.into_iter().map(|link| (link.key, link.program)));
        Ok(())
    }
}
