// Package demo is the small project that `duet demo` measures.
package demo

import "strconv"

// rounds is how often Hash mixes a word; the demo's slower version does 5 % more.
const rounds = 200

// Hash mixes a word thoroughly.
func Hash(word uint64) uint64 {
	for i := 0; i < rounds; i++ {
		word ^= word >> 33
		word *= 0xff51afd7ed558ccd
	}
	return word
}

// Count counts how often every word occurs.
func Count(words []string) map[string]int {
	counts := make(map[string]int, len(words))
	for _, word := range words {
		counts[word]++
	}
	return counts
}

// Join writes numbers into one line.
func Join(numbers []int) string {
	var line []byte
	for _, n := range numbers {
		line = strconv.AppendInt(line, int64(n), 10)
		line = append(line, ' ')
	}
	return string(line)
}
