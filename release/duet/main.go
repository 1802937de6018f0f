// Command duet starts the duet of the release whose sums are compiled in: it fetches the program once, checks it, keeps it in the
// user's cache, and becomes it.
//
//	go run github.com/duetbench/duetbench/release/duet@latest compare
//	go get -tool github.com/duetbench/duetbench/release/duet@latest && go tool duet compare
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

//go:embed release.sums
var sums string

// mirrorVariable names another place than GitHub where releases lie. It does not begin with DUET_, because duet refuses variables it
// does not know.
const mirrorVariable = "DUETBENCH_MIRROR"

func main() {
	err := start()
	fmt.Fprintln(os.Stderr, "duet:", err)
	os.Exit(1)
}

// start becomes duet; it returns only if that fails.
func start() error {
	one, err := find(sums, runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("no place to keep the program: %w", err)
	}
	folder := filepath.Join(cache, "duet", "releases", one.sum)
	program := filepath.Join(folder, "duet")
	if _, err := os.Stat(program); err != nil {
		if err := install(one, folder); err != nil {
			return err
		}
	}
	err = syscall.Exec(program, append([]string{"duet"}, os.Args[1:]...), os.Environ())
	if errors.Is(err, syscall.ENOENT) {
		return fmt.Errorf("%s does not run here: the programs of a release need glibc 2.17 or later, which a system with musl lacks", program)
	}
	return err
}

// release is a tarball of this platform.
type release struct{ name, sum, version string }

// find gives the release for a platform among lines that `sha256sum` wrote.
func find(sums, system, processor string) (release, error) {
	names := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}
	if system != "linux" {
		return release{}, fmt.Errorf("duet runs on Linux, and this is %s", system)
	}
	ending := "-" + names[processor] + "-unknown-linux-gnu.tar.gz"
	for _, line := range strings.Split(sums, "\n") {
		sum, name, ok := strings.Cut(line, "  ")
		version := strings.TrimSuffix(strings.TrimPrefix(name, "duetbench-"), ending)
		if ok && len(sum) == 64 && strings.HasSuffix(name, ending) {
			return release{name, sum, version}, nil
		}
	}
	return release{}, fmt.Errorf("this version of the launcher knows no release for linux/%s\nhint: name a released version, as in `@v0.1.0`", processor)
}
