//! Compiles what runs inside a measured JVM and hands it to the crate as bytes.

#![allow(clippy::print_stdout, reason = "it is how a build script speaks to cargo")]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "build/javac.rs"]
mod javac;

fn main() {
    let hook = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hooks/java");
    for watched in ["src", "stubs"] {
        println!("cargo::rerun-if-changed={}", hook.join(watched).display());
    }
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-env-changed=JAVA_HOME");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let embedded = javac::compile(&hook, &out.join("java_hook")).and_then(|classes| {
        let text = table(&out.join("java_hook"), &classes);
        fs::write(out.join("java_hook.rs"), text).map_err(|e| format!("cannot write into `{}`: {e}", out.display()))
    });
    // Cargo shows these and fails the build.
    for line in embedded.err().iter().flat_map(|why| why.lines()) {
        println!("cargo::error={line}");
    }
}

/// Rust's text of a table with every class and its bytes.
fn table(dir: &Path, classes: &[String]) -> String {
    let mut text = String::from("/// Every class of the hook: its path below the class path, and its bytes.\n");
    text += "const CLASSES: &[(&str, &[u8])] = &[\n";
    for class in classes {
        let _ = writeln!(text, "    ({class:?}, include_bytes!({:?})),", dir.join(class));
    }
    text + "];\n"
}
