package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/fault"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

func TestWriteMakesAndReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, want := range []string{"first", strings.Repeat("second", 100_000), ""} {
		if err := Write(path, text(want)); err != nil {
			t.Fatal(err)
		}
		if got := content(t, path); got != want {
			t.Errorf("the file has %d bytes, want %d", len(got), len(want))
		}
	}
	onlyFile(t, filepath.Dir(path))
}

func TestFailureLeavesTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := Write(path, text("old")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error {
		io.WriteString(w, strings.Repeat("new", 1_000_000))
		return broken
	})
	if err != broken {
		t.Errorf("got the error %v, want that of the writer", err)
	}
	func() {
		defer func() { recover() }()
		Write(path, func(io.Writer) error { panic("defect") })
	}()
	if got := content(t, path); got != "old" {
		t.Errorf("the old file now holds %q", got)
	}
	onlyFile(t, filepath.Dir(path))
}

func onlyFile(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v (%v), want one file", entries, err)
	}
}

func TestWriteKeepsModeAndLink(t *testing.T) {
	folder := t.TempDir()
	target, link := filepath.Join(folder, "target"), filepath.Join(folder, "link")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	if err := Write(link, text("new")); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if info, _ := os.Stat(target); info.Mode().Perm() != 0o600 || content(t, target) != "new" {
		t.Errorf("the target has mode %v and content %q", info.Mode(), content(t, target))
	}
}

func TestLinksToNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "link")
	for _, target := range []string{"link", "none"} {
		os.Remove(path)
		if err := os.Symlink(target, path); err != nil {
			t.Skip(err)
		}
		var f *fault.Error
		if err := Write(path, text("x")); !errors.As(err, &f) || f.Kind != fault.IO || !strings.Contains(f.Message, path) {
			t.Errorf("got %v, want a fault.File", err)
		}
		if info, _ := os.Lstat(path); info.Mode()&os.ModeSymlink == 0 {
			t.Error("the link was replaced")
		}
	}
}

func TestErrorsOfTheSystem(t *testing.T) {
	folder := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(folder, "none", "file"): "no such file or directory",
		folder:                                "it is a directory: give the path of a file",
	} {
		wantFault(t, Write(path, text("x")), fault.IO, "cannot write "+path+": "+want)
	}
}
