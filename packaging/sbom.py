"""Prints the bill of materials of a program in CycloneDX 1.5: python3 packaging/sbom.py TRIPLE PROGRAM

Components are the crates that Cargo.lock pins and the program links or is built with on this target, with their digests and
licenses. The same lock file and program give the same bytes.
"""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time
import tomllib
import uuid

triple, program = sys.argv[1:]
root = pathlib.Path(__file__).parent.parent
command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", triple]
metadata = json.loads(subprocess.check_output(command, cwd=root))
packages = {package["id"]: package for package in metadata["packages"]}
nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
lock = tomllib.loads((root / "Cargo.lock").read_text())
digests = {(p["name"], p["version"]): p["checksum"] for p in lock["package"] if "checksum" in p}
start = metadata["resolve"]["root"]


def needed(crate):
    """Crates that a crate is linked or built with, without those of its tests."""
    kinds = lambda dependency: {kind["kind"] for kind in dependency["dep_kinds"]}
    return sorted({d["pkg"] for d in nodes[crate]["deps"] if kinds(d) & {None, "build"}}, key=url)


def url(crate):
    return "pkg:cargo/{name}@{version}".format(**packages[crate])


def component(crate, kind):
    package = packages[crate]
    described = {"type": kind, "bom-ref": url(crate), "purl": url(crate)}
    described |= {key: package[key] for key in ("name", "version")}
    if package["license"]:
        # Some old crates separate licenses by a slash.
        described["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    digest = digests.get((package["name"], package["version"]))
    if digest:
        described["hashes"] = [{"alg": "SHA-256", "content": digest}]
    return described


reached, left = set(), [start]
while left:
    crate = left.pop()
    if crate not in reached:
        reached.add(crate)
        left += needed(crate)
crates = sorted(reached, key=url)
digest = hashlib.sha256(pathlib.Path(program).read_bytes()).hexdigest()
own = component(start, "application")
own["hashes"] = [{"alg": "SHA-256", "content": digest}]
print(json.dumps({
    "bomFormat": "CycloneDX",
    "specVersion": "1.5",
    "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}",
    "version": 1,
    "metadata": {
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", 0)))),
        "component": own,
        "properties": [{"name": "cargo:target", "value": triple}],
    },
    "components": [component(crate, "library") for crate in crates if crate != start],
    "dependencies": [{"ref": url(crate), "dependsOn": [url(d) for d in needed(crate)]} for crate in crates],
}, indent=1))
