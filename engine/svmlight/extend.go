package svmlight

// extend appends more to all. When memory is short it asks for what the whole file will need if it goes on as it began:
// share is the part of the file read so far, 0 if unknown. An array is then moved once or twice early on and not
// doubled near the end, where old and new together would cost most. What is asked for but never filled costs address
// space only.
func extend[T any](all, more []T, share float64) []T {
	return append(reserve(all, len(more), share), more...)
}

// extendEnds appends the ends of the rows of a block that starts at offset.
func extendEnds(all, ends []int64, offset int64, share float64) []int64 {
	all = reserve(all, len(ends), share)
	for _, end := range ends {
		all = append(all, offset+end)
	}
	return all
}

func reserve[T any](all []T, more int, share float64) []T {
	needed := len(all) + more
	if needed <= cap(all) {
		return all
	}
	forecast := 2 * needed
	switch {
	case share == 1:
		forecast = needed
	case share > 0:
		forecast = int(1.1*float64(needed)/max(share, smallestShare)) + 64
	}
	grown := make([]T, len(all), forecast)
	copy(grown, all)
	return grown
}

const smallestShare = 1.0 / (1 << 14) // less tells too little of the whole file
