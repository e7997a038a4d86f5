#!/usr/bin/env bash
# Makes a Debian package of a static binary: the command, manual, completions, unit, scenarios, documentation. The same
# binary gives the same bytes.
# usage: scripts/deb.sh AIRBRAID ARCHITECTURE OUT [TALKER]      such as: deb.sh out/dist/airbraid-0.1.0-aarch64 arm64 out
# TALKER is a binary that runs here; it writes manual and completions.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
airbraid=${1:?usage: scripts/deb.sh AIRBRAID ARCHITECTURE OUT [TALKER]}
architecture=${2:?}
out=${3:?}
talker=${4:-$airbraid}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || stat -c %Y "$root/CHANGELOG.md")}
export SOURCE_DATE_EPOCH
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"

DESTDIR=$tree PREFIX=/usr "$root/scripts/install.sh" "$airbraid" "$talker" >/dev/null
doc=$tree/usr/share/doc/airbraid
# dpkg has the list of files, and the licences are in `copyright`.
rm -r "$tree/usr/share/airbraid/installed" "$doc"/LICENSE-*
mv "$doc/CHANGELOG.md" "$doc/changelog"
install -m 644 "$root/packaging/debian/copyright" "$doc/copyright"
date=$(date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")
printf 'airbraid (%s-1) unstable; urgency=medium\n\n  * This version: see changelog.gz.\n\n -- The airbraid authors <packages@airbraid.invalid>  %s\n' \
    "$version" "$date" >"$doc/changelog.Debian"
(cd "$root" && scripts/sbom.py --version "$version" --time "$SOURCE_DATE_EPOCH") >"$doc/airbraid.cdx.json"
gzip --no-name -9 "$doc/changelog" "$doc/changelog.Debian" "$doc/airbraid.cdx.json" "$tree"/usr/share/man/man1/*.1
install -D -m 644 "$root/packaging/debian/lintian-overrides" "$tree/usr/share/lintian/overrides/airbraid"

mkdir -p "$tree/DEBIAN"
cat >"$tree/DEBIAN/control" <<EOF
Package: airbraid
Version: $version-1
Architecture: $architecture
Maintainer: The airbraid authors <packages@airbraid.invalid>
Installed-Size: $(du -sk --apparent-size "$tree" | cut -f 1)
Recommends: nftables, iproute2
Suggests: wireshark
Section: net
Priority: optional
Description: one encrypted link out of several uplinks
 Several unreliable uplinks carry TCP as one good link: a daemon that bonds
 them packet by packet, with local error control, and a simulator and a lab
 that show why.
EOF
for script in postinst prerm postrm; do install -m 755 "$root/packaging/debian/$script" "$tree/DEBIAN/$script"; done
(cd "$tree" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
mkdir -p "$out"
file=$out/airbraid_${version}-1_$architecture.deb
dpkg-deb --root-owner-group -Zxz --build "$tree" "$file" >/dev/null
echo "$file"
