#!/usr/bin/env bash
# The packages in clean roots: lintian; installed, upgraded with a daemon up, removed, purged, nothing left; the installed
# tree; the image; the files of OpenWrt under busybox. Root, and Debian's packages.
# usage: scripts/test_packages.sh OUT      with what `make dist packages` has made in it
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath "${1:?usage: scripts/test_packages.sh OUT}")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
work=$(mktemp -d)
# The daemon in the root, while there is one.
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf --one-file-system "$work"' EXIT

say() { echo "== $*"; }

fail() {
    echo "test_packages.sh: $*" >&2
    exit 1
}

# Files of a root that a package may leave: those that dpkg and apt themselves write.
listed() { (cd "$1" && find . -xdev -mindepth 1 | grep -v -E '^./(var/(lib/dpkg|log|cache)|proc|sys|dev|tmp)(/|$)' | LC_ALL=C sort); }

debian() {
    local deb=$out/airbraid_$version-1_amd64.deb root=$work/root
    say "lintian"
    for one in "$out"/airbraid_"$version"-1_*.deb; do lintian --fail-on error,warning --suppress-tags bad-distribution-in-changes-file "$one"; done
    say "a clean root"
    [ -f "$out/bookworm.tar" ] || mmdebstrap --quiet --variant=minbase bookworm "$out/bookworm.tar"
    mkdir "$root"
    tar --extract --file "$out/bookworm.tar" --directory "$root" --exclude './dev/*'
    listed "$root" >"$work/before"
    cp "$deb" "$root/tmp/first.deb"
    # The next version: the same files under another number.
    dpkg-deb --raw-extract "$deb" "$work/next"
    sed -i "s/^Version: .*/Version: $version-2/" "$work/next/DEBIAN/control"
    dpkg-deb --root-owner-group -Zgzip --build "$work/next" "$root/tmp/next.deb" >/dev/null

    say "installed"
    chroot "$root" dpkg --install /tmp/first.deb
    chroot "$root" airbraid --version
    chroot "$root" airbraid run /usr/share/airbraid/scenarios/examples/one_channel.toml --duration '3 s' >/dev/null
    [ "$(stat -c %a "$root/etc/airbraid")" = 700 ] || fail "/etc/airbraid may be read"
    for file in usr/share/man/man1/airbraid-up.1.gz usr/share/bash-completion/completions/airbraid usr/share/doc/airbraid/README.md \
        'usr/lib/systemd/system/airbraid@.service'; do
        [ -s "$root/$file" ] || fail "$file is not there"
    done

    say "upgraded, with a daemon up"
    chroot "$root" airbraid new daemon /etc/airbraid 2>/dev/null
    # Forwarding needs `nft`, which no clean root has.
    sed -i '/^\[gateway\]/d' "$root/etc/airbraid/hub.toml"
    mkdir -p "$root/dev/net"
    mknod -m 666 "$root/dev/null" c 1 3
    mknod -m 666 "$root/dev/urandom" c 1 9
    mknod -m 666 "$root/dev/net/tun" c 10 200
    # shellcheck disable=SC2016 # the inner shell expands it
    unshare --net --mount bash -c 'ip link set lo up; mount -t proc proc "$1/proc"; exec chroot "$1" airbraid up /etc/airbraid/hub.toml' up "$root"
    pid=$(chroot "$root" airbraid status hub --json | sed -n 's/.*"pid":\([0-9]*\).*/\1/p')
    kill -0 "$pid" || fail "no daemon is up"
    chroot "$root" dpkg --install /tmp/next.deb | tee "$work/said"
    grep -q 'hub stays up, on the version before' "$work/said" || fail "the upgrade does not say that the tunnel stays"
    chroot "$root" airbraid status hub >/dev/null || fail "the upgrade has ended the daemon"

    say "removed and purged"
    chroot "$root" dpkg --remove airbraid
    for _ in $(seq 50); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    if kill -0 "$pid" 2>/dev/null; then fail "the removal has left the daemon up"; fi
    pid=
    chroot "$root" dpkg --purge airbraid | tee "$work/said"
    [ -e "$root/etc/airbraid/office.key" ] || fail "a key was removed"
    rm -r "$root/etc/airbraid"
    listed "$root" >"$work/after"
    diff "$work/before" "$work/after" || fail "this is left"
}

tree() {
    say "make install, make uninstall"
    local to=$work/tree
    mkdir -p "$to/usr/local/bin" "$to/usr/local/share/man" && touch "$to/usr/local/bin/other"
    (cd "$to" && find . | LC_ALL=C sort) >"$work/before"
    DESTDIR=$to PREFIX=/usr/local scripts/install.sh "$out/dist/airbraid-$version-x86_64"
    "$to/usr/local/bin/airbraid" --version
    grep -q 'ExecStart=/usr/local/bin/airbraid up' "$to/usr/local/lib/systemd/system/airbraid@.service" || fail "the unit's path"
    DESTDIR=$to PREFIX=/usr/local scripts/install.sh --uninstall
    (cd "$to" && find . | LC_ALL=C sort) >"$work/after"
    diff "$work/before" <(cat "$work/after"; [ -d "$to/usr/local/share/man" ] || echo ./usr/local/share/man) >/dev/null ||
        diff <(grep -v share "$work/before") "$work/after" || fail "this is left of make install"
}

image() {
    say "the image"
    local file=$out/airbraid-$version-image-amd64.tar root=$work/image
    skopeo inspect "oci-archive:$file" >/dev/null
    skopeo copy --quiet "docker-archive:$file" "dir:$work/layers"
    mkdir "$root"
    tar --extract --file "$(find "$work/layers" -type f -size +1M | head -n 1)" --directory "$root"
    chroot "$root" /usr/bin/airbraid run /srv/scenarios/examples/one_channel.toml --duration '3 s' >/dev/null
    chroot "$root" /usr/bin/airbraid --version
}

debian
tree
image
say "OpenWrt"
scripts/test_openwrt.sh "$out/dist/airbraid-daemon-$version-x86_64"
echo "the packages are fine"
