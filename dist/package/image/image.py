"""Makes an OCI image of one layer for each processor, as one tar file whose bytes depend on nothing but the layers.

It is an OCI image layout with one index. It also has what "docker load" of older engines looks for (manifest.json).

usage: image.py FOLDER VERSION SECONDS LEVEL TAR LICENCES
    FOLDER    has ARCH/layer.tar for each processor
    SECONDS   the time of the image, since 1970
    LEVEL     how hard to compress, 0 to 9
    LICENCES  of what is in the layers, as an SPDX expression
"""

import datetime
import gzip
import hashlib
import io
import json
import pathlib
import sys
import tarfile

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
MEDIA = "application/vnd.oci.image."
LABEL = "org.opencontainers.image."
HOME = "/opt/trigon"


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


class Layout:
    """The files of the layout; blobs are named by their checksum."""

    def __init__(self):
        self.files = {}

    def blob(self, content, media_type):
        digest = hashlib.sha256(content).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = content
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}

    def write(self, path, seconds):
        with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
            for name in sorted(self.files):
                entry = tarfile.TarInfo(name)
                entry.size, entry.mtime, entry.mode = len(self.files[name]), seconds, 0o644
                tar.addfile(entry, io.BytesIO(self.files[name]))


def blob_path(descriptor):
    return "blobs/" + descriptor["digest"].replace(":", "/")


def add_image(layout, layer, architecture, labels, created, level):
    """Returns the manifest's descriptor, and the entry for older engines."""
    config = {
        "created": created,
        "architecture": architecture,
        "os": "linux",
        "config": {"Entrypoint": ["/install"], "Cmd": ["/target"], "Volumes": {HOME: {}}, "Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
        "history": [{"created": created, "created_by": "trigon package oci"}],
    }
    packed = gzip.compress(layer, compresslevel=level, mtime=0)
    config_blob = layout.blob(canonical(config), MEDIA + "config.v1+json")
    layer_blob = layout.blob(packed, MEDIA + "layer.v1.tar+gzip")
    manifest = {
        "schemaVersion": 2,
        "mediaType": MEDIA + "manifest.v1+json",
        "config": config_blob,
        "layers": [layer_blob],
        "annotations": labels,
    }
    descriptor = layout.blob(canonical(manifest), MEDIA + "manifest.v1+json")
    descriptor["platform"] = {"architecture": architecture, "os": "linux"}
    older = {
        "Config": blob_path(config_blob),
        "RepoTags": [f"trigon:{labels[LABEL + 'version']}-{architecture}"],
        "Layers": [blob_path(layer_blob)],
    }
    return descriptor, older


def main():
    folder, version, seconds, level, path, licences = sys.argv[1:]
    # glibc is in the image's program, install
    labels = {
        LABEL + "title": "Trigon",
        LABEL + "version": version,
        LABEL + "licenses": licences + " AND LGPL-2.1-or-later",
    }
    seconds = int(seconds)
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    layout = Layout()
    manifests, older = [], []
    for layer in sorted(pathlib.Path(folder).glob("*/layer.tar")):
        architecture = ARCHITECTURES[layer.parent.name]
        descriptor, entry = add_image(layout, layer.read_bytes(), architecture, labels, created, int(level))
        manifests.append(descriptor)
        older.append(entry)
    index = {"schemaVersion": 2, "mediaType": MEDIA + "index.v1+json", "manifests": manifests}
    descriptor = layout.blob(canonical(index), MEDIA + "index.v1+json")
    descriptor["annotations"] = {
        "org.opencontainers.image.ref.name": version,
        "io.containerd.image.name": f"docker.io/library/trigon:{version}",
    }
    layout.files["index.json"] = canonical({"schemaVersion": 2, "manifests": [descriptor]})
    layout.files["manifest.json"] = canonical(older)
    layout.files["oci-layout"] = canonical({"imageLayoutVersion": "1.0.0"})
    layout.write(path, seconds)


if __name__ == "__main__":
    main()
