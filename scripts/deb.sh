#!/usr/bin/env bash
# Makes a Debian package of the built command: binary, unit, completions, documentation.
# usage: scripts/deb.sh AIRBRAID OUT
set -euo pipefail
airbraid=${1:-target/release/airbraid}
out=${2:-out}
root=$(cd "$(dirname "$0")/.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
architecture=$(dpkg --print-architecture)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"

install -D -m 755 "$airbraid" "$tree/usr/bin/airbraid"
strip --strip-unneeded "$tree/usr/bin/airbraid"
install -D -m 644 "$root/packaging/airbraid@.service" "$tree/usr/lib/systemd/system/airbraid@.service"
for shell in bash zsh fish; do
    case $shell in
        bash) place=usr/share/bash-completion/completions/airbraid ;;
        zsh) place=usr/share/zsh/vendor-completions/_airbraid ;;
        fish) place=usr/share/fish/vendor_completions.d/airbraid.fish ;;
    esac
    mkdir -p "$tree/$(dirname "$place")"
    "$airbraid" completions "$shell" >"$tree/$place"
done
install -d -m 700 "$tree/etc/airbraid"
doc=$tree/usr/share/doc/airbraid
install -D -m 644 -t "$doc" "$root/docs/guide/daemon.md" "$root/docs/security.md" "$root/README.md" "$root/LICENSE-MIT" "$root/LICENSE-APACHE"
install -D -m 644 "$root/docs/reference/daemon.md" "$doc/daemon-reference.md"
install -D -m 644 -t "$doc/examples" "$root"/docs/guide/sites/*.toml
cat >"$doc/copyright" <<'EOF'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: airbraid

Files: *
License: MIT or Apache-2.0
 The texts are beside this file.
EOF

mkdir -p "$tree/DEBIAN"
needs=libc6
if command -v dpkg-shlibdeps >/dev/null 2>&1; then
    mkdir -p "$tree/debian"
    printf 'Source: airbraid\nMaintainer: airbraid\n\nPackage: airbraid\nArchitecture: any\n' >"$tree/debian/control"
    needs=$(cd "$tree" && dpkg-shlibdeps -O usr/bin/airbraid 2>/dev/null | sed 's/^shlibs:Depends=//')
    rm -r "$tree/debian"
fi
cat >"$tree/DEBIAN/control" <<EOF
Package: airbraid
Version: $version
Architecture: $architecture
Maintainer: airbraid <airbraid@localhost>
Installed-Size: $(du -sk "$tree" | cut -f 1)
Depends: $needs
Section: net
Priority: optional
Description: one encrypted link out of several uplinks
 Several unreliable uplinks carry TCP as one good link: a daemon that bonds
 them packet by packet, with local error control, and a simulator and a lab
 that show why.
EOF
for script in postinst postrm; do
    cat >"$tree/DEBIAN/$script" <<'EOF'
#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
EOF
    chmod 755 "$tree/DEBIAN/$script"
done
mkdir -p "$out"
file=$out/airbraid_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zgzip --build "$tree" "$file" >/dev/null
echo "$file"
