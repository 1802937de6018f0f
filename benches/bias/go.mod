module example.com/bias

go 1.24
