package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func (c *toolchain) testList(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	cmd := exec.Command(c.binary, "-test.run", "^$", "-test.bench", ".")
	cmd.Dir = "testdata/sample"
	cmd.Env = append(os.Environ(), "DUET_LIST="+path, "GOMAXPROCS=2")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(path)
	must(t, err)
	ends := map[string]string{"BenchmarkSub": "parent", "BenchmarkSkipped": "skip", "BenchmarkGoesWrong": "parent"}
	starts, leaves := map[string]int{}, map[string][]string{}
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		fields := strings.Split(line, "\t")
		switch {
		case fields[0] == "start" && len(fields) == 2:
			starts[fields[1]]++
		case fields[0] == "leaf" && len(fields) == 8:
			leaves[fields[1]] = fields[2:]
		case len(fields) == 3 && fields[0] == ends[fields[1]]:
		default:
			t.Errorf("strange line %q", line)
		}
	}
	for name, style := range c.styles() {
		if starts[name] != 1 || len(leaves[name]) == 0 || leaves[name][0] != style || leaves[name][4] != "2" {
			t.Errorf("%s: %d starts, leaf %q", name, starts[name], leaves[name])
		}
	}
	for parent := range ends {
		if starts[parent] != 1 || leaves[parent] != nil {
			t.Errorf("%s: %d starts, leaf %q", parent, starts[parent], leaves[parent])
		}
	}
	for name, resets := range map[string]string{"BenchmarkReset": "1", "BenchmarkRecall": "0", "BenchmarkSetup": "0"} {
		if leaf := leaves[name]; leaf[5] != resets || leaf[2] != "142" && name == "BenchmarkReset" {
			t.Errorf("%s: leaf %q", name, leaf)
		}
	}
	if ns, _ := strconv.Atoi(leaves["BenchmarkFew"][1]); ns < 5_000 || ns > 50_000_000 {
		t.Errorf("BenchmarkFew took %d ns", ns)
	}
	c.testListOfADyingProcess(t)
}

func (c *toolchain) testListOfADyingProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	cmd := exec.Command(c.binary, "-test.run", "^$", "-test.bench", "Sub|Plain|AtOnce|Parallel")
	cmd.Env = append(os.Environ(), "DUET_LIST="+path, "SAMPLE_FAIL=1")
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("it did not fail\n%s", out)
	}
	text, err := os.ReadFile(path)
	must(t, err)
	if !strings.Contains(string(text), "start\tBenchmarkAtOnce\n") || strings.Contains(string(text), "leaf\tBenchmarkAtOnce") {
		t.Errorf("list is\n%s", text)
	}
}
