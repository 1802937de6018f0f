package sums

import (
	"fmt"
	"testing"
)

func BenchmarkSum(b *testing.B) {
	for _, size := range []int{10, 100} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			b.SetBytes(int64(8 * size))
			b.ReportAllocs()
			sum := 0
			for b.Loop() {
				for i := range size {
					sum += i
				}
			}
			b.ReportMetric(float64(size), "terms/op")
		})
	}
}
