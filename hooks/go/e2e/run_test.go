package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

const hangs = 5 * time.Minute // longer than any of these processes should take

// ended is what a side left behind.
type ended struct {
	code   int
	output string
	report struct {
		Setups   int
		Calls    int64
		Cleanups int
		N        int
		Cores    uint64
	}
}

// exactly is a -test.bench pattern for one benchmark.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// side prepares a process that takes part in a trial.
func (c *toolchain) side(t *testing.T, p *page, side int, bench string, environment ...string) *exec.Cmd {
	cmd := exec.Command(c.binary, "-test.run", "^$", "-test.bench", exactly(bench), "-test.timeout", "4m")
	cmd.Dir = "testdata/sample"
	cmd.Env = append(os.Environ(), "DUET_PAGE="+p.path, fmt.Sprintf("DUET_SIDE=%d", side), "DUET_BENCH="+bench,
		"SAMPLE_REPORT="+filepath.Join(t.TempDir(), "report"))
	cmd.Env = append(cmd.Env, environment...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// run runs sides to their end and marks those that have ended, as the controller must. Cores are bits of a mask.
func run(t *testing.T, p *page, cores uint64, sides ...*exec.Cmd) []ended {
	t.Helper()
	runtime.LockOSThread() // for Pdeathsig and for the cores, which children inherit
	defer runtime.UnlockOSThread()
	before := affinity(t, 0)
	affinity(t, cores)
	results := make([]ended, len(sides))
	over := make(chan int, len(sides))
	for i, cmd := range sides {
		i, cmd := i, cmd
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		must(t, cmd.Start())
		go func() {
			cmd.Wait()
			p.gone(i)
			results[i].code, results[i].output = cmd.ProcessState.ExitCode(), out.String()
			over <- i
		}()
	}
	affinity(t, before)
	limit := time.After(hangs)
	for range sides {
		select {
		case <-over:
		case <-limit:
			for _, cmd := range sides {
				cmd.Process.Kill()
			}
			t.Fatal("a side hangs")
		}
	}
	for i, cmd := range sides {
		for _, e := range cmd.Env {
			if strings.HasPrefix(e, "SAMPLE_REPORT=") {
				text, _ := os.ReadFile(strings.TrimPrefix(e, "SAMPLE_REPORT="))
				json.Unmarshal(text, &results[i].report)
			}
		}
	}
	return results
}

// affinity sets the cores of this thread, if any are given, and returns those it had.
func affinity(t *testing.T, cores uint64) uint64 {
	t.Helper()
	var had [128]uint64
	syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(had), uintptr(unsafe.Pointer(&had)))
	if cores != 0 {
		_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, 8, uintptr(unsafe.Pointer(&cores)))
		if errno != 0 {
			t.Fatal(errno)
		}
	}
	return had[0]
}

// coresFor gives an interleaved trial and a solo one core, a duet two.
func coresFor(mode uint64) uint64 {
	if mode == modeDuet {
		return 3
	}
	return 2
}

// trial runs a benchmark on both sides (one, in a solo) and fails unless all went well.
func (c *toolchain) trial(t *testing.T, mode uint64, bench string, changes record, environment ...string) (*page, []ended) {
	t.Helper()
	p := newPage(t, mode, changes)
	if mode == modeDuet { // a side has one core; what comes later in the list wins
		environment = append([]string{"GOMAXPROCS=1"}, environment...)
	}
	sides := []*exec.Cmd{c.side(t, p, 0, bench, environment...)}
	if mode != modeSolo {
		sides = append(sides, c.side(t, p, 1, bench, environment...))
	}
	results := run(t, p, coresFor(mode), sides...)
	for i, r := range results {
		s := p.side(i)
		if r.code != 0 || s["left_early"] != 0 || s["records"] == 0 {
			t.Fatalf("side %d: code %d, page %v\n%s", i, r.code, s, r.output)
		}
	}
	return p, results
}
