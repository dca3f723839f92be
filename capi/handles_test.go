package main

import (
	"strings"
	"sync"
	"testing"

	"github.com/fewlabel/fewlabel/engine/files"
	"github.com/fewlabel/fewlabel/engine/model"
)

func TestHandles(t *testing.T) {
	var r registry
	a, b := &object{}, &object{}
	first, second := r.add(a), r.add(b)
	if first == 0 || second == first || r.live() != 2 {
		t.Fatalf("handles %d and %d, live %d", first, second, r.live())
	}
	if item, err := r.at("model", second); err != nil || item != b {
		t.Errorf("got %v, %v", item, err)
	}
	if err := r.remove("handle", first); err != nil {
		t.Error(err)
	}
	if third := r.add(&object{}); third == first {
		t.Error("the number of a freed handle was used again")
	}
	for handle, want := range map[int64]string{
		first: "model is 1, a handle that was freed", 0: "model is 0, which is no handle", 99: "model is 99, which is no",
		-5: "model is -5, which is no handle",
	} {
		if _, err := r.at("model", handle); statusOf(err) != codeBadHandle || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v", err)
		}
		if err := r.remove("model", handle); statusOf(err) != codeBadHandle {
			t.Errorf("got %v", err)
		}
	}
}

func TestHandleOfAnotherKind(t *testing.T) {
	var r registry
	for _, o := range []*object{{data: &files.Data{}}, {Model: &model.Linear{}}, {Model: &model.Chain{}},
		{Model: &model.Structure{}}} {
		handle, own := r.add(o), o.kind()
		for _, other := range []string{linear, chain, components, dataset} {
			found, err := r.at("start", handle, other)
			switch {
			case other == own && (err != nil || found != o):
				t.Errorf("%s: got %v, %v", own, found, err)
			case other != own && (statusOf(err) != codeBadHandle || !strings.HasPrefix(err.Error(), "start is ") ||
				!strings.HasSuffix(err.Error(), "the handle of "+inMessages[own])):
				t.Errorf("%s for %s: got %v", own, other, err)
			}
		}
	}
}

func TestHandlesFromManyThreads(t *testing.T) {
	var r registry
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 1000 {
				handle := r.add(&object{})
				if _, err := r.at("model", handle); err != nil {
					t.Error(err)
				}
				if err := r.remove("handle", handle); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if r.live() != 0 {
		t.Errorf("%d handles left", r.live())
	}
}
