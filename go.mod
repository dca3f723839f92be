module github.com/fewlabel/fewlabel

go 1.26.0

toolchain go1.26.8

require (
	github.com/klauspost/compress v1.20.3 // zstd: svmlight files
	golang.org/x/sys v0.49.0 // cpu: which loops the processor can run; unix: files without a name
	gonum.org/v1/gonum v0.17.0 // lapack: Cholesky factors; mat: factors of a structure; optimize: L-BFGS; floats
)

require golang.org/x/tools v0.30.0 // indirect
