"""Changes of a Go package that change the speed of none of its benchmarks: patches of text that fit any package.

Each one is applied to the packages of a copy of a module. What it adds is not called by any benchmark; `init` keeps it in the
binary. What changes is where the linker puts the rest.
"""

import hashlib
import re
import struct

from study import Failed, run

ADDED = "duet_added.go"


def added(package, imports, body):
    """A new file of the package, as a text."""
    return f"package {package}\n\n" + "".join(f'import "{name}"\n' for name in imports) + body


def function(directory, package):
    """a new exported function in a new file, called once from `init`"""
    write(directory, added(package, [], """
var duetAdded = DuetAdded(3)

func init() { duetAdded += DuetAdded(4) }

//go:noinline
func DuetAdded(n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		sum += i * n
	}
	return sum
}
"""))


def big(directory, package, statements=400, name=ADDED):
    """a big new function, kept by a package variable that `init` sets"""
    lines = "".join(f"\tif x[{i}%len(x)] > {i * 7} {{\n\t\tx[{i * 3}%len(x)] ^= x[0] + {i}\n\t}}\n" for i in range(statements))
    write(directory, added(package, [], f"""
var DuetBig func([]int)

func init() {{ DuetBig = duetBig }}

func duetBig(x []int) {{
{lines}}}
"""), name)


def test(directory, package):
    """a new test function in a new `_test.go` file"""
    write(directory, added(package, ["testing"], """
func TestDuetAdded(t *testing.T) {
	for i := 0; i < 3; i++ {
		if i*i > 9 {
			t.Errorf("%d is too much", i)
		}
	}
}
"""), "duet_added_test.go")


def methods(directory, package):
    """a new type with ten methods, assigned to an interface variable in `init`"""
    names = [f"Duet{number}" for number in range(10)]
    signatures = "".join(f"\t{name}() int\n" for name in names)
    bodies = "".join(f"\nfunc (d *duetType) {name}() int {{ d.n += {i}; return d.n }}\n" for i, name in enumerate(names))
    write(directory, added(package, [], f"""
type duetType struct{{ n int }}
{bodies}
var DuetMethods interface {{
{signatures}}}

func init() {{ DuetMethods = &duetType{{}} }}
"""))


def big_table(directory, package):
    """a large initialised table, read in `init`"""
    values = "".join(f"\t{i * 2654435761 % 2**32},\n" for i in range(4096))
    write(directory, added(package, ["os"], f"""
var duetTable = [...]uint64{{
{values}}}

var DuetRead uint64

func init() {{ DuetRead = duetTable[len(os.Args)%len(duetTable)] }}
"""))


def strings(directory, package):
    """two hundred string constants, used in `init`"""
    values = "".join(f'\tduetString{i} = "an added string, number {i}, {"x" * (i % 50)}"\n' for i in range(200))
    uses = "".join(f"\t\tduetString{i},\n" for i in range(200))
    write(directory, added(package, [], f"""
const (
{values})

var DuetStrings []string

func init() {{
	DuetStrings = append(DuetStrings,
{uses}	)
}}
"""))


def order(directory, package):
    """the functions of the largest file in the opposite order"""
    turn_round(max(sources(directory), key=lambda path: path.stat().st_size), r"(?ms)^(?://[^\n]*\n)*func [^\n]*\{\n.*?^\}\n")


def turn_round(file, pattern):
    """Puts what matches into the opposite order, and leaves what is between where it is."""
    text = file.read_text()
    items, parts, end = list(re.finditer(pattern, text)), [], 0
    for old, new in zip(items, reversed(items)):
        parts += [text[end:old.start()], new[0]]
        end = old.end()
    file.write_text("".join(parts) + text[end:])


def imported(directory, package):
    """an import of `encoding/xml`, used in `init`"""
    write(directory, added(package, ["encoding/xml"], """
var DuetXML []byte

func init() { DuetXML, _ = xml.Marshal(3) }
"""))


