module duetbench/mark

go 1.21
