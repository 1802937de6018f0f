//! Golden files: what every format looked like when it was last looked at.

use std::path::PathBuf;

/// Compares with a golden file, or writes it when `DUET_BLESS` is set.
pub(crate) fn check(name: &str, got: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("DUET_BLESS").is_some() {
        std::fs::write(&path, got).expect("golden files can be written");
        return;
    }
    let want = std::fs::read_to_string(&path)
        .unwrap_or_else(|e| panic!("{}: {e} (`DUET_BLESS=1 cargo test` writes it)", path.display()));
    assert!(
        want == got,
        "{name} is not as sealed (`DUET_BLESS=1 cargo test` seals it anew)\n{}",
        difference(&want, got)
    );
}

/// The lines that differ, `-` sealed and `+` rendered, without the common beginning and end.
fn difference(want: &str, got: &str) -> String {
    let (want, got): (Vec<&str>, Vec<&str>) = (want.split('\n').collect(), got.split('\n').collect());
    let common = |a: &mut dyn Iterator<Item = (&&str, &&str)>| a.take_while(|(w, g)| w == g).count();
    let start = common(&mut want.iter().zip(&got));
    let (want, got) = (&want[start..], &got[start..]);
    let end = common(&mut want.iter().rev().zip(got.iter().rev()));
    let removed = want[..want.len() - end].iter().map(|line| format!("-{line}\n"));
    let added = got[..got.len() - end].iter().map(|line| format!("+{line}\n"));
    format!("from line {}:\n{}", start + 1, removed.chain(added).collect::<String>())
}
