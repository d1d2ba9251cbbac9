module x
go 1.19
