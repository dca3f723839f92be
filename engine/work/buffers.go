package work

import "sync"

// buffers are vectors that a pool lends to products and keeps for the next ones.
type buffers struct {
	lock sync.Mutex
	kept [][]float64
}

// Borrow lends a vector of n numbers, which hold anything, until Return. Several goroutines may borrow at a time.
func (p *Pool) Borrow(n int) []float64 {
	p.lock.Lock()
	defer p.lock.Unlock()
	best := -1 // the smallest that is long enough, or the longest, which makes room for a new one
	for k, buffer := range p.kept {
		switch {
		case best < 0:
			best = k
		case cap(buffer) >= n:
			if c := cap(p.kept[best]); c < n || c > cap(buffer) {
				best = k
			}
		case cap(buffer) > cap(p.kept[best]):
			best = k
		}
	}
	if best < 0 {
		return make([]float64, n)
	}
	found, last := p.kept[best], len(p.kept)-1
	p.kept[best], p.kept[last] = p.kept[last], nil
	p.kept = p.kept[:last]
	if cap(found) < n {
		return make([]float64, n)
	}
	return found[:n]
}

// Return takes back a vector that Borrow has lent.
func (p *Pool) Return(buffer []float64) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.kept = append(p.kept, buffer)
}
