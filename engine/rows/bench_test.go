//go:build unix

package rows

import (
	"encoding/binary"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fewlabel/fewlabel/engine/work"
)

// go test -bench . ./engine/rows -args -threads 2 -matrix FOLDER
var (
	benchThreads = flag.Int("threads", 1, "goroutines of the benchmarks")
	benchMatrix  = flag.String("matrix", "", "folder with indptr, indices (int32), values (float64) and cols (text); empty: random rows")
)

// benchRows are the arrays of a matrix, with values of both types.
type benchRows struct {
	cols            int
	indptr, indices []int32
	values          []float64
	small           []float32
}

func BenchmarkTimes(b *testing.B) {
	benchProducts(b, func(m *Matrix, job *work.Job, byRow, byCol []float64) { m.TimesOn(job, m.All(), byRow, byCol) })
}

func BenchmarkTransposed(b *testing.B) {
	benchProducts(b, func(m *Matrix, job *work.Job, byRow, byCol []float64) { m.TransposedTimes(job, byCol, byRow) })
}

// BenchmarkGram is X'DXp in one reading of the rows: its figure is to be compared with the sum of the two others.
func BenchmarkGram(b *testing.B) {
	var dst []float64
	benchProducts(b, func(m *Matrix, job *work.Job, byRow, byCol []float64) {
		if len(dst) != len(byCol) {
			dst = make([]float64, len(byCol))
		}
		clear(dst)
		m.AddGram(job, m.All(), dst, byRow, byCol, 0.5)
	})
}

// BenchmarkPack renumbers the features, which a fit does once.
func BenchmarkPack(b *testing.B) {
	rows := benchData(b)
	m, err := rows.matrix("float64")
	if err != nil {
		b.Fatal(err)
	}
	before := processorTime(b)
	for range b.N {
		m.Packed(work.NewJob(1, nil))
	}
	b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/float64(b.N)/float64(m.NonZeros()), "cpu-ns/nz")
}

// benchProducts reports nanoseconds per non-zero for values of both types.
func benchProducts(b *testing.B, product func(m *Matrix, job *work.Job, byRow, byCol []float64)) {
	rows := benchData(b)
	for _, kind := range []string{"float64", "float32", "float64packed", "float32packed"} {
		b.Run(kind, func(b *testing.B) {
			m, err := rows.matrix(strings.TrimSuffix(kind, "packed"))
			if err != nil {
				b.Fatal(err)
			}
			if strings.HasSuffix(kind, "packed") {
				m, _ = m.Packed(work.NewJob(1, nil))
			}
			random := rand.New(rand.NewPCG(1, 2))
			byRow, byCol := randomVector(random, m.Rows()), randomVector(random, m.Cols())
			job := work.NewJob(*benchThreads, nil)
			product(m, job, byRow, byCol) // makes the scratch vectors
			b.ResetTimer()
			before := processorTime(b)
			for range b.N {
				product(m, job, byRow, byCol)
			}
			work := float64(b.N) * float64(m.NonZeros())
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/work, "ns/nz")
			b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/work, "cpu-ns/nz")
		})
	}
}

// processorTime is what all threads of the process have used: unlike the time of day it does not grow while other
// programs have the processor.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func (r *benchRows) matrix(kind string) (*Matrix, error) {
	if kind == "float64" {
		return New(r.cols, r.indptr, r.indices, r.values)
	}
	if r.small == nil {
		r.small = make([]float32, len(r.values))
		for k, v := range r.values {
			r.small[k] = float32(v)
		}
	}
	return New(r.cols, r.indptr, r.indices, r.small)
}

func randomVector(random *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = random.NormFloat64()
	}
	return v
}

var benchKept *benchRows

func benchData(b *testing.B) *benchRows {
	if benchKept == nil {
		if *benchMatrix == "" {
			benchKept = zipfRows(20000, 50000, 60)
		} else {
			benchKept = readRows(b, *benchMatrix)
		}
	}
	return benchKept
}

// zipfRows has word frequencies as in text: feature k with a probability of about 1/k.
func zipfRows(n, cols, rowLength int) *benchRows {
	random := rand.New(rand.NewPCG(3, 4))
	r := &benchRows{cols: cols, indptr: make([]int32, n+1)}
	for i := range n {
		for range rowLength {
			rank := math.Exp(random.Float64() * math.Log(float64(cols)))
			r.indices = append(r.indices, min(int32(rank), int32(cols))-1)
			r.values = append(r.values, 0.1+random.Float64())
		}
		r.indptr[i+1] = int32(len(r.indices))
	}
	return r
}

func readRows(b *testing.B, folder string) *benchRows {
	b.Helper()
	read := func(name string) []byte {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			b.Fatal(err)
		}
		return content
	}
	cols, err := strconv.Atoi(strings.TrimSpace(string(read("cols"))))
	if err != nil {
		b.Fatal(err)
	}
	r := &benchRows{cols: cols}
	for name, dst := range map[string]*[]int32{"indptr": &r.indptr, "indices": &r.indices} {
		content := read(name)
		*dst = make([]int32, len(content)/4)
		if _, err := binary.Decode(content, binary.LittleEndian, *dst); err != nil {
			b.Fatal(err)
		}
	}
	content := read("values")
	r.values = make([]float64, len(content)/8)
	if _, err := binary.Decode(content, binary.LittleEndian, r.values); err != nil {
		b.Fatal(err)
	}
	return r
}
