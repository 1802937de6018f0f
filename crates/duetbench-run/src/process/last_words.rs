//! The last words of a process that died, from what it printed.

use duetbench_core::foreign::shortened;

/// Most lines of a benchmark's own words.
const REPORT_LINES_MAX: usize = 10;

/// Last words of a process that died: the panic if there is one, or what Go's package `testing` reports of a failure, else the end of its
/// output, no line longer than can be read.
pub fn words_of_death(death: &str, output: &str) -> String {
    let last_words = ["panic: ", "fatal error: ", "panicked at "].iter().find_map(|head| output.find(head));
    let is_stack = |line: &str| line.starts_with("stack backtrace:") || line.starts_with("note: run with ");
    if let (None, Some(words)) = (last_words, go_report(output, |line| line.starts_with("--- FAIL: "))) {
        return words;
    }
    let told: Vec<&str> = match last_words {
        Some(at) => output[at..].lines().take_while(|l| !l.is_empty() && !is_stack(l)).take(5).collect(),
        None => {
            let lines: Vec<&str> =
                output.lines().map(str::trim).filter(|l| !l.is_empty() && !is_java_frame(l)).collect();
            lines[lines.len().saturating_sub(5)..].to_vec()
        }
    };
    let told: Vec<String> = told.into_iter().map(shortened).collect();
    if told.is_empty() { death.to_owned() } else { format!("{death}: {}", told.join("\n")) }
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
        assert_eq!(words_of_death("exit status 101", rust), "exit status 101: panicked at b.rs:3:5:\nboom");
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
    fn a_failure_is_told_in_the_words_of_the_benchmark() {
        let output = "TestMain says hello\ncpu: x\nBenchmarkLate\n--- FAIL: BenchmarkLate\n    x_test.go:9: no luck\n        at all\nFAIL\n";
        assert_eq!(words_of_death("exit status 1", output), "x_test.go:9: no luck\nat all");
        let silent = "BenchmarkLate\n--- FAIL: BenchmarkLate\nFAIL\n";
        assert!(words_of_death("exit status 1", silent).starts_with("exit status 1: BenchmarkLate"));
    }
}
