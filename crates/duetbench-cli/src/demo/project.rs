//! The built-in example project and its slower version.

use std::fs;
use std::io;
use std::path::Path;

const GO_MOD: &str = include_str!("../../../../examples/01-demo/go.mod");
const CODE: &str = include_str!("../../../../examples/01-demo/demo.go");
const BENCHMARKS: &str = include_str!("../../../../examples/01-demo/demo_test.go");
/// The change of the slower version: 5 % more rounds in one function.
const SLOWDOWN: (&str, &str) = ("const rounds = 200", "const rounds = 210");

/// Writes the project as it is.
///
/// # Errors
/// When a file cannot be written.
pub fn write_base(dir: &Path) -> io::Result<()> {
    write(dir, CODE)
}

/// Writes the project with 5 % more work in `Hash`.
///
/// # Errors
/// When a file cannot be written.
pub fn write_slower(dir: &Path) -> io::Result<()> {
    write(dir, &slower())
}

fn slower() -> String {
    CODE.replace(SLOWDOWN.0, SLOWDOWN.1)
}

fn write(dir: &Path, code: &str) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    fs::write(dir.join("go.mod"), GO_MOD)?;
    fs::write(dir.join("demo.go"), code)?;
    fs::write(dir.join("demo_test.go"), BENCHMARKS)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_slower_version_differs_in_one_line() {
        let differing = super::CODE.lines().zip(super::slower().lines()).filter(|(a, b)| a != b).count();
        assert_eq!(differing, 1);
    }
}
