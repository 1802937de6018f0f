package demo

import (
	"strconv"
	"testing"
)

var (
	hashed  uint64
	counted map[string]int
	joined  string
)

func BenchmarkHash(b *testing.B) {
	for i := 0; i < b.N; i++ {
		hashed = Hash(hashed + 1)
	}
}

func BenchmarkCount(b *testing.B) {
	words := make([]string, 200)
	for i := range words {
		words[i] = "word" + strconv.Itoa(i%40)
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		counted = Count(words)
	}
}

func BenchmarkJoin(b *testing.B) {
	numbers := make([]int, 100)
	for i := range numbers {
		numbers[i] = i * i
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		joined = Join(numbers)
	}
}
