module pagewise/worker

go 1.21
