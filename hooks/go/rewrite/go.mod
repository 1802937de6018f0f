module duetrewrite

go 1.21
