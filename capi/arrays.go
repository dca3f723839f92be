package main

// #include "capi.h"
import "C"

import (
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/option"
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
func (c *call) borrow(name string, p unsafe.Pointer, count, size int64) {
	switch {
	case p == nil:
		check(fault.Argument("%s is NULL", name))
	case uintptr(p) < firstAddress:
		check(fault.Argument("%s is %#x, which is not a valid address", name, uintptr(p)))
	case count < 0 || count > addressSpace/size:
		check(fault.Argument("%s cannot have %d elements", name, count))
	case uintptr(p) > ^uintptr(0)-uintptr(count*size):
		check(fault.Argument("%s is %#x, which is not the address of %d elements", name, uintptr(p), count))
	}
	c.borrowed = append(c.borrowed, region{name, uintptr(p), count, size})
}

// explain turns a fault in borrowed memory into an error that names the argument; nil if the panic is something else.
func (c *call) explain(cause any) error {
	failure, ok := cause.(work.MemoryFault)
	if !ok {
		return nil
	}
	at := failure.Addr()
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

// slice views count elements of the caller's memory, P in C; without elements the pointer may be NULL. It looks at the
// memory here, so that an array shorter than promised is found before the engine sees it.
func slice[T, P any](c *call, name string, p *P, count int64) []T {
	elements := unread[T](c, name, p, count)
	if len(elements) > 0 {
		touch(unsafe.Slice((*byte)(unsafe.Pointer(p)), count*int64(unsafe.Sizeof(elements[0]))))
	}
	return elements
}

// optional is slice for an array that the caller need not give or want: NULL is nil.
func optional[T, P any](c *call, name string, p *P, count int64) []T {
	if p == nil {
		return nil
	}
	return slice[T](c, name, p, count)
}

// unread is slice without the look, for large arrays that the engine reads once or in few places: it finds a fault.
func unread[T, P any](c *call, name string, p *P, count int64) []T {
	var element T
	if count == 0 {
		return nil
	}
	c.borrow(name, unsafe.Pointer(p), count, int64(unsafe.Sizeof(element)))
	return unsafe.Slice((*T)(unsafe.Pointer(p)), count)
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

func single[T any](c *call, name string, p *T) *T {
	c.borrow(name, unsafe.Pointer(p), 1, int64(unsafe.Sizeof(*p)))
	return p
}

func (c *call) text(name string, p *C.char) string {
	const length = 1 << 30 // only to blame the right argument if the string has no end
	c.borrow(name, unsafe.Pointer(p), length, 1)
	s := C.GoString(p)
	c.borrowed = c.borrowed[:len(c.borrowed)-1]
	return s
}

// optionalText is text where NULL counts as empty.
func (c *call) optionalText(name string, p *C.char) string {
	if p == nil {
		return ""
	}
	return c.text(name, p)
}

// decode reads options into the defaults; NULL and empty text leave them.
func (c *call) decode(text *C.char, options option.Table) {
	check(options.Decode([]byte(c.optionalText("options", text))))
}

// giveText writes a text and the room it takes; without a buffer only the room.
func (c *call) giveText(content string, text *C.char, textSize C.int64_t, needed *C.int64_t) {
	length, room := int64(len(content))+1, single(c, "needed", needed)
	if text != nil && int64(textSize) < length {
		check(fault.Argument("text_size is %d: the text takes %d bytes", int64(textSize), length))
	}
	copy(optional[byte](c, "text", text, length), content+"\x00")
	*room = C.int64_t(length)
}

func (c *call) flag(name string, value C.int32_t) bool {
	if value != 0 && value != 1 {
		check(fault.Argument("%s is %d: use 0 or 1", name, int32(value)))
	}
	return value == 1
}

func (c *call) pool(threads C.int32_t) *work.Pool {
	if threads < 1 {
		check(fault.Argument("threads is %d: use 1 or more", int32(threads)))
	}
	return work.NewPool(int(threads))
}
