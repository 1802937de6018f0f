package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// This file does in Go what duet does in Rust: it adds the hook to package testing as anchors.json says,
// has the benchmarks rewritten, and builds the test binary.

type anchors struct {
	Target, Marker string
	Insertions     []struct {
		Anchor, Insert string
		Optional       bool
	}
	Files    []string
	Variants [][]struct {
		IfContains string `json:"if_contains"`
		File       string
	}
}

type toolchain struct {
	name   string
	root   string // GOROOT, outside the module cache
	binary string // the hooked test binary
}

func (c *toolchain) minor() int {
	minor := 0
	fmt.Sscanf(c.name, "go1.%d", &minor)
	return minor
}

func (c *toolchain) goCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.root, "bin", "go"), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOROOT="+c.root, "GOTOOLCHAIN=local", "GOFLAGS=-buildvcs=false", "GOWORK=off", "PWD="+dir)
	return cmd
}

// newToolchain finds the toolchain; "" is the one that runs the tests, others are fetched by the go command.
func newToolchain(t *testing.T, name string) *toolchain {
	t.Helper()
	cmd := exec.Command("go", "env", "GOROOT", "GOVERSION")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	if name != "" {
		cmd.Env = append(cmd.Env, "GOTOOLCHAIN="+name)
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	lines := strings.Fields(string(out))
	c := &toolchain{name: lines[1], root: lines[0]}
	// From Go 1.25 on files in the module cache must not be replaced, but that is where fetched toolchains are.
	if strings.Contains(c.root, "golang.org/toolchain@") {
		link := filepath.Join(t.TempDir(), c.name)
		must(t, os.Symlink(c.root, link))
		c.root = link
	}
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// hookFiles patches package testing and returns the overlay's replacements.
func (c *toolchain) hookFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	var a anchors
	text, err := os.ReadFile("../anchors.json")
	must(t, err)
	must(t, json.Unmarshal(text, &a))
	target := filepath.Join(c.root, a.Target)
	source, err := os.ReadFile(target)
	must(t, err)
	replace := map[string]string{}
	put := func(path, name, text string) {
		copied := filepath.Join(dir, name)
		must(t, os.WriteFile(copied, []byte(text), 0o600))
		replace[path] = copied
	}
	files := a.Files
	for _, variants := range a.Variants {
		for _, v := range variants {
			if v.IfContains == "" || bytes.Contains(source, []byte(v.IfContains)) {
				files = append(files, v.File)
				break
			}
		}
	}
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join("..", "hook", name))
		must(t, err)
		body := strings.TrimPrefix(string(text), "//go:build duet_hook\n\n")
		if !strings.HasPrefix(body, "package duethook\n") {
			t.Fatalf("%s does not begin as it should", name)
		}
		name = "duet_" + name
		put(filepath.Join(filepath.Dir(target), name), name, strings.Replace(body, "duethook", "testing", 1))
	}
	patched := string(source)
	for _, i := range a.Insertions {
		n := strings.Count(patched, i.Anchor)
		if n == 0 && i.Optional {
			continue
		}
		if n != 1 {
			t.Fatalf("anchor %q occurs %d times", i.Anchor, n)
		}
		line := bytes.Count(source[:bytes.Index(source, []byte(i.Anchor))], []byte("\n")) + 1 + strings.Count(i.Anchor, "\n")
		patched = strings.Replace(patched, i.Anchor, fmt.Sprintf("%s%s//line %s:%d\n", i.Anchor, i.Insert, target, line), 1)
	}
	put(target, "benchmark.go", patched)
	return replace
}

// rewriteSample has the benchmarks of the sample rewritten and adds them to the overlay.
func rewriteSample(t *testing.T, dir string, replace map[string]string) {
	t.Helper()
	tool := filepath.Join(dir, "duetrewrite")
	build := exec.Command("go", "build", "-o", tool, ".")
	build.Dir = "../rewrite"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	type file struct {
		Path      string `json:"path"`
		Out       string `json:"out"`
		Rewritten int    `json:"rewritten"`
		Changed   bool   `json:"changed"`
		Error     string `json:"error"`
	}
	var message struct {
		Files []file `json:"files"`
	}
	paths, err := filepath.Glob("testdata/sample/*_test.go")
	must(t, err)
	for i, path := range paths {
		path, err = filepath.Abs(path)
		must(t, err)
		message.Files = append(message.Files, file{Path: path, Out: filepath.Join(dir, fmt.Sprintf("%d.go", i))})
	}
	request, err := json.Marshal(message)
	must(t, err)
	run := exec.Command(tool)
	run.Stdin, run.Stderr = bytes.NewReader(request), os.Stderr
	answer, err := run.Output()
	must(t, err)
	must(t, json.Unmarshal(answer, &message))
	for _, f := range message.Files {
		if f.Error != "" {
			t.Fatal(f.Error)
		}
		if f.Changed {
			replace[f.Path] = f.Out
		}
	}
}

// build makes the hooked test binary of the sample.
func (c *toolchain) build(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	replace := c.hookFiles(t, dir)
	rewriteSample(t, dir, replace)
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	c.binary = filepath.Join(dir, "sample.test")
	sample, err := filepath.Abs("testdata/sample")
	must(t, err)
	args := []string{"test", "-c", "-vet=off", "-trimpath", "-overlay", filepath.Join(dir, "overlay.json"), "-o", c.binary, "."}
	if out, err := c.goCommand(sample, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", c.name, err, out)
	}
	linked, err := os.ReadFile(c.binary)
	must(t, err)
	if !bytes.Contains(linked, []byte("duet-hook-protocol-1")) {
		t.Fatal("the marker is not in the binary")
	}
}