def generic(directory, package):
    """a generic function with two instances"""
    # The constraint lets a file of an old module have a newer language.
    write(directory, "//go:build go1.21\n\n" + added(package, [], """
//go:noinline
func duetGeneric[T int | string](values []T) (sum T) {
	for _, value := range values {
		sum += value
	}
	return sum
}

var (
	DuetInt    = duetGeneric([]int{1, 2})
	DuetString = duetGeneric([]string{"a", "b"})
)
"""))


def once(directory, package):
    """a `sync.Once` with a closure, done in `init`"""
    write(directory, added(package, ["sync"], """
var (
	duetOnce  sync.Once
	DuetValue int
)

func init() {
	n := len(duetStrings)
	duetOnce.Do(func() { DuetValue += n })
}

var duetStrings = []string{"a", "b"}
"""))


def method(directory, package):
    """a new method of an exported struct type of the package"""
    texts = "".join(path.read_text() for path in sources(directory))
    found = re.search(r"(?m)^type ([A-Z]\w*) struct\b", texts)
    if not found:
        raise Failed(f"no exported struct type in {directory}")
    name = found[1]
    write(directory, added(package, [], f"""
var DuetMethod func(*{name}, int) int

func init() {{ DuetMethod = (*{name}).DuetAdded }}

func (x *{name}) DuetAdded(n int) int {{
	for x != nil && n < 1000 {{
		n += n
	}}
	return n
}}
"""))


def comment(directory, package):
    """comment lines at the top of every file: nothing but line numbers differs"""
    for path in sources(directory):
        path.write_text("// An added comment.\n// Its second line.\n\n" + path.read_text())


KINDS = {"function": function, "big": big, "test": test, "methods": methods, "table": big_table, "strings": strings,
         "order": order, "import": imported, "generic": generic, "once": once, "method": method, "comment": comment}


def apply(kind, project, packages):
    """Patches every package of a copy; one without sources besides tests can only get a test."""
    for package in packages:
        if kind == "test" or sources(project / package):
            KINDS[kind](project / package, package_name(project / package))


def sources(directory):
    """The package's files that are not tests, in order."""
    return sorted(path for path in directory.glob("*.go") if not path.name.endswith("_test.go") and path.name != ADDED)


def package_name(directory):
    """The package's name. A file that is left out of builds may have another one."""
    texts = (path.read_text() for path in sources(directory) or sorted(directory.glob("*.go")))
    return next(re.search(r"(?m)^package (\w+)", text)[1] for text in texts if "//go:build ignore" not in text)


def write(directory, text, name=ADDED):
    (directory / name).write_text(text)


def differences(base, head, packages):
    """The difference between the test binaries of two directories: for each package `nothing`, `not the code` or `code`."""
    return {package: difference(plain_binary(base / package), plain_binary(head / package)) for package in packages}


def plain_binary(directory):
    """A test binary that does not depend on its directory nor names its build."""
    target = directory / "compared.test"
    run(["go", "test", "-c", "-vet=off", "-trimpath", "-buildvcs=false", "-ldflags=-buildid=", "-o", target, "."], directory)
    content = target.read_bytes()
    target.unlink()
    return content


def difference(base, head):
    if base == head:
        return "nothing"
    return "not the code" if digest_of_code(base) == digest_of_code(head) else "code"


def digest_of_code(binary):
    """A digest of the section `.text` of a 64-bit ELF file, with its address."""
    table, = struct.unpack_from("<Q", binary, 0x28)
    size, count, names = struct.unpack_from("<HHH", binary, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", binary, table + number * size) for number in range(count)]
    names_at = headers[names][4]
    for name, _, _, address, offset, length in headers:
        if binary.startswith(b".text\0", names_at + name):
            return hashlib.sha256(binary[offset:offset + length]).hexdigest(), address
    raise Failed("a test binary without code")
