package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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

// packedRelease is a tarball with a program in it.
func packedRelease(t *testing.T) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	text := []byte("#!/bin/sh\n")
	header := &tar.Header{Name: "duetbench-1.2.3/duet", Mode: 0o755, Size: int64(len(text)), Typeflag: tar.TypeReg}
	if err := archive.WriteHeader(header); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write(text); err != nil {
		t.Fatal(err)
	}
	archive.Close()
	zipped.Close()
	return packed.Bytes()
}

func TestAFolderThatWasClearedOutIsInstalledAgain(t *testing.T) {
	packed := packedRelease(t)
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		answer.Write(packed)
	}))
	defer server.Close()
	t.Setenv(mirrorVariable, server.URL)
	sum := sha256.Sum256(packed)
	one := release{"duetbench.tar.gz", hex.EncodeToString(sum[:]), "1.2.3"}
	folder := filepath.Join(t.TempDir(), "releases", one.sum)
	program := filepath.Join(folder, "duet")
	for i := 0; i < 2; i++ {
		if err := install(one, folder); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(program); err != nil {
			t.Fatal(err)
		}
		// Something is left, so that the folder cannot be taken for a new one.
		if err := os.Rename(program, filepath.Join(folder, "other")); err != nil {
			t.Fatal(err)
		}
	}
}
