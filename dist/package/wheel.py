"""Makes a Python wheel of a distribution: a zip archive whose bytes depend on nothing but the files.

usage: wheel.py DISTRIBUTION PYTHON_SOURCES VERSION GLIBC ARCH FOLDER LEVEL
    LEVEL    how hard to compress, 0 to 9
"""

import base64
import hashlib
import os
import pathlib
import sys
import zipfile

PACKAGE = "trigon_nccl"
TIME = (2020, 1, 1, 0, 0, 0)
METADATA = """\
Metadata-Version: 2.1
Name: trigon-nccl
Version: {version}
Summary: NCCL network plugin for machines that are cabled directly to each other
License: {licences}
Requires-Python: >=3.8
"""
WHEEL = """\
Wheel-Version: 1.0
Generator: trigon
Root-Is-Purelib: false
Tag: {tag}
"""
ENTRY_POINTS = """\
[console_scripts]
trigon = trigon_nccl:main

[vllm.general_plugins]
trigon = trigon_nccl:enable

[sglang.srt.plugins]
trigon = trigon_nccl:enable
"""


def python_version(version):
    """Python's word for a version that is not released yet."""
    return version.replace("-SNAPSHOT", ".dev0")


class Wheel:
    """The archive, and its list of what is in it."""

    def __init__(self, path, level):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.level = level
        self.records = []

    def add(self, name, content, executable=False):
        info = zipfile.ZipInfo(name, TIME)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = (0o100755 if executable else 0o100644) << 16
        self.zip.writestr(info, content, compresslevel=self.level)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.records.append(f"{name},sha256={digest},{len(content)}")

    def close(self, record):
        self.records.append(f"{record},,")
        self.add(record, ("\n".join(self.records) + "\n").encode())
        self.zip.close()


def main():
    distribution, sources, version, glibc, arch, folder, level = sys.argv[1:]
    version = python_version(version)
    licences = pathlib.Path(distribution, "THIRD-PARTY.txt").read_text().splitlines()[-1]  # an SPDX expression
    tag = f"py3-none-manylinux_{glibc.replace('.', '_')}_{arch}"
    path = pathlib.Path(folder, f"{PACKAGE}-{version}-{tag}.whl")
    information = f"{PACKAGE}-{version}.dist-info"
    wheel = Wheel(f"{path}.new", int(level))
    for source in sorted(pathlib.Path(sources, PACKAGE).glob("*.py")):
        wheel.add(f"{PACKAGE}/{source.name}", source.read_bytes())
    for file in sorted(pathlib.Path(distribution).rglob("*")):
        if file.name in ("libnccl-tuner-trigon.so", "librccl-net-trigon.so"):
            continue  # a copy in the link's place would be another library: settings name the first one
        if file.is_file():  # what a link leads to: a wheel has no links
            name = f"{PACKAGE}/distribution/{file.relative_to(distribution)}"
            wheel.add(name, file.read_bytes(), os.access(file, os.X_OK))
    wheel.add(f"{information}/METADATA", METADATA.format(version=version, licences=licences).encode())
    wheel.add(f"{information}/WHEEL", WHEEL.format(tag=tag).encode())
    wheel.add(f"{information}/entry_points.txt", ENTRY_POINTS.encode())
    wheel.add(f"{information}/LICENSE", pathlib.Path(distribution, "LICENSE").read_bytes())
    wheel.close(f"{information}/RECORD")
    os.replace(f"{path}.new", path)
    print(path)


if __name__ == "__main__":
    main()
