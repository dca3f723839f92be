package method

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/vector"
)

// Of a mixture where every class has a description; measured in docs/notes/committee.md.
const (
	namedSteps   = 16  // of words: those of a few descriptions take longer to reach all rows
	namedSpheres = 0.4 // part of the first components
)

// addNames adds the descriptions to the components: a part of those of the first step, which know nothing else. So rows
// that the descriptions tell apart stay where they put them, and later steps do not move away from the names. Spheres
// give nothing to the mean row, as all rows are nearer to some of an encoder's names than to others; for multinomials
// the part is the mean number of words of descriptions in a row, as few words tell little of the others.
func (m *mixture) addNames() {
	if m.named == nil {
		part, rows := 0.0, []float64{vector.Sum(m.weight)}
		if m.job.Reduce(rows); m.spheres {
			part = namedSpheres
			m.each(0, m.shape.Features, func(j, first int, values []float64) {
				vector.Add(m.offset[first-1:][:len(values)], -part*m.all[j]/rows[0], values)
			})
		} else {
			for j, described := range m.labeled {
				if described > 0 {
					part += m.all[j] / rows[0]
				}
			}
		}
		m.named = slices.Clone(m.component)
		vector.Scale(m.named, part)
	}
	vector.Add(m.component, 1, m.named)
}
