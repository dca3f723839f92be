package files

import (
	"cmp"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fewlabel/fewlabel/engine/fault"
)

func TestOnlyFilesAreOpened(t *testing.T) {
	folder := t.TempDir()
	pipe, link, socket := filepath.Join(folder, "pipe"), filepath.Join(folder, "link"), filepath.Join(folder, "socket")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for path, found := range map[string]string{
		pipe: "a pipe", link: "a pipe", socket: "a socket", folder: "a directory", os.DevNull: "a device",
		"/dev/zero": "a device", "/dev/full": "a device",
	} {
		_, _, reading := Open(path)
		_, rows := ReadRows(path, ReadOptions{})
		for do, err := range map[string]error{"write": Write(path, text("x")), "read": cmp.Or(reading, rows)} {
			wantFault(t, err, fault.IO, "cannot "+do+" "+path+": it is "+found+": give the path of a file")
		}
	}
}

// What a process that is killed leaves is what lies in the folder while it writes.
func TestAFileThatIsNotWholeHasNoName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := Write(path, text("old")); err != nil {
		t.Fatal(err)
	}
	err := Write(path, func(w io.Writer) error {
		onlyFile(t, filepath.Dir(path))
		return text("new")(w)
	})
	if err != nil || content(t, path) != "new" {
		t.Errorf("the file has %q (%v)", content(t, path), err)
	}
	onlyFile(t, filepath.Dir(path))
}
