//! The header for C programs, in both languages that it is for.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use duetbench_run::page::PageMode;

use crate::hook_support::{Hook, Trial, hooks, run};

static HOOK: LazyLock<Hook> = LazyLock::new(|| Hook {
    check: vec![compiled("check", hooks().join("c/test/check.c").as_path())],
    looping: vec![compiled("loop", hooks().join("c/test/loop.c").as_path())],
});

every_hook!(HOOK);

/// Compiles a program as strictly as its compiler can.
fn compiled(name: &str, source: &Path) -> String {
    let program = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
    let strict = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"];
    run(Command::new("gcc").args(strict).arg("-I").arg(hooks().join("c")).arg(source).args(["-o", &program]));
    program
}

#[test]
fn it_is_cpp_too_and_several_files_may_include_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let first = file("first.cc", "#include \"duet.h\"\nvoid begin() { duet_begin(); }\n");
    let second = file(
        "second.cc",
        "#include \"duet.h\"\nvoid begin();\nint main() { for (int i = 0; i < 7; i++) { begin(); duet_end(7); } }\n",
    );
    let program = dir.path().join("program");
    let strict = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic"];
    let header = hooks().join("c");
    run(Command::new("g++").args(strict).arg("-I").arg(header).args([&first, &second]).arg("-o").arg(&program));
    let mut trial = Trial::new(PageMode::Solo, 2, 4);
    trial.spawn(0, &mut Command::new(program));
    trial.end_well();
    assert_eq!(trial.page.records(0).len(), 6);
}

#[test]
fn programs_that_a_measured_one_starts_take_no_part() {
    let dir = tempfile::tempdir().unwrap();
    let (source, program) = (dir.path().join("starts.c"), dir.path().join("starts"));
    let own = "#include \"duet.h\"
int main(int argc, char **argv) {
    char itself[4096];
    if (argc > 1) return duet_active() ? 1 : 0;
    snprintf(itself, sizeof itself, \"%s again\", argv[0]);
    while (duet_active()) {
        duet_begin();
        if (system(itself) != 0) return 1;
        duet_end(1);
    }
    return 0;
}
";
    std::fs::write(&source, own).unwrap();
    run(Command::new("gcc").arg("-I").arg(hooks().join("c")).arg(&source).arg("-o").arg(&program));
    let mut trial = Trial::new(PageMode::Solo, 2, 4);
    trial.spawn(0, &mut Command::new(program));
    trial.end_well();
    assert_eq!(trial.page.records(0).len(), 6);
}

#[test]
fn it_compiles_and_links_wherever_it_is_included() {
    let dir = tempfile::tempdir().unwrap();
    let (source, program) = (dir.path().join("own.c"), dir.path().join("own"));
    let own = "int main(void) { while (duet_active()) { duet_begin(); puts(\"\"); duet_end(1); } return 0; }\n";
    for before in ["#include <stdio.h>\n", "#include <time.h>\n#include <stdio.h>\n", "#define _GNU_SOURCE\n", ""] {
        for standard in ["-std=c99", "-std=gnu99", "-std=c17", "-D_POSIX_C_SOURCE=200809L"] {
            for level in ["-O0", "-O2"] {
                std::fs::write(&source, format!("{before}#include \"duet.h\"\n{own}")).unwrap();
                let strict = [standard, level, "-Wall", "-Wextra", "-Werror", "-pedantic"];
                run(Command::new("gcc")
                    .args(strict)
                    .arg("-I")
                    .arg(hooks().join("c"))
                    .arg(&source)
                    .arg("-o")
                    .arg(&program));
                let mut trial = Trial::new(PageMode::Solo, 0, 3);
                trial.spawn(0, &mut Command::new(&program));
                trial.end_well();
                assert_eq!(trial.page.records(0).len(), 3, "{before}{standard} {level}");
            }
        }
    }
}

#[test]
fn it_dies_with_its_parent_even_while_it_is_busy() {
    let mut trial = Trial::new(PageMode::Solo, 0, 100_000);
    // The shell stands for the controller. Its child says which process it is before it becomes the loop, which prints too.
    let script = "export DUET_PARENT=$$; sh -c 'echo $$; exec \"$@\"' sh \"$@\" & wait";
    let mut shell = Command::new("sh");
    trial.spawn(0, shell.args(["-c", script, "sh"]).args(&HOOK.looping).args(["1000000", "300"]));
    let looping = trial.first_line(0);
    let stat = Path::new("/proc").join(looping.trim()).join("stat");
    // It is nobody's child any more, so that it may stay a zombie.
    let is_alive = || std::fs::read_to_string(&stat).is_ok_and(|text| !text.contains(") Z "));
    trial.until_records(5);
    assert!(is_alive());
    trial.kill(0);
    trial.until(|_| !is_alive());
}

#[test]
fn the_workloads_compile_and_their_iterations_are_what_is_measured() {
    let source = hooks().join("../benches/pressure.c");
    let program = compiled("pressure", &source);
    for kind in ["integer", "float", "cache", "memory"] {
        let mut trial = Trial::new(PageMode::Solo, 1, 3);
        trial.spawn(0, Command::new(&program).args([kind, "1000", "4"]));
        let sum = trial.end_well().remove(0);
        assert!(sum.trim().parse::<u64>().is_ok(), "{kind}: {sum}");
        assert_eq!(trial.page.records(0).iter().map(|r| r.invocations).collect::<Vec<_>>(), [1; 4]);
    }
    assert!(!Command::new(&program).arg("nothing").output().unwrap().status.success());
}
