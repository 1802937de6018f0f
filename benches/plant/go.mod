module duetbench/plant

go 1.21
