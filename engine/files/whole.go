package files

import (
	"bufio"
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
// the file that it points to, which must be there, is written; a pipe or a terminal is written in place. An error of
// the system is a fault.File with the path.
func Write(path string, fill func(w io.Writer) error) error {
	err := write(path, fill)
	if errors.As(err, new(*fs.PathError)) || errors.As(err, new(*os.LinkError)) {
		return fault.File("cannot write %s: %v", path, Reason(err))
	}
	return err
}

func write(path string, fill func(w io.Writer) error) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		if _, err := os.Lstat(path); err == nil {
			return &fs.PathError{Err: errors.New("it is a symbolic link to a file that is not there")}
		}
		return writeBeside(path, 0o666, fill)
	case info.IsDir():
		return &fs.PathError{Err: errors.New("it is a directory")}
	case !info.Mode().IsRegular():
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return fillAndClose(file, fill, func() error { return nil })
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	return writeBeside(target, info.Mode().Perm(), fill)
}

func writeBeside(target string, mode fs.FileMode, fill func(w io.Writer) error) error {
	folder, name := filepath.Split(target)
	temporary := fmt.Sprintf("%s.%s.%08x.tmp", folder, name, rand.Uint32())
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer os.Remove(temporary) // fails once the file has its own name
	if err := fillAndClose(file, fill, file.Sync); err != nil {
		return err
	}
	return os.Rename(temporary, target)
}

// fillAndClose closes the file whatever happens, also when fill panics.
func fillAndClose(file *os.File, fill func(w io.Writer) error, settle func() error) error {
	defer file.Close()
	buffered := bufio.NewWriterSize(file, 1<<18)
	err := fill(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = errors.Join(settle(), file.Close())
	}
	return err
}

// Reason is an error of the system without the operation and the path that the os package puts in front.
func Reason(err error) error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err
}
