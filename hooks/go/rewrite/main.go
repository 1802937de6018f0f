// Command duetrewrite rewrites the b.N loops of Go benchmarks, so that the hook can run them in slices without
// repeating their set-up:
//
//	for i := 0; i < b.N; i++ {    becomes    for i := 0; i < b.N || b.DuetMore(); i++ {
//
// It reads a JSON request from standard input and writes copies of the files that changed; what it did, and what it
// refused to touch and why, goes to standard output as JSON. A refused benchmark is still measured, by calling it
// again for every slice.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

type request struct {
	Files []struct {
		Path string `json:"path"`
		Out  string `json:"out"`
	} `json:"files"`
}

type response struct {
	Files       []fileResult            `json:"files"`
	Definitions map[string][]definition `json:"definitions"` // by folder
}

type fileResult struct {
	Path       string    `json:"path"`
	Out        string    `json:"out"`
	Benchmarks []string  `json:"benchmarks"`
	Rewritten  int       `json:"rewritten"`
	Refused    []refusal `json:"refused"`
	Changed    bool      `json:"changed"` // only then was out written
	Error      string    `json:"error"`
}

type refusal struct {
	Function string `json:"function"`
	Line     int    `json:"line"`
	Reason   string `json:"reason"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "duetrewrite:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	var asked request
	if err := json.NewDecoder(in).Decode(&asked); err != nil {
		return fmt.Errorf("cannot read the request: %w", err)
	}
	results := make([]fileResult, len(asked.Files))
	units := make([]*unit, len(asked.Files))
	for i, f := range asked.Files {
		results[i] = fileResult{Path: f.Path, Out: f.Out, Benchmarks: []string{}, Refused: []refusal{}}
		source, err := os.ReadFile(f.Path)
		if err == nil {
			units[i], err = parseUnit(f.Path, source)
		}
		if err != nil {
			results[i].Error = err.Error()
		}
	}
	markRefused(units)
	for i, u := range units {
		if u == nil {
			continue
		}
		r := &results[i]
		text := u.rewrite(r)
		r.Changed = r.Rewritten > 0
		if r.Changed {
			if err := write(r.Out, text); err != nil {
				r.Error, r.Changed = err.Error(), false
			}
		}
	}
	answer := json.NewEncoder(out)
	answer.SetIndent("", " ")
	return answer.Encode(response{results, definitionsOf(units)})
}

func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}
