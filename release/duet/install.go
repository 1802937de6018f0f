package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

const (
	home = "https://github.com/duetbench/duetbench/releases"
	// bytesMax is more than any release has, and less than what would fill a disk.
	bytesMax = 200 << 20
)

// install puts the programs of a release into a folder, which is there completely or not at all.
func install(one release, folder string) error {
	packed, err := fetch(one)
	if err != nil {
		return err
	}
	found := sha256.Sum256(packed)
	if hex.EncodeToString(found[:]) != one.sum {
		return fmt.Errorf("the sum of %s is %x, and the launcher was made for %s: nothing was installed", one.name, found, one.sum)
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(folder), "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := unpack(packed, work); err != nil {
		return fmt.Errorf("%s: %w", one.name, err)
	}
	err = os.Rename(work, folder)
	if errors.Is(err, os.ErrExist) {
		// Where somebody else was faster, theirs is as good. A folder that was cleared out is not.
		if _, missing := os.Stat(filepath.Join(folder, "duet")); missing == nil {
			return nil
		}
		if err = os.RemoveAll(folder); err == nil {
			err = os.Rename(work, folder)
		}
	}
	return err
}

// fetch gives the bytes of a release.
func fetch(one release) ([]byte, error) {
	mirror := os.Getenv(mirrorVariable)
	if mirror == "" {
		mirror = home
	}
	address := mirror + "/download/v" + one.version + "/" + one.name
	fmt.Fprintln(os.Stderr, "duet: fetching", address)
	client := http.Client{Timeout: 5 * time.Minute}
	answer, err := client.Get(address)
	if err != nil {
		return nil, fmt.Errorf("cannot fetch the release: %w\nhint: %s names another place", err, mirrorVariable)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("cannot fetch %s: %s", address, answer.Status)
	}
	return io.ReadAll(io.LimitReader(answer.Body, bytesMax))
}

// unpack writes the programs of a tarball into a folder.
func unpack(packed []byte, folder string) error {
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	for files := tar.NewReader(plain); ; {
		entry, err := files.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		// The folder is ours; names of an archive decide nothing but the last part.
		name := path.Base(entry.Name)
		if entry.Typeflag != tar.TypeReg || !strings.HasPrefix(name, "duet") {
			continue
		}
		content, err := io.ReadAll(io.LimitReader(files, bytesMax))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o755); err != nil {
			return err
		}
	}
}
