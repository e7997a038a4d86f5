#!/usr/bin/env python3
"""Everything that is in the binaries, as CycloneDX 1.5: crates with version, licence, checksum, and who needs whom.

usage: scripts/sbom.py --version VERSION --time SECONDS > airbraid.cdx.json
Read from `cargo metadata` and Cargo.lock; crates that are only built or tested with are left out.
"""

import argparse
import datetime
import json
import subprocess
import tomllib
import uuid

ROOT = "airbraid-cli"
PLATFORM = "x86_64-unknown-linux-musl"
# C code that crates bring along: crate, name, version as the crate's build says it.
BUNDLED = {"libsqlite3-sys": ("sqlite", "blessing")}


def metadata():
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", PLATFORM]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def checksums():
    with open("Cargo.lock", "rb") as file:
        packages = tomllib.load(file)["package"]
    return {(one["name"], one["version"]): one.get("checksum") for one in packages}


def reached(graph, root):
    """The ids of all that the command links, from its root: macros run in the compiler alone."""
    macros = {
        package["id"] for package in graph["packages"] if any("proc-macro" in one["kind"] for one in package["targets"])
    }
    edges = {
        node["id"]: [
            dependency["pkg"]
            for dependency in node["deps"]
            if dependency["pkg"] not in macros and any(kind["kind"] is None for kind in dependency["dep_kinds"])
        ]
        for node in graph["resolve"]["nodes"]
    }
    seen, left = set(), [root]
    while left:
        one = left.pop()
        if one not in seen:
            seen.add(one)
            left.extend(edges[one])
    return seen, edges


def component(package, checksum):
    name, version = package["name"], package["version"]
    purl = f"pkg:cargo/{name}@{version}"
    found = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    if package.get("description"):
        found["description"] = " ".join(package["description"].split())
    if package.get("license"):
        found["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if checksum:
        found["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", required=True)
    parser.add_argument("--time", type=int, required=True)
    options = parser.parse_args()
    graph, sums = metadata(), checksums()
    packages = {package["id"]: package for package in graph["packages"]}
    root = next(id for id, package in packages.items() if package["name"] == ROOT)
    seen, edges = reached(graph, root)

    def ref(id):
        return f"pkg:cargo/{packages[id]['name']}@{packages[id]['version']}"

    libraries = sorted(seen - {root}, key=ref)
    components = [component(packages[id], sums.get((packages[id]["name"], packages[id]["version"]))) for id in libraries]
    depends = {ref(id): sorted({ref(other) for other in edges[id] if other in seen}) for id in seen}
    for id in libraries:
        name, version = packages[id]["name"], packages[id]["version"]
        if name in BUNDLED:
            code, licence = BUNDLED[name]
            inner = f"pkg:generic/{code}?bundled_by={name}%40{version}"
            components.append({"type": "library", "bom-ref": inner, "name": code, "version": f"bundled by {name} {version}",
                               "licenses": [{"license": {"id": licence}}], "purl": inner})
            depends[ref(id)].append(inner)
            depends[inner] = []
    when = datetime.datetime.fromtimestamp(options.time, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    main_component = {"type": "application", "bom-ref": ref(root), "name": "airbraid", "version": options.version,
                      "licenses": [{"expression": "MIT OR Apache-2.0"}]}
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        # Of the contents: the same list has the same number.
        "serialNumber": "urn:uuid:" + str(uuid.uuid5(uuid.NAMESPACE_OID, json.dumps([options.version, components]))),
        "version": 1,
        "metadata": {"timestamp": when, "component": main_component},
        "components": components,
        "dependencies": [{"ref": one, "dependsOn": depends[one]} for one in sorted(depends)],
    }
    print(json.dumps(bom, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
