package svmlight

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// checkNumber compares with strconv, which rounds correctly.
func checkNumber(t *testing.T, text string) {
	t.Helper()
	got, length := number([]byte(text))
	if length != len(text) {
		t.Errorf("number(%q) took %d bytes", text, length)
		return
	}
	want, _ := strconv.ParseFloat(text, 64)
	if math.Float64bits(got) != math.Float64bits(want) {
		t.Errorf("number(%q) = %v, want %v", text, got, want)
	}
}

func TestNumberForms(t *testing.T) {
	for _, text := range []string{
		"0", "-0", "+0", "0.0", "1", "-1", "+1", "12.5", ".5", "5.", "-.5", "1e3", "1E3", "1e+3", "1e-3", "123.456e-7",
		"00012.500", "0.00000000000000000000000000000001234", "0.000000000000000000000000", "12345678901234567890123",
		"1e22", "1e23", "9007199254740992", "9007199254740993", "9007199254740993e1", "18446744073709551615",
		"18446744073709551616", "1844674407370955161.5e-26", "1e-27", "1e-28", "9999999999999999999e-27", "1e308", "1e309",
		"-1e309", "1e-323", "1e-400", "4.9e-324", "2.2250738585072011e-308", "1e99999999999999999999",
		"1e-99999999999999999999",
		"0e99999999999", "179769313486231580793728971405301e276", "8.5", "0.1", "0.3", "1.7976931348623157e308",
	} {
		checkNumber(t, text)
	}
}

func TestNumberStopsAtOtherText(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "-": 0, "+": 0, ".": 0, "-.": 0, "e5": 0, ".e5": 0, "1e": 0, "1e+": 0, "nan": 0, "inf": 0, "x": 0, "--1": 0,
		"1 2": 1, "1,2": 1, "1_000": 1, "0x1p-2": 1, "1.5.5": 3, "1e5e5": 3, "1.5x": 3, "12:3": 2,
	} {
		if _, length := number([]byte(text)); length != want {
			t.Errorf("number(%q) took %d bytes, want %d", text, length, want)
		}
	}
}

func TestNumberOnRandomText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50_000 {
		value := math.Float64frombits(random.Uint64())
		if math.IsNaN(value) || math.IsInf(value, 0) {
			continue
		}
		checkNumber(t, strconv.FormatFloat(value, 'g', -1, 64))
		unit := random.Float64() * math.Pow(10, float64(random.IntN(12)-8))
		checkNumber(t, strconv.FormatFloat(unit, 'g', -1, 64))
		checkNumber(t, fmt.Sprintf("%.16g", unit))
		checkNumber(t, fmt.Sprintf("%.6f", unit))
		checkNumber(t, fmt.Sprintf("%de%d", random.Uint64()>>random.IntN(64), random.IntN(60)-30))
	}
}

// Halfway between two neighbours the last digit decides: an odd number of 54 bits over a power of two is such a tie.
func TestNumberOnTies(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		tie := random.Uint64()>>11 | 1<<53 | 1
		for power := range 5 {
			digits := tie
			for range power {
				digits *= 5
			}
			for _, near := range []uint64{digits - 1, digits, digits + 1} {
				checkNumber(t, fmt.Sprintf("%de-%d", near, power))
			}
		}
	}
}

func FuzzNumber(f *testing.F) {
	for _, text := range []string{"1", "-0.5", "123.456e-7", "9007199254740993", "1e23", "0.0000000000000001", "1e999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, length := number([]byte(text))
		if length == 0 {
			return
		}
		want, err := strconv.ParseFloat(text[:length], 64)
		if err != nil && !math.IsInf(want, 0) {
			t.Fatalf("number took %q for a number, strconv does not: %v", text[:length], err)
		}
		if math.Float64bits(value) != math.Float64bits(want) {
			t.Fatalf("number(%q) = %v, want %v", text, value, want)
		}
	})
}

func BenchmarkNumber(b *testing.B) {
	for _, text := range []string{
		"1", "0.25", "0.1234567", "0.1234567890123456", "0.12345678901234568", "1.2345678901234567e-30",
	} {
		b.Run(text, func(b *testing.B) {
			line := []byte(text + " ")
			for b.Loop() {
				number(line)
			}
		})
		b.Run(text+"/strconv", func(b *testing.B) {
			line := []byte(text)
			for b.Loop() {
				strconv.ParseFloat(string(line), 64)
			}
		})
	}
}
