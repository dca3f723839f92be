// Package panel lays out the weights of several columns, as of classes, side by side, 32 at a time, and solves linear
// equations for all columns at once. Start at Shape, then ConjugateGradients.
package panel

// Shape is the shape of the weights of several classes: features times classes in panels of up to 32 classes, one panel
// behind the other. In a panel the classes of a feature lie side by side: a product reads the rows once for every panel
// and counts as one pass. Eight classes are a cache line, which one thread writes. One class is one vector.
type Shape struct {
	Features int
	Classes  int
}

// Width and PartWidth are numbers of classes.
const (
	Width     = 32 // of a panel
	PartWidth = 8  // of the part of a panel that is for one thread
)

// Stride is the length of a row of scores: the classes filled up to a multiple of four.
func (s Shape) Stride() int {
	if s.Classes == 1 {
		return 1
	}
	return (s.Classes + 3) / 4 * 4
}

func (s Shape) Len() int {
	last := s.Panel(s.Panels() - 1)
	return last.Start + last.Stride*s.Features
}

func (s Shape) Panels() int { return (s.Classes + Width - 1) / Width }

// Panel is some of the classes in a vector of weights.
type Panel struct {
	Start, Stride int // place of the first feature's weights; from a feature to the next
	First, Width  int // classes
}

// Panel is number b. What fills its stride up to a multiple of eight stays zero.
func (s Shape) Panel(b int) Panel {
	first := b * Width
	width := min(Width, s.Stride()-first)
	stride := width
	if width > PartWidth {
		stride = (width + PartWidth - 1) / PartWidth * PartWidth
	}
	return Panel{first * s.Features, stride, first, width}
}

// At is the place of a feature's weight for a class.
func (s Shape) At(feature, class int) int {
	p := s.Panel(class / Width)
	return p.Start + feature*p.Stride + class - p.First
}

// Part is the classes lo ... hi-1 of a panel.
func (p Panel) Part(lo, hi int) Panel { return Panel{p.Start + lo, p.Stride, p.First + lo, hi - lo} }

// Pieces are the panels, cut into parts of some eights of classes where there are too few for the threads.
func (s Shape) Pieces(threads int) (pieces []Panel) {
	for b := range s.Panels() {
		p, cuts := s.Panel(b), 1
		eights := p.Stride / PartWidth
		if s.Panels() < 2*threads {
			cuts = max(1, min(threads, eights))
		}
		for k := range cuts {
			pieces = append(pieces, p.Part(eights*k/cuts*PartWidth, min(p.Width, max(1, eights*(k+1)/cuts)*PartWidth)))
		}
	}
	return pieces
}
