//! The `duet` command.

fn main() -> std::process::ExitCode {
    duetbench_cli::main()
}
