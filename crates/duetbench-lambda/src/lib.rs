//! AWS Lambda as an [`Engine`](duetbench_run::fleet::Engine).
