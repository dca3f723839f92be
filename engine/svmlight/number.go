package svmlight

import (
	"math"
	"math/bits"
	"strconv"
)

// number reads the decimal number at the start of text ("-12", "0.5", ".5e-7") and returns how many bytes it takes; 0
// means that there is none. The value is the float64 nearest to the number, ±Inf when it is too large for one.
func number(text []byte) (value float64, length int) {
	at := signs(text)
	mantissa, digits, point := uint64(0), 0, -1 // digits count from the first
	for ; at < len(text); at++ {
		if c := text[at]; isDigit(c) {
			mantissa = mantissa*10 + uint64(c-'0')
			digits++
		} else if c == '.' && point < 0 {
			point = at + 1
		} else {
			break
		}
	}
	if digits == 0 {
		return 0, 0
	}
	if at < len(text) && (text[at] == 'e' || text[at] == 'E') {
		power := at + 1 + signs(text[at+1:])
		for at = power; at < len(text) && isDigit(text[at]); at++ {
		}
		if at == power {
			return 0, 0
		}
		digits = maxDigits + 1
	}
	behind := 0
	if point >= 0 {
		behind = at - point
	}
	switch {
	case digits > maxDigits || behind >= len(powersOfFive) || mantissa == 0:
		value, _ = strconv.ParseFloat(string(text[:at]), 64) // a range error comes with ±Inf, which is the answer
		return value, at
	case digits <= exactDigits:
		value = float64(mantissa) / powersOfTen[behind] // both exact, rounded once (Clinger 1990)
	default:
		value = quotient(mantissa, behind)
	}
	if text[0] == '-' {
		value = -value
	}
	return value, at
}

const (
	maxDigits   = 19 // always fit a uint64
	exactDigits = 15 // always fit the 53 bits of a float64
)

// signs is 1 if text starts with a sign.
func signs(text []byte) int {
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		return 1
	}
	return 0
}

// quotient is the float64 nearest to mantissa / 10^power, by one division of integers: mantissa not 0, power <= 27.
//
// With the top bits of m and d = 5^power moved to bit 63, q = floor(m 2^63 / d) has 63 or 64 bits, at least ten more
// than a float64 keeps. If a remainder is left, setting the last bit of q is enough to tell it from a tie, so that the
// conversion rounds as the whole quotient would. The power of two that remains is exact.
func quotient(mantissa uint64, power int) float64 {
	divisor := powersOfFive[power]
	up, down := bits.LeadingZeros64(divisor), bits.LeadingZeros64(mantissa)
	divisor <<= up
	mantissa <<= down
	q, remainder := bits.Div64(mantissa>>1, mantissa<<63, divisor)
	if remainder != 0 {
		q |= 1
	}
	binary := up - down - power - 63
	return float64(q) * math.Float64frombits(uint64(1023+binary)<<52)
}

func isDigit(c byte) bool { return c-'0' < 10 }

var powersOfTen = [exactDigits + 1]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
}

// powersOfFive holds the powers of 5 that fit 63 bits.
var powersOfFive = func() (powers [28]uint64) {
	powers[0] = 1
	for k := 1; k < len(powers); k++ {
		powers[k] = 5 * powers[k-1]
	}
	return powers
}()
