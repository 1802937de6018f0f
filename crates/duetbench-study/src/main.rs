//! The `duet-study` command.

fn main() -> std::process::ExitCode {
    duetbench_study::main()
}
