package main

import (
	"strings"
	"testing"
)

func TestAReleaseIsFoundByPlatform(t *testing.T) {
	sum := strings.Repeat("a", 64)
	sums := "# a remark\n" + sum + "  duetbench-1.2.3-x86_64-unknown-linux-gnu.tar.gz\n"
	one, err := find(sums, "linux", "amd64")
	if err != nil || one.version != "1.2.3" || one.sum != sum {
		t.Fatalf("%+v, %v", one, err)
	}
	for _, other := range [][2]string{{"darwin", "amd64"}, {"linux", "arm64"}, {"linux", "riscv64"}} {
		if _, err := find(sums, other[0], other[1]); err == nil {
			t.Errorf("%v has no release, and one was found", other)
		}
	}
}
