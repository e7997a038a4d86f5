#!/usr/bin/env bash
# Starts a machine of another processor in qemu, with Debian's kernel and programs, and runs a bond of two network
# namespaces in it: what qemu-user cannot do, for it does not translate the kernel's messages about interfaces.
# usage: scripts/machine.sh aarch64|armv7 BINARY
set -euo pipefail
cd "$(dirname "$0")/.."
usage="usage: scripts/machine.sh aarch64|armv7 BINARY"
[ $# -eq 2 ] || { echo "$usage" >&2; exit 2; }
[ -x "$2" ] || { echo "machine.sh: $2 is no program: make dist" >&2; exit 1; }
binary=$(realpath "$2")
case $1 in
    aarch64) debian=arm64 kernel=linux-image-arm64 emulator=qemu-system-aarch64 processor=cortex-a72 ;;
    armv7) debian=armhf kernel=linux-image-armmp emulator=qemu-system-arm processor=cortex-a15 ;;
    *) echo "machine.sh: no machine is '$1': aarch64, armv7" >&2; exit 2 ;;
esac
for command in "$emulator" mmdebstrap cpio; do
    command -v "$command" >/dev/null || { echo "machine.sh: $command is missing: scripts/tools.sh machine" >&2; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
programs=bash,coreutils,grep,sed,iproute2,iputils-ping,util-linux,mount,kmod
# Packages are unpacked, not configured: nothing of the other processor runs here. The release without its updates is enough.
mmdebstrap --quiet --variant=extract --architectures="$debian" --include="$kernel,$programs" bookworm "$root" \
    "deb http://deb.debian.org/debian bookworm main" 2>"$work/complained" || { tail -n 20 "$work/complained" >&2; exit 1; }
mkdir "$root/modules"
find "$root/lib/modules" '(' -name tun.ko -o -name veth.ko ')' -exec mv '{}' "$root/modules" ';'
mv "$root"/boot/vmlinuz-* "$work/kernel"
for unneeded in boot lib/modules usr/share/doc usr/share/man usr/share/locale; do rm -rf "${root:?}/$unneeded"; done
install -m 755 "$binary" "$root/airbraid"
install -m 755 scripts/emulate.sh "$root/emulate.sh"
cat >"$root/init" <<'INIT'
#!/bin/bash
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
for module in /modules/*; do insmod "$module"; done
echo "machine: $(uname -srm)"
unshare --net /emulate.sh --bond /tmp/bond machine /airbraid </dev/null
echo "machine: the bond ended with $?"
echo o >/proc/sysrq-trigger
sleep 60
INIT
chmod 755 "$root/init"
(cd "$root" && find . | cpio --quiet --create --format=newc | gzip -1 >"$work/programs")
timeout 900 "$emulator" -machine virt -cpu "$processor" -smp 2 -m 1024 -nographic -no-reboot -nic none \
    -kernel "$work/kernel" -initrd "$work/programs" -append "console=ttyAMA0 quiet panic=-1" </dev/null | tee "$work/said"
grep -q "machine: the bond ended with 0" "$work/said"
