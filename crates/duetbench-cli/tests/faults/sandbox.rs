//! Measured code in a sandbox: what it cannot reach, and that it is measured all the same.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;

use libtest_mimic::Trial;

use crate::common::{GOOD, Ran, assert_no_false_alarm, simple, two};
use crate::real::command;

/// Fails where it reaches what it should not, and where it does not reach what it needs.
const REACHES: &str = r#"func BenchmarkReaches(b *testing.B) {
	if _, err := net.Dial("tcp", "ADDRESS"); err == nil {
		b.Fatal("reached the network")
	}
	if err := os.WriteFile("HOME/reached", nil, 0o600); err == nil {
		b.Fatal("wrote outside of its directory")
	}
	if err := syscall.Kill(DUET, 0); err == nil {
		b.Fatal("sees other processes")
	}
	if err := os.Mkdir(".git", 0o700); err == nil {
		b.Fatal("made a folder that git would obey")
	}
	for _, name := range []string{"own", "../.duet/duet.db"} {
		if err := os.WriteFile(name, nil, 0o600); err == nil {
			b.Fatal("wrote into its directory")
		}
	}
	if err := os.WriteFile(os.TempDir()+"/duet-reached", nil, 0o600); err != nil {
		b.Fatal(err)
	}
	exec.Command("setsid", "sleep", "7777").Start()
	for i := 0; i < b.N; i++ {
		sum = sha256.Sum256(page[:])
	}
}
"#;

/// Where the program that makes the sandbox is, and can do so.
fn works() -> bool {
    let kept = ["--unshare-user", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "--proc", "/proc", "true"];
    Command::new("bwrap").args(kept).output().is_ok_and(|tried| tried.status.success())
}

pub fn tests(go_found: bool) -> Vec<Trial> {
    let apart = Trial::test("sandbox: measured code reaches nothing", || {
        measured_code_reaches_nothing();
        Ok(())
    });
    vec![
        apart.with_kind("needs go and bwrap").with_ignored_flag(!go_found || !works()),
        Trial::test("sandbox: it is refused where it cannot be had", || {
            it_is_refused_where_it_cannot_be_had();
            Ok(())
        }),
    ]
}

fn measured_code_reaches_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let outside =
        tempfile::tempdir_in(std::env::var_os("HOME").map_or_else(|| "/var/tmp".into(), PathBuf::from)).unwrap();
    let body = REACHES
        .replace("ADDRESS", &listener.local_addr().unwrap().to_string())
        .replace("HOME", outside.path().to_str().unwrap())
        .replace("DUET", &std::process::id().to_string());
    let imports = "import (\n\t\"net\"\n\t\"os/exec\"\n\t\"syscall\"\n";
    let text = simple(&format!("{GOOD}{body}")).replace("import (\n", imports);
    let place = two(&text, &text);
    let args = ["compare", "./old", "./new", "--forks", "3", "--fixed", "--measure-identical", "--threshold", "20%"];
    for mode in ["interleaved", "duet"] {
        let more = ["--format", "json", "--builds", "1", "--sandbox", "--mode", mode];
        let ran = Ran::from(command(&place, &[&args[..], &more].concat()).output().unwrap()).expect(0);
        assert_no_false_alarm(&ran, &["BenchmarkGood", "BenchmarkReaches"]);
        assert!(!ran.json()["warnings"].to_string().contains("left"), "{}", ran.stdout);
    }
    assert!(!std::env::temp_dir().join("duet-reached").exists());
    let ran = Ran::from(command(&place, &args).output().unwrap()).expect(1);
    assert!(ran.stdout.contains("reached the network"), "{}", ran.stdout);
}

fn it_is_refused_where_it_cannot_be_had() {
    let place = two(&simple(GOOD), &simple(GOOD));
    let empty = tempfile::tempdir().unwrap();
    let line = format!("{}/true", empty.path().display());
    let list = ["list", "--command", &line, "--sandbox"];
    let ran = place.command(&list).env("PATH", empty.path()).output().unwrap();
    Ran::from(ran).expect(1).says(&["needs bubblewrap", "`apt install bubblewrap`"]);
}
