package textkit

import "strings"

// Slug makes a text fit for an address.
func Slug(s string) string {
	var out []byte
	for _, r := range s {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		if r >= 'a' && r <= 'z' {
			out = append(out, byte(r))
		} else if n := len(out); n > 0 && out[n-1] != '-' {
			out = append(out, '-')
		}
	}
	return string(out)
}

// Join puts commas between words.
func Join(words []string) string {
	return strings.Join(words, ", ")
}

// Vowels counts vowels.
func Vowels(s string) int {
	n := 0
	for _, r := range s {
		switch r {
		case 'a', 'e', 'i', 'o', 'u':
			n++
		}
	}
	return n
}
