package textkit

// Slug makes a text fit for an address.
func Slug(s string) string {
	out := make([]byte, 0, len(s))
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
	out := ""
	for i, w := range words {
		if i > 0 {
			out += ", "
		}
		out += w
	}
	return out
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
