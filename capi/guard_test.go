package main

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/work"
)

// The status codes of fewlabel.h; tests may not import "C".
const (
	codeOK = iota
	codeBadArgument
	codeBadData
	codeBadHandle
	codeCancelled
	codeIO
	codeInternal
	_
	codeNoMemory
)

// guarded runs a body as an export would, with an error buffer of some size.
func guarded(size int, body func(c *call) error) (int32, string) {
	buffer := make([]byte, size)
	status := guard(unsafe.Pointer(&buffer[0]), int64(size), body)
	text, _, _ := strings.Cut(string(buffer), "\x00")
	return status, text
}

func TestStatusAndMessageOfErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int32
	}{
		{nil, codeOK},
		{fault.Argument("an argument"), codeBadArgument},
		{fault.Data("some data"), codeBadData},
		{handleError("model", 3, "a handle"), codeBadHandle},
		{fault.ErrCancelled, codeCancelled},
		{fault.File("a file"), codeIO},
		{fault.Defect("a defect"), codeInternal},
		{fault.Memory("a lack of memory"), codeNoMemory},
		{errors.New("an error without a kind"), codeInternal},
	} {
		code, message := guarded(100, func(*call) error { return c.err })
		if code != c.code || c.err != nil && message != c.err.Error() {
			t.Errorf("%v: got %d %q", c.err, code, message)
		}
	}
}

func TestTheFirstErrorEndsACall(t *testing.T) {
	code, message := guarded(100, func(c *call) error {
		slice[int32, int32](c, "labels", nil, 3)
		t.Error("the call goes on")
		return fault.Defect("another")
	})
	if code != codeBadArgument || message != "labels is NULL" {
		t.Errorf("got %d %q", code, message)
	}
}

func TestEveryFunctionOfTheTableIsThere(t *testing.T) {
	for number, f := range functions {
		if f.run == nil {
			t.Errorf("there is no function %d", number)
		}
	}
}

func TestPanicsBecomeErrors(t *testing.T) {
	pool := work.NewPool(4)
	var nowhere *int
	for name, body := range map[string]func(){
		"in the call":         func() { panic("boom") },
		"an error":            func() { panic(errors.New("boom")) },
		"in a worker":         func() { pool.Run(8, func(int) { panic("boom") }) },
		"in a worker, nested": func() { pool.Run(8, func(int) { pool.Run(8, func(int) { panic("boom") }) }) },
		"nil in a worker":     func() { pool.Run(8, func(int) { *nowhere = 1 }) },
		"index in a worker":   func() { pool.Run(8, func(i int) { _ = make([]int, i)[i] }) },
	} {
		t.Run(name, func(t *testing.T) {
			code, message := guarded(4000, func(*call) error { body(); return nil })
			if code != codeInternal || !strings.Contains(message, "internal error of fewlabel") {
				t.Errorf("got %d %q", code, message)
			}
		})
	}
}

func TestCancelInAWorker(t *testing.T) {
	job := work.NewJob(4, &work.Progress{Cancel: 1})
	code, _ := guarded(100, func(*call) error {
		job.Run(8, func(int) { job.Check() })
		return nil
	})
	if code != codeCancelled {
		t.Errorf("got %d", code)
	}
}

func TestMessageIsCutBetweenCharacters(t *testing.T) {
	const text = "Größe «α»"
	for size := 1; size <= len(text)+2; size++ {
		_, message := guarded(size, func(*call) error { return fault.Argument(text) })
		if len(message) > size-1 || len(message) < min(len(text), size-1)-2 {
			t.Errorf("size %d: %q", size, message)
		}
		if !strings.HasPrefix(text, message) || !utf8.ValidString(message) {
			t.Errorf("size %d: %q is no start of the message", size, message)
		}
	}
	buffer := []byte("untouched")
	for _, size := range []int64{0, -1, -1 << 63} {
		guard(unsafe.Pointer(&buffer[0]), size, func(*call) error { return fault.Argument(text) })
		guard(nil, size, func(*call) error { return fault.Argument(text) })
	}
	guard(nil, 100, func(*call) error { return fault.Argument(text) })
	if string(buffer) != "untouched" {
		t.Errorf("a buffer of size 0 was written: %q", buffer)
	}
}

// fence is one page of memory in front of a page that cannot be touched.
func fence(t *testing.T) (page []byte, size int) {
	size = syscall.Getpagesize()
	memory, err := syscall.Mmap(-1, 0, 2*size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(memory) })
	if err := syscall.Mprotect(memory[size:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return memory[:size], size
}

func TestArrayShorterThanPromisedIsNamed(t *testing.T) {
	page, size := fence(t)
	start := &page[0]
	code, message := guarded(400, func(c *call) error {
		slice[int32](c, "labels", start, int64(size)/4+3)
		return nil
	})
	if code != codeBadArgument || !strings.HasPrefix(message, "labels: the memory of element 1024") {
		t.Errorf("got %d %q", code, message)
	}
	code, _ = guarded(400, func(c *call) error {
		whole := slice[int32](c, "labels", start, int64(size)/4)
		whole[len(whole)-1] = 7
		return nil
	})
	if code != codeOK {
		t.Errorf("the last element can be used, but: %d", code)
	}
}

func TestReadOnlyOutputIsNamed(t *testing.T) {
	page, size := fence(t)
	if err := syscall.Mprotect(page, syscall.PROT_READ); err != nil {
		t.Fatal(err)
	}
	code, message := guarded(400, func(c *call) error {
		dst := slice[float64](c, "decisions", &page[0], int64(size)/8)
		work.NewPool(2).Run(2, func(i int) { dst[i+5] = 1 })
		return nil
	})
	if code != codeBadArgument || !strings.HasPrefix(message, "decisions: the memory of element") {
		t.Errorf("got %d %q", code, message)
	}
	// An error buffer that cannot be written does not hide the status.
	code = guard(unsafe.Pointer(&page[0]), 100, func(*call) error { return fault.Data("bad") })
	if code != codeBadData {
		t.Errorf("got %d", code)
	}
}

func TestFaultInsideTheEngineIsNamed(t *testing.T) {
	page, size := fence(t)
	code, message := guarded(400, func(c *call) error {
		values := unread[byte](c, "rows.values", &page[0], int64(size)+1)
		_, err := work.Guard(func() (any, error) { // as a fit does
			work.NewPool(2).Run(2, func(int) { _ = touch(values) })
			return nil, nil
		})
		return err
	})
	if code != codeBadArgument || !strings.HasPrefix(message, "rows.values: the memory of element 4096") {
		t.Errorf("got %d %q", code, message)
	}
}

func TestFaultElsewhereIsADefect(t *testing.T) {
	page, size := fence(t)
	code, _ := guarded(400, func(c *call) error {
		slice[byte](c, "labels", &page[0], 10)
		_ = touch(unsafe.Slice(&page[0], size+1))
		return nil
	})
	if code != codeInternal {
		t.Errorf("got %d", code)
	}
}
