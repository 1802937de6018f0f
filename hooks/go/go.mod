module duethook

go 1.21
