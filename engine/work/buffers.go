package work

import (
	"slices"
	"sync"
)

// buffers are vectors that a pool lends to products and keeps for the next ones.
type buffers struct {
	lock sync.Mutex
	kept [][]float64 // the shortest first
}

// Borrow lends a vector of n numbers, which hold anything, until Return. Several goroutines may borrow at a time.
func (p *Pool) Borrow(n int) []float64 {
	p.lock.Lock()
	defer p.lock.Unlock()
	k := slices.IndexFunc(p.kept, func(buffer []float64) bool { return cap(buffer) >= n })
	if k < 0 {
		if last := len(p.kept) - 1; last >= 0 { // the longest makes room for a new one
			p.kept[last] = nil
			p.kept = p.kept[:last]
		}
		return make([]float64, n)
	}
	found := p.kept[k]
	p.kept = slices.Delete(p.kept, k, k+1)
	return found[:n]
}

// Return takes back a vector that Borrow has lent.
func (p *Pool) Return(buffer []float64) {
	p.lock.Lock()
	defer p.lock.Unlock()
	k, _ := slices.BinarySearchFunc(p.kept, cap(buffer), func(b []float64, n int) int { return cap(b) - n })
	p.kept = slices.Insert(p.kept, k, buffer)
}
