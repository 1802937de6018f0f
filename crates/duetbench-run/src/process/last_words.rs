//! The last words of a process that died, from what it printed.

use std::time::Duration;

use duetbench_core::foreign::shortened;

/// Most lines of a benchmark's own words.
const REPORT_LINES_MAX: usize = 10;
/// Most lines of other last words.
const LINES_MAX: usize = 5;

/// Last words of a process that died: the panic if there is one, or what Go's package `testing` reports of a failure, else the end of its
/// output, no line longer than can be read.
pub fn words_of_death(death: &str, output: &str) -> String {
    let last_words = ["panic: ", "fatal error: ", "panicked at "].iter().find_map(|head| output.find(head));
    let is_stack = |line: &str| line.starts_with("stack backtrace:") || line.starts_with("note: run with ");
    if let (None, Some(words)) = (last_words, go_report(output, |line| line.starts_with("--- FAIL: "))) {
        return words;
    }
    let told: Vec<&str> = match last_words {
        Some(at) => output[at..].lines().take_while(|l| !l.is_empty() && !is_stack(l)).take(LINES_MAX).collect(),
        None => java_cause(output).unwrap_or_else(|| last_lines(output)),
    };
    let told: Vec<String> = told.into_iter().map(shortened).collect();
    if told.is_empty() { death.to_owned() } else { format!("{death}: {}", with_its_message(&told)) }
}

/// Lines of a death, where Rust's message follows the place of the panic on the same line: the first line may be all that is shown.
fn with_its_message(told: &[String]) -> String {
    match told {
        [place, rest @ ..] if !rest.is_empty() && place.starts_with("panicked at ") && place.ends_with(':') => {
            format!("{place} {}", rest.join("\n"))
        }
        _ => told.join("\n"),
    }
}

/// The innermost exception of a Java stack that has one inside of another: those around it only pass it on.
fn java_cause(output: &str) -> Option<Vec<&str>> {
    let lines: Vec<&str> = output.lines().map(str::trim).collect();
    let at = lines.iter().rposition(|line| passed_on(line).is_some())?;
    lines.iter().find(|line| is_java_frame(line))?;
    // JMH's fork has said why before JMH's own stack.
    if let Some(cause) = passed_on(lines[at]).filter(|cause| cause.contains("Forked VM failed")) {
        let end = lines[..at].iter().rposition(|line| line.starts_with("ERROR: ")).unwrap_or(at);
        let is_said = |line: &&&str| !line.is_empty() && !line.starts_with('<') && !is_java_frame(line);
        let said: Vec<&str> = lines[..end].iter().filter(is_said).copied().collect();
        let kept = said.len().saturating_sub(LINES_MAX - 1);
        return Some([&said[kept..], &[cause]].concat());
    }
    let more = lines[at + 1..].iter().copied().take_while(|line| !line.is_empty() && !is_java_frame(line));
    Some(passed_on(lines[at]).into_iter().chain(more).take(LINES_MAX).collect())
}

/// The failure of what did not end within a limit.
pub fn hangs(limit: Duration) -> String {
    format!(
        "no end within {} s: it hangs, or waits for what the other version holds (`--mode sequential`), or `--timeout` is too short",
        (limit.as_secs_f64() * 10.0).round() / 10.0
    )
}

/// An exception that another one passes on.
fn passed_on(line: &str) -> Option<&str> {
    ["Caused by: ", "Suppressed: "].iter().find_map(|head| line.strip_prefix(head))
}

fn last_lines(output: &str) -> Vec<&str> {
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|l| !l.is_empty() && !is_java_frame(l)).collect();
    lines[lines.len().saturating_sub(LINES_MAX)..].to_vec()
}

/// Whether a line is one of a Java stack: the exception stands before them.
fn is_java_frame(line: &str) -> bool {
    (line.starts_with("at ") && line.ends_with(')')) || (line.starts_with("... ") && line.ends_with(" more"))
}

