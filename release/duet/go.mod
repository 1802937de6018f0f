module github.com/duetbench/duetbench/release/duet

go 1.21
