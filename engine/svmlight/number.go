package svmlight

import "strconv"

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
	behind := 0
	if point >= 0 {
		behind = at - point
	}
	if at < len(text) && text[at]|' ' == 'e' {
		power := at + 1 + signs(text[at+1:])
		_, length := wholeNumber(text[power:])
		if at, digits = power+length, maxDigits+1; length == 0 {
			return 0, 0
		}
	}
	if digits > maxDigits || mantissa > 1<<53 {
		value, _ = strconv.ParseFloat(string(text[:at]), 64) // a range error comes with ±Inf, which is the answer
		return value, at
	}
	value = float64(mantissa) / powersOfTen[behind] // both exact, rounded once (Clinger 1990)
	if text[0] == '-' {
		value = -value
	}
	return value, at
}

// wholeNumber is number for digits alone; the value is tooLarge from there on.
func wholeNumber(text []byte) (value, length int) {
	for length < len(text) && isDigit(text[length]) {
		value = min(value*10+int(text[length]-'0'), tooLarge)
		length++
	}
	return value, length
}

const (
	maxDigits = 19      // always fit a uint64
	tooLarge  = 1 << 40 // for the number of a feature
)

// signs is 1 if text starts with a sign.
func signs(text []byte) int {
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		return 1
	}
	return 0
}

func isDigit(c byte) bool { return c-'0' < 10 }

var powersOfTen = [maxDigits + 1]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}