/// The words that Go's package `testing` prints below its report of a failure: lines that are indented. Absent where there are none.
pub fn go_report(output: &str, is_report: impl Fn(&str) -> bool) -> Option<String> {
    let below = output.lines().skip_while(|line| !is_report(line.trim())).skip(1);
    let own = below.take_while(|line| line.starts_with([' ', '\t'])).map(str::trim).take(REPORT_LINES_MAX);
    let words: Vec<String> = own.map(shortened).collect();
    (!words.is_empty()).then(|| words.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_quoted_without_its_stack() {
        let words = words_of_death("exit status 2", "x\npanic: boom\n\ngoroutine 1 [running]:\nmain.f()\n");
        assert_eq!(words, "exit status 2: panic: boom");
        let rust = "thread 'main' (7) panicked at b.rs:3:5:\nboom\nstack backtrace:\n   0: f\n   1: g\n";
        assert_eq!(words_of_death("exit status 101", rust), "exit status 101: panicked at b.rs:3:5: boom");
        let older = "thread 'main' panicked at 'boom', b.rs:3:5\nnote: run with `RUST_BACKTRACE=1`\n";
        assert_eq!(words_of_death("exit status 101", older), "exit status 101: panicked at 'boom', b.rs:3:5");
    }

    #[test]
    fn a_line_that_floods_is_cut() {
        for output in ["x".repeat(16_000), format!("panic: {}", "x".repeat(16_000))] {
            let words = words_of_death("exit status 2", &output);
            assert!(words.starts_with("exit status 2: ") && words.ends_with("x…"), "{words}");
            assert!(words.chars().count() < 350, "{}", words.len());
        }
    }

    #[test]
    fn an_exception_is_quoted_without_its_stack() {
        let frames = "\tat a.B.c(B.java:3)\n".repeat(9);
        let output = format!("<failure>\n\njava.lang.Error: no luck\n{frames}\t... 3 more\n");
        assert_eq!(words_of_death("exit status 1", &output), "exit status 1: <failure>\njava.lang.Error: no luck");
    }

    #[test]
    fn of_exceptions_inside_of_each_other_the_innermost_is_quoted() {
        let output = "ERROR: org.a.RunnerException: caught\n\tat a.B.c(B.java:3)\nCaused by: org.a.Failed: in the run\n\
            \tat a.B.d(B.java:4)\n\t... 1 more\n\tSuppressed: java.lang.Error: late\nfailure\n\t\tat a.B.e(B.java:5)\nEND\n";
        assert_eq!(words_of_death("exit status 1", output), "exit status 1: java.lang.Error: late\nfailure");
        let of_a_fork = "Unrecognized VM option 'UseConcMarkSweepGC'\n<forked VM failed with exit code 1>\n\nERROR: org.a.RunnerException: \
            caught\n\tat a.B.c(B.java:3)\nCaused by: java.lang.IllegalStateException: Forked VM failed with exit code 1\n\tat a.B.d(B.java:4)\n";
        let words = words_of_death("exit status 1", of_a_fork);
        let cause = "java.lang.IllegalStateException: Forked VM failed with exit code 1";
        assert_eq!(words, format!("exit status 1: Unrecognized VM option 'UseConcMarkSweepGC'\n{cause}"));
        let without_a_stack = "Error: cannot go on\nCaused by: no file\n";
        assert!(words_of_death("exit status 1", without_a_stack).starts_with("exit status 1: Error: cannot go on"));
    }

    #[test]
    fn a_failure_is_told_in_the_words_of_the_benchmark() {
        let output = "TestMain says hello\ncpu: x\nBenchmarkLate\n--- FAIL: BenchmarkLate\n    x_test.go:9: no luck\n        at all\nFAIL\n";
        assert_eq!(words_of_death("exit status 1", output), "x_test.go:9: no luck\nat all");
        let silent = "BenchmarkLate\n--- FAIL: BenchmarkLate\nFAIL\n";
        assert!(words_of_death("exit status 1", silent).starts_with("exit status 1: BenchmarkLate"));
    }
}
