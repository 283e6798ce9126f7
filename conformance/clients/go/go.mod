module volant.example/client

go 1.24
