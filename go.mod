module github.com/fewlabel/fewlabel

go 1.26.0

require github.com/klauspost/compress v1.20.3

require golang.org/x/sys v0.49.0

require gonum.org/v1/gonum v0.17.0
