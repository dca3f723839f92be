package main

// #include "capi.h"
import "C"

import (
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	csr "github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/work"
)

// firstAddress is where memory of a process can start: the first page is never mapped.
const firstAddress = 4096

// addressSpace is more bytes than a process can have.
const addressSpace = 1 << 48

// region is memory of the caller, known by the name of the argument that pointed to it.
type region struct {
	name  string
	start uintptr
	count int64 // elements
	size  int64 // bytes of an element
}

// borrow checks a pointer to count elements of size bytes each and remembers it for explain.
func (c *call) borrow(name string, p unsafe.Pointer, count, size int64) error {
	switch {
	case p == nil:
		return fault.Argument("%s is NULL", name)
	case uintptr(p) < firstAddress:
		return fault.Argument("%s is %#x, which is not a valid address", name, uintptr(p))
	case count > addressSpace/size:
		return fault.Argument("%s cannot have %d elements", name, count)
	case uintptr(p) > ^uintptr(0)-uintptr(count*size):
		return fault.Argument("%s is %#x, which is not the address of %d elements", name, uintptr(p), count)
	}
	c.borrowed = append(c.borrowed, region{name, uintptr(p), count, size})
	return nil
}

// explain turns a fault in borrowed memory into an error that names the argument; nil if the panic is something else.
func (c *call) explain(cause any) error {
	at, ok := work.FaultAddress(cause)
	if !ok {
		return nil
	}
	for _, r := range c.borrowed {
		if offset := int64(at - r.start); at >= r.start && offset < r.count*r.size {
			return fault.Argument("%s: the memory of element %d, at %#x, is not mapped or not accessible",
				r.name, offset/r.size, at)
		}
		// The processor does not tell the address when it is outside the address space.
		if at == 0 && r.start >= addressSpace {
			return fault.Argument("%s is %#x, which is not a valid address", r.name, r.start)
		}
	}
	return nil
}

// slice views count elements of the caller's memory; without elements the pointer may be NULL. It looks at the memory
// here, so that an array shorter than promised is found before the engine sees it.
func slice[T any](c *call, name string, p unsafe.Pointer, count int64) ([]T, error) {
	elements, err := unread[T](c, name, p, count)
	if len(elements) > 0 {
		touch(unsafe.Slice((*byte)(p), count*int64(unsafe.Sizeof(elements[0]))))
	}
	return elements, err
}

// unread is slice without the look, for large arrays that the engine reads once or in few places: it finds a fault.
func unread[T any](c *call, name string, p unsafe.Pointer, count int64) ([]T, error) {
	if count == 0 {
		return nil, nil
	}
	var element T
	if err := c.borrow(name, p, count, int64(unsafe.Sizeof(element))); err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(p), count), nil
}

// touch reads a byte of every page.
//
//go:noinline
func touch(memory []byte) byte {
	const page = 4096 // or a part of one
	seen := byte(0)
	for at := 0; at < len(memory); at += page {
		seen ^= memory[at]
	}
	return seen ^ memory[len(memory)-1]
}

// output views a single value that the caller wants to have.
func output[T any](c *call, name string, p *T) (*T, error) {
	var element T
	return p, c.borrow(name, unsafe.Pointer(p), 1, int64(unsafe.Sizeof(element)))
}

// wantedSize is a size and where the caller wants it.
type wantedSize struct {
	name string
	dst  *C.int64_t
	size int
}

// giveSizes writes all of the sizes, or none if a place is missing.
func (c *call) giveSizes(sizes []wantedSize) error {
	for _, s := range sizes {
		if _, err := output(c, s.name, s.dst); err != nil {
			return err
		}
	}
	for _, s := range sizes {
		*s.dst = C.int64_t(s.size)
	}
	return nil
}

// text copies a string of the caller that must not be NULL.
func (c *call) text(name string, p *C.const_char) (string, error) {
	const most = 1 << 30 // only to blame the right argument if the string has no end
	if err := c.borrow(name, unsafe.Pointer(p), most, 1); err != nil {
		return "", err
	}
	s := C.GoString(p)
	c.borrowed = c.borrowed[:len(c.borrowed)-1]
	return s, nil
}

// optionalText copies a string of the caller; NULL counts as empty.
func (c *call) optionalText(name string, p *C.const_char) (string, error) {
	if p == nil {
		return "", nil
	}
	return c.text(name, p)
}

