#!/usr/bin/env python3
"""A container image of a static binary, without a container engine: an OCI archive that `docker load` and `podman load`
take. The same binary gives the same bytes.

usage: scripts/image.py AIRBRAID ARCHITECTURE OUT      such as: image.py out/dist/airbraid-0.1.0-aarch64 arm64 out
"""

import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OCI = "application/vnd.oci.image"
# Where the daemon writes: control sockets and journals, the history. `/tmp` is the lab's.
FOLDERS = ["etc", "etc/airbraid", "run", "run/airbraid", "tmp", "usr", "usr/bin", "var", "var/lib", "var/lib/airbraid"]
# A scenario that is mounted here is found by its name.
WORK = "srv"


def epoch():
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    return int(done.stdout) if done.returncode == 0 else int((ROOT / "CHANGELOG.md").stat().st_mtime)


def add(tar, name, data, mode, time):
    entry = tarfile.TarInfo(name)
    entry.mode, entry.mtime = mode, time
    entry.type = tarfile.DIRTYPE if data is None else tarfile.REGTYPE
    entry.size = len(data or b"")
    tar.addfile(entry, None if data is None else io.BytesIO(data))


def layer(binary, time):
    """The files of the image, as a tar."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for folder in FOLDERS + [WORK]:
            private = folder in ("etc/airbraid", "var/lib/airbraid")
            add(tar, folder, None, 0o1777 if folder == "tmp" else 0o700 if private else 0o755, time)
        add(tar, "etc/passwd", b"root:x:0:0:root:/:/usr/bin/airbraid\n", 0o644, time)
        add(tar, "usr/bin/airbraid", binary, 0o755, time)
        scenarios = sorted(path for path in (ROOT / "scenarios").rglob("*") if path.is_file())
        folders = sorted({parent for path in scenarios for parent in path.relative_to(ROOT).parents if parent != Path(".")})
        for folder in folders:
            add(tar, f"{WORK}/{folder}", None, 0o755, time)
        for path in scenarios:
            add(tar, f"{WORK}/{path.relative_to(ROOT)}", path.read_bytes(), 0o644, time)
    return out.getvalue()


def digest(data):
    return hashlib.sha256(data).hexdigest()


def descriptor(kind, data, **more):
    return {"mediaType": f"{OCI}.{kind}", "digest": f"sha256:{digest(data)}", "size": len(data), **more}


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    binary, architecture, out = Path(sys.argv[1]).read_bytes(), sys.argv[2], Path(sys.argv[3])
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE).group(1)
    time = epoch()
    plain = layer(binary, time)
    packed = gzip.compress(plain, 9, mtime=0)
    platform = {"architecture": {"armv7": "arm"}.get(architecture, architecture), "os": "linux"}
    if architecture == "armv7":
        platform["variant"] = "v7"
    labels = {"org.opencontainers.image.title": "airbraid", "org.opencontainers.image.version": version,
              "org.opencontainers.image.licenses": "MIT OR Apache-2.0"}
    created = datetime.fromtimestamp(time, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    config = json.dumps({
        **platform, "created": created,
        "config": {"Entrypoint": ["/usr/bin/airbraid"], "Cmd": ["--help"], "WorkingDir": f"/{WORK}",
                   "Env": ["PATH=/usr/bin", "HOME=/tmp"], "Labels": labels, "StopSignal": "SIGTERM"},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest(plain)}"]},
        "history": [{"created": created, "created_by": "scripts/image.py"}],
    }).encode()
    manifest = json.dumps({
        "schemaVersion": 2, "mediaType": f"{OCI}.manifest.v1+json",
        "config": descriptor("config.v1+json", config),
        "layers": [descriptor("layer.v1.tar+gzip", packed)],
    }).encode()
    name = f"airbraid:{version}"
    index = json.dumps({
        "schemaVersion": 2, "mediaType": f"{OCI}.index.v1+json",
        "manifests": [descriptor("manifest.v1+json", manifest, platform=platform,
                                 annotations={"org.opencontainers.image.ref.name": version,
                                              "io.containerd.image.name": f"docker.io/library/{name}"})],
    }).encode()
    # Docker before 25 reads this list instead of the index.
    before = json.dumps([{"Config": f"blobs/sha256/{digest(config)}", "RepoTags": [name],
                          "Layers": [f"blobs/sha256/{digest(packed)}"]}]).encode()
    out.mkdir(parents=True, exist_ok=True)
    file = out / f"airbraid-{version}-image-{architecture}.tar"
    with tarfile.open(file, "w", format=tarfile.GNU_FORMAT) as tar:
        add(tar, "blobs", None, 0o755, time)
        add(tar, "blobs/sha256", None, 0o755, time)
        for blob in sorted([packed, config, manifest], key=digest):
            add(tar, f"blobs/sha256/{digest(blob)}", blob, 0o644, time)
        add(tar, "index.json", index, 0o644, time)
        add(tar, "manifest.json", before, 0o644, time)
        add(tar, "oci-layout", b'{"imageLayoutVersion": "1.0.0"}', 0o644, time)
    print(file)


if __name__ == "__main__":
    main()
