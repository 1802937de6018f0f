//go:build duet_linker

package ld

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A recorded link is all that another link of the same program takes: arguments, variables, and the pieces that the go command
// removes afterwards. duet links by it without asking the go command, which takes as long as the linker itself.

// duetLinkFolder is where this link is recorded; empty: nowhere.
var duetLinkFolder = os.Getenv("DUET_LAYOUT_LINK")

func init() {
	if duetLinkFolder != "" {
		duetNotes = append(duetNotes, func(*Link) {
			if duetRecordLink() != nil {
				// Without its arguments nothing goes by it.
				os.Remove(filepath.Join(duetLinkFolder, "arguments"))
			}
		})
	}
}

// duetRecordLink writes the variables of the go command and the arguments, without the output and with the program last, each
// with a zero byte after it.
func duetRecordLink() error {
	if err := os.MkdirAll(duetLinkFolder, 0o700); err != nil {
		return err
	}
	var variables, arguments duetList
	for _, variable := range os.Environ() {
		if strings.HasPrefix(variable, "GO") {
			variables.add(variable)
		}
	}
	var pieces duetPieces
	for args := os.Args[1 : len(os.Args)-flag.NArg()]; len(args) > 0; args = args[1:] {
		switch {
		case args[0] == "-o" && len(args) > 1:
			args = args[1:]
		case args[0] == "-importcfg" && len(args) > 1:
			arguments.add(args[0])
			args = args[1:]
			arguments.add(pieces.importcfg(args[0]))
		default:
			arguments.add(args[0])
		}
	}
	arguments.add(pieces.keep(flag.Arg(0)))
	if pieces.err != nil {
		return pieces.err
	}
	if err := os.WriteFile(filepath.Join(duetLinkFolder, "variables"), variables, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(duetLinkFolder, "arguments"), arguments, 0o600)
}

type duetList []byte

func (l *duetList) add(s string) { *l = append(append(*l, s...), 0) }

// duetPieces are files of the go command's working directory, kept beyond its end.
type duetPieces struct {
	// work is that directory; the program itself may come from a cache.
	work string
	kept int
	err  error
}

// keep gives a piece another name, by which it stays; a file from elsewhere stays by itself.
func (p *duetPieces) keep(file string) string {
	if filepath.Dir(filepath.Dir(file)) != p.work {
		return file
	}
	name := filepath.Join(duetLinkFolder, strconv.Itoa(p.kept)+".a")
	p.kept++
	os.Remove(name)
	if os.Link(file, name) == nil {
		return name
	}
	data, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(name, data, 0o600)
	}
	if err != nil {
		p.err = err
	}
	return name
}

// importcfg copies the list of packages, which lies in a folder of the working directory, with the pieces at their new names.
func (p *duetPieces) importcfg(file string) string {
	p.work = filepath.Dir(filepath.Dir(file))
	data, err := os.ReadFile(file)
	if err != nil {
		p.err = err
		return file
	}
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		if path, archive, found := strings.Cut(line, "="); found && strings.HasPrefix(line, "packagefile ") {
			lines[i] = path + "=" + p.keep(archive)
		}
	}
	name := filepath.Join(duetLinkFolder, "importcfg")
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		p.err = err
	}
	return name
}