// giveText writes a text and the room it takes; without a buffer only the room.
func (c *call) giveText(content string, text *C.char, textSize C.int64_t, needed *C.int64_t) error {
	room, err := output(c, "needed", needed)
	if err != nil {
		return err
	}
	length := int64(len(content)) + 1
	if text != nil {
		if int64(textSize) < length {
			return fault.Argument("text_size is %d: the text takes %d bytes", int64(textSize), length)
		}
		dst, err := slice[byte](c, "text", unsafe.Pointer(text), length)
		if err != nil {
			return err
		}
		copy(dst, content)
		dst[length-1] = 0
	}
	*room = C.int64_t(length)
	return nil
}

// flag reads an argument that is 0 or 1.
func flag(name string, value C.int32_t) (bool, error) {
	if value != 0 && value != 1 {
		return false, fault.Argument("%s is %d: use 0 or 1", name, int32(value))
	}
	return value == 1, nil
}

// poolOf makes the workers of a call.
func poolOf(threads C.int32_t) (*work.Pool, error) {
	if threads < 1 {
		return nil, fault.Argument("threads is %d: use 1 or more", int32(threads))
	}
	return work.NewPool(int(threads)), nil
}

// matrix views the caller's rows and checks them.
func (c *call) matrix(rows *C.const_csr) (*csr.Matrix, error) {
	view, err := c.rows(rows)
	if err != nil {
		return nil, err
	}
	return view.Matrix()
}

// rows views the caller's rows. Package rows checks the data; here only what must hold for it to look at them.
func (c *call) rows(rows *C.const_csr) (csr.Rows, error) {
	if err := c.borrow("rows", unsafe.Pointer(rows), 1, C.sizeof_fewlabel_csr); err != nil {
		return nil, err
	}
	view := *rows
	for _, count := range []struct {
		name  string
		value C.int64_t
	}{{"n_rows", view.n_rows}, {"n_features", view.n_features}, {"n_values", view.n_values}} {
		if count.value < 0 || count.value >= addressSpace {
			return nil, fault.Argument("rows.%s is %d", count.name, int64(count.value))
		}
	}
	switch view.indptr_type {
	case C.FEWLABEL_INT32:
		return rowsFrom[int32](c, &view)
	case C.FEWLABEL_INT64:
		return rowsFrom[int64](c, &view)
	}
	return nil, fault.Argument("rows.indptr_type is %d: use FEWLABEL_INT32 or FEWLABEL_INT64", int32(view.indptr_type))
}

// rowsFrom is rows for a type of indptr.
func rowsFrom[P int32 | int64](c *call, view *C.fewlabel_csr) (csr.Rows, error) {
	switch view.index_type {
	case C.FEWLABEL_INT32:
		return rowsOf[P, int32](c, view)
	case C.FEWLABEL_INT64:
		return rowsOf[P, int64](c, view)
	}
	return nil, fault.Argument("rows.index_type is %d: use FEWLABEL_INT32 or FEWLABEL_INT64", int32(view.index_type))
}

// rowsOf is rows for a type of indptr and a type of index.
func rowsOf[P, I int32 | int64](c *call, view *C.fewlabel_csr) (csr.Rows, error) {
	indptr, err := slice[P](c, "rows.indptr", view.indptr, int64(view.n_rows)+1)
	if err != nil {
		return nil, err
	}
	// The end of the last row says how far the other arrays are read: look at it before touching them.
	stored := int64(indptr[view.n_rows])
	if stored < 0 || stored > int64(view.n_values) {
		return nil, fault.Data("rows.indptr[%d] is %d: the rows do not end inside the %d values of rows.n_values",
			int64(view.n_rows), stored, int64(view.n_values))
	}
	indices, err := unread[I](c, "rows.indices", view.indices, stored)
	if err != nil {
		return nil, err
	}
	switch view.value_type {
	case C.FEWLABEL_FLOAT32:
		return rowsWith[P, I, float32](c, view, indptr, indices)
	case C.FEWLABEL_FLOAT64:
		return rowsWith[P, I, float64](c, view, indptr, indices)
	}
	return nil, fault.Argument("rows.value_type is %d: use FEWLABEL_FLOAT32 or FEWLABEL_FLOAT64", int32(view.value_type))
}

// rowsWith is rows for the types of all three arrays.
func rowsWith[P, I int32 | int64, V float32 | float64](
	c *call, view *C.fewlabel_csr, indptr []P, indices []I,
) (csr.Rows, error) {
	values, err := unread[V](c, "rows.values", view.values, int64(len(indices)))
	if err != nil {
		return nil, err
	}
	return csr.View(int(view.n_features), indptr, indices, values), nil
}
