package textkit

import "testing"

var (
	words = []string{"lock", "step", "pairs", "cancel", "the", "noise", "of", "this", "machine", "and", "any", "other"}
	text  = "Two versions run side by side, so that what the machine does hits both alike"
	out   string
	count int
)

func BenchmarkSlug(b *testing.B) {
	for i := 0; i < b.N; i++ {
		out = Slug(text)
	}
}

func BenchmarkJoin(b *testing.B) {
	for i := 0; i < b.N; i++ {
		out = Join(words)
	}
}

func BenchmarkVowels(b *testing.B) {
	for i := 0; i < b.N; i++ {
		count = Vowels(text)
	}
}
