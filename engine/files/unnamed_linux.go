package files

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// create makes a file without a name, which is gone if the process is killed, and a function that names it; where the
// file system has no such files, one with its name.
func create(folder, path string, mode fs.FileMode) (*os.File, func() error, error) {
	file, err := os.OpenFile(cmp.Or(folder, "."), os.O_WRONLY|unix.O_TMPFILE, mode)
	if err != nil {
		return createNamed(path, mode)
	}
	open := fmt.Sprintf("/proc/self/fd/%d", file.Fd())
	if _, err := os.Stat(open); err != nil {
		file.Close()
		return createNamed(path, mode)
	}
	return file, func() error {
		if err := unix.Linkat(unix.AT_FDCWD, open, unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW); err != nil {
			return &os.LinkError{Op: "linkat", Old: open, New: path, Err: err}
		}
		return nil
	}, nil
}
