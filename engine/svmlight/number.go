package svmlight

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// number reads the decimal number at the start of text ("-12", "0.5", ".5e-7") and returns how many bytes it takes; 0
// means that there is none. The value is the float64 nearest to the number, ±Inf when it is too large for one.
func number(text []byte) (value float64, length int) {
	mantissa, exponent, digits, at := scan(text)
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
	value, ok := nearest(mantissa, exponent)
	switch {
	case !ok || digits > maxDigits:
		value, _ = strconv.ParseFloat(string(text[:at]), 64) // a range error comes with ±Inf, which is the answer
	case text[0] == '-':
		value = -value
	}
	return value, at
}

const maxDigits = 19 // 19 digits always fit a uint64

// scan reads a number without a power: mantissa * 10^exponent, the mantissa right if it has at most maxDigits digits,
// which count from the first.
func scan(text []byte) (mantissa uint64, exponent, digits, at int) {
	at = signs(text)
	first := at
	for ; at < len(text) && isDigit(text[at]); at++ {
		mantissa = mantissa*10 + uint64(text[at]-'0')
	}
	digits = at - first
	if at == len(text) || text[at] != '.' {
		return mantissa, 0, digits, at
	}
	at++
	point := at
	for {
		eight, ok := eightDigits(text[at:])
		if !ok {
			break
		}
		mantissa = mantissa*1e8 + eight
		at += 8
	}
	for ; at < len(text) && isDigit(text[at]); at++ {
		mantissa = mantissa*10 + uint64(text[at]-'0')
	}
	return mantissa, point - at, digits + at - point, at
}

// signs is 1 if text starts with a sign.
func signs(text []byte) int {
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		return 1
	}
	return 0
}

// eightDigits reads eight digits at once; false if there are not as many. The digits are added in pairs, the pairs in
// pairs, and these, inside of one word (Lemire, Number parsing at a gigabyte per second, 2021).
func eightDigits(text []byte) (value uint64, ok bool) {
	const tens, zeros = 0xf0f0f0f0f0f0f0f0, 0x3030303030303030
	if len(text) < 8 {
		return 0, false
	}
	word := binary.LittleEndian.Uint64(text)
	if word&tens != zeros || (word+0x0606060606060606)&tens != zeros { // from '0' to '?', and not above '9'
		return 0, false
	}
	word -= zeros
	word = word*10 + word>>8
	const pairs = 0x000000ff000000ff
	return ((word&pairs)*(100+1e6<<32) + (word>>16&pairs)*(1+1e4<<32)) >> 32, true
}

// nearest is the float64 nearest to mantissa * 10^exponent, when one of two quick ways finds it for sure.
func nearest(mantissa uint64, exponent int) (value float64, ok bool) {
	switch {
	case mantissa < 1<<53 && -22 <= exponent && exponent <= 22:
		// both operands are float64 without error, so the one rounding is the right one (Clinger 1990)
		if exponent < 0 {
			return float64(mantissa) / powersOfTen[-exponent], true
		}
		return float64(mantissa) * powersOfTen[exponent], true
	case -27 <= exponent && exponent <= 0 && mantissa != 0:
		return quotient(mantissa, -exponent), true
	default:
		return 0, false
	}
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

var powersOfTen = [23]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
	1e21, 1e22,
}

// powersOfFive holds the powers of 5 that fit 63 bits.
var powersOfFive = func() (powers [28]uint64) {
	powers[0] = 1
	for k := 1; k < len(powers); k++ {
		powers[k] = 5 * powers[k-1]
	}
	return powers
}()
