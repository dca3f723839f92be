package model

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
)

const (
	writtenWindow = 1 << 20 // of zstd: a reader needs no more memory than that
	largestWindow = 8 << 20 // that is read, what every zstd decoder must support
	chunk         = 1 << 13 // values at a time

	// A zstd block takes 4 bytes at least and gives 128 KiB at most, so more than this many bytes from one byte is a
	// lie.
	largestExpansion = 1 << 15
)

// compress appends the values, little-endian, as one zstd frame. It starts no goroutine.
func compress(w io.Writer, values []float64) error {
	encoder, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(writtenWindow))
	if err != nil {
		return err
	}
	text := make([]byte, 0, 8*chunk)
	for len(values) > 0 {
		some := values[:min(chunk, len(values))]
		values = values[len(some):]
		text = text[:0]
		for _, value := range some {
			text = binary.LittleEndian.AppendUint64(text, math.Float64bits(value))
		}
		if _, err := encoder.Write(text); err != nil {
			return err
		}
	}
	return encoder.Close()
}

var (
	errTooFew  = errors.New("it has too few values")
	errTooMany = errors.New("it has too many values")
)

// canHold says whether so many compressed bytes can give so many values.
func canHold(compressed int64, length int) bool {
	return int64(length) <= compressed*largestExpansion/8
}

// decompress reads exactly length values from r.
func decompress(r io.Reader, length int) ([]float64, error) {
	decoder, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(largestWindow),
		zstd.WithDecoderMaxMemory(largestWindow), zstd.WithDecodeBuffersBelow(0))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	values := make([]float64, length)
	text := make([]byte, 8*min(chunk, length+1))
	for rest := values; len(rest) > 0; {
		some := text[:8*min(chunk, len(rest))]
		if _, err := io.ReadFull(decoder, some); err != nil {
			return nil, tooFew(err)
		}
		for k := range len(some) / 8 {
			rest[k] = math.Float64frombits(binary.LittleEndian.Uint64(some[8*k:]))
		}
		rest = rest[len(some)/8:]
	}
	switch _, err := io.ReadFull(decoder, text[:1]); err {
	case io.EOF:
		return values, nil
	case nil:
		return nil, errTooMany
	default:
		return nil, err
	}
}

func tooFew(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errTooFew
	}
	return err
}
