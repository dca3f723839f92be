// Package faulttest compares errors with those that are wanted.
package faulttest

import (
	"errors"
	"testing"

	"github.com/fewlabel/fewlabel/engine/fault"
)

// Want fails a test in which an error has not this kind and message.
func Want(t testing.TB, err error, kind fault.Kind, message string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != kind || f.Message != message {
		t.Errorf("got the error\n\t%v\nwant\n\t%v", err, message)
	}
}
