package files

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/fewlabel/fewlabel/engine/fault"
)

// Write makes the file at path from what fill writes, under another name until it is whole. A symbolic link stays, and
// the file that it points to, which must be there, is written. An error of the system is a fault.File with the path.
func Write(path string, fill func(w io.Writer) error) error {
	err := write(path, fill)
	if errors.As(err, new(*fs.PathError)) || errors.As(err, new(*os.LinkError)) {
		return fault.File("cannot write %s: %v", path, Reason(err))
	}
	return err
}

func write(path string, fill func(w io.Writer) error) error {
	info, err := regular(path)
	switch {
	case info == nil:
		if _, err := os.Lstat(path); err == nil {
			return &fs.PathError{Err: errors.New("it is a symbolic link to a file that is not there")}
		}
		return writeBeside(path, 0o666, fill)
	case err != nil:
		return err
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	return writeBeside(target, info.Mode().Perm(), fill)
}

// Open opens a file to read it, and gives its size. An error is a fault.File with the path.
func Open(path string) (*os.File, int64, error) {
	info, err := regular(path)
	var file *os.File
	if err == nil {
		file, err = os.Open(path)
	}
	if err != nil {
		return nil, 0, fault.File("cannot read %s: %v", path, Reason(err))
	}
	return file, info.Size(), nil
}

// regular refuses what is there and is no file: to open a pipe can wait for ever, and a device need not end.
func regular(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() {
		return info, nil
	}
	known := map[fs.FileMode]string{fs.ModeDir: "a directory", fs.ModeNamedPipe: "a pipe", fs.ModeSocket: "a socket"}
	found := cmp.Or(known[info.Mode().Type()], "a device")
	return info, &fs.PathError{Err: fmt.Errorf("it is %s: give the path of a file", found)}
}

func writeBeside(target string, mode fs.FileMode, fill func(w io.Writer) error) error {
	folder, name := filepath.Split(target)
	temporary := fmt.Sprintf("%s.%s.%08x.tmp", folder, name, rand.Uint32())
	file, give, err := create(folder, temporary, mode)
	if err != nil {
		return err
	}
	defer os.Remove(temporary) // fails once the file has its own name
	defer file.Close()         // whatever happens, also when fill panics
	buffered := bufio.NewWriterSize(file, 1<<18)
	filled := func() error { return fill(buffered) }
	for _, next := range []func() error{filled, buffered.Flush, file.Sync, give, file.Close} {
		if err := next(); err != nil {
			return err
		}
	}
	return os.Rename(temporary, target)
}

func createNamed(path string, mode fs.FileMode) (*os.File, func() error, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	return file, func() error { return nil }, err
}

// Reason is an error of the system without the operation and the path that the os package puts in front.
func Reason(err error) error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err
}
