//go:build !linux

package files

import (
	"io/fs"
	"os"
)

func create(_, path string, mode fs.FileMode) (*os.File, func() error, error) {
	return createNamed(path, mode)
}
