"""Archives whose bytes depend on nothing but their content: sorted, of nobody, of one time."""

import gzip
import io
import tarfile
import time
import zipfile
from dataclasses import dataclass

from project import epoch


@dataclass(frozen=True)
class Entry:
    """A file in an archive: its name there, its bytes, and whether it is a program. A link has the name of its target instead."""

    name: str
    content: bytes = b""
    program: bool = False
    link: str = ""


def tar_gz(entries, with_folders=False):
    """A packed tarball, with an entry for each folder where a package manager wants that."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9, mtime=epoch(), filename="") as stream:
        with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for folder in sorted(folders(entries)) if with_folders else []:
                tar.addfile(header(folder, tarfile.DIRTYPE, 0o755))
            for entry in sorted(entries, key=lambda entry: entry.name):
                kind = tarfile.SYMTYPE if entry.link else tarfile.REGTYPE
                info = header(entry.name, kind, 0o755 if entry.program or entry.link else 0o644)
                info.size, info.linkname = len(entry.content), entry.link
                tar.addfile(info, io.BytesIO(entry.content))
    return packed.getvalue()


def header(name, kind, mode):
    """The head of an entry, owned by nobody in particular."""
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.mtime, info.uname, info.gname = kind, mode, epoch(), "root", "root"
    return info


def folders(entries):
    """Every folder above an entry."""
    parts = [entry.name.split("/")[:-1] for entry in entries]
    return {"/".join(part[: end + 1]) for part in parts for end in range(len(part))} - {"."}


def zip_file(entries):
    """A zip file, in the order that is given."""
    packed = io.BytesIO()
    # The format knows no time before 1980 and no zone.
    moment = time.gmtime(max(epoch(), 315532800))[:6]
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for entry in entries:
            info = zipfile.ZipInfo(entry.name, moment)
            info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 3
            info.external_attr = (0o100755 if entry.program else 0o100644) << 16
            archive.writestr(info, entry.content)
    return packed.getvalue()


def ar(members):
    """A Unix archive, as Debian's packages are."""
    packed = b"!<arch>\n"
    for name, content in members:
        packed += f"{name:<16}{epoch():<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode()
        packed += content + b"\n" * (len(content) % 2)
    return packed
