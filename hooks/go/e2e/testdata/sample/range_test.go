//go:build go1.22

package sample

import "testing"

func BenchmarkRange(b *testing.B) {
	defer note(b)()
	for range b.N {
		seen.Calls++
		work(100)
	}
}
