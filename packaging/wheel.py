"""Packs the program as a wheel: python3 packaging/wheel.py PROGRAM ARCH VERSION FOLDER

The wheel's tag names the newest glibc that the program or a worker in it asks for. The same input gives the same bytes.
"""

import base64
import hashlib
import os
import pathlib
import re
import sys
import time
import tomllib
import zipfile

MOST_BYTES = 15 * 10**6

program, arch, version, folder = sys.argv[1:]
root = pathlib.Path(__file__).parent.parent
manifest = tomllib.loads((root / "Cargo.toml").read_text())
workspace, package = manifest["workspace"]["package"], manifest["package"]
content = pathlib.Path(program).read_bytes()
# The workers are in the program as they are, with their tables of symbol versions.
versions = {tuple(map(int, found.split(b"."))) for found in re.findall(rb"\bGLIBC_(2\.\d+)\b", content)}
tag = "py3-none-manylinux_%d_%d_%s" % (*max(versions), arch)
when = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800))[:6]

metadata = f"""\
Metadata-Version: 2.4
Name: pagewise
Version: {version}
Summary: {package["description"]}
License-Expression: {workspace["license"]}
License-File: LICENSE-APACHE
License-File: LICENSE-MIT
Keywords: {",".join(workspace["keywords"])}
Classifier: Environment :: Console
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: System :: Benchmark
Project-URL: Source, {workspace["repository"]}
Requires-Python: >=3.7
Description-Content-Type: text/markdown

""" + (root / "README.md").read_text()

info, data = f"pagewise-{version}.dist-info", f"pagewise-{version}.data"
files = {f"{data}/scripts/pagewise": content}
for source in sorted((root / "packaging/python/pagewise").iterdir()):
    if source.is_file():
        files[f"pagewise/{source.name}"] = source.read_bytes()
for page in sorted((root / "target/package/man").iterdir()):
    files[f"{data}/data/share/man/man1/{page.name}"] = page.read_bytes()
for shell, place in [
    ("bash", "bash-completion/completions/pagewise"),
    ("zsh", "zsh/site-functions/_pagewise"),
    ("fish", "fish/vendor_completions.d/pagewise.fish"),
]:
    completion = root / f"target/package/completions/pagewise.{shell}"
    files[f"{data}/data/share/{place}"] = completion.read_bytes()
for text in ["LICENSE-APACHE", "LICENSE-MIT"]:
    files[f"{info}/licenses/{text}"] = (root / text).read_bytes()
files[f"{info}/METADATA"] = metadata.encode()
files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: packaging/wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()


def record(path, bytes):
    digest = base64.urlsafe_b64encode(hashlib.sha256(bytes).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(bytes)}\n"


lines = [record(path, bytes) for path, bytes in files.items()]
files[f"{info}/RECORD"] = "".join(lines + [f"{info}/RECORD,,\n"]).encode()
wheel = pathlib.Path(folder) / f"pagewise-{version}-{tag}.whl"
with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for path, bytes in files.items():
        entry = zipfile.ZipInfo(path, when)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if "/scripts/" in path else 0o100644) << 16
        archive.writestr(entry, bytes)
size = wheel.stat().st_size
print(f"{wheel}: {size / 1e6:.1f} MB, glibc {max(versions)[0]}.{max(versions)[1]}")
sys.exit(size > MOST_BYTES and f"it is larger than {MOST_BYTES / 1e6:.0f} MB")
