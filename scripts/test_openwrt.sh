#!/usr/bin/env bash
# The files of packaging/openwrt in a root of busybox, with stand-ins for what OpenWrt has: the service, the protocol of
# netifd, and the plugin of rpcd, run by busybox's shell with a static airbraid. Root.
# usage: scripts/test_openwrt.sh AIRBRAID
# shellcheck disable=SC2016 # what is in single quotes is for the shell of the root
set -euo pipefail
cd "$(dirname "$0")/.."
airbraid=$(realpath "${1:?usage: scripts/test_openwrt.sh AIRBRAID}")
files=packaging/openwrt/airbraid/files
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

fail() {
    echo "test_openwrt.sh: $*" >&2
    cat "$root/calls" >&2 || true
    exit 1
}

# usage: bring PROGRAM PLACE: a program into the root; one that is not static brings its libraries.
bring() {
    install -D -m 755 "$1" "$root/$2"
    { ldd "$1" 2>/dev/null || true; } | { grep -o '/[^ )]*' || true; } | while IFS= read -r library; do
        install -D "$library" "$root$library"
    done
}

# Calls of OpenWrt's own functions are written down, one a line.
stand_ins() {
    mkdir -p "$root"/{bin,usr/bin,usr/share/libubox,usr/libexec/rpcd,lib/netifd/proto,lib/airbraid,etc/config,etc/airbraid,etc/init.d,tmp,var,run,dev}
    mknod -m 666 "$root/dev/null" c 1 3
    bring "$(command -v busybox)" bin/busybox
    chroot "$root" /bin/busybox --install -s /bin
    cat >"$root/lib/functions.sh" <<'EOF'
note() { echo "$*" >>/calls; }
config_load() { CONFIG=/etc/config/$1; }
config_get() { eval "$1=\"\$(sed -n \"s/^[[:space:]]*option $3 '\\(.*\\)'.*/\\1/p\" $CONFIG | head -n 1)\""; }
config_get_bool() { config_get "$1" "$2" "$3"; eval "[ -n \"\$$1\" ] || $1=$4"; }
for name in procd_open_instance procd_set_param procd_close_instance procd_add_reload_trigger proto_notify_error proto_block_restart \
    proto_config_add_string proto_init_update proto_send_update proto_add_ipv4_address proto_add_ipv6_address proto_kill_command \
    add_protocol init_proto restart; do
    eval "$name() { note $name \"\$@\"; }"
done
proto_run_command() { note proto_run_command "$@"; }
json_get_vars() { :; }
ip() { printf '5: air0    inet 10.77.0.2/24 scope global air0\n5: air0    inet6 fd77::2/64 scope global\n'; }
EOF
    printf '#!/bin/sh\n. /lib/functions.sh\n. "$1"\n"$2"_service\n' >"$root/etc/rc.common"
    : >"$root/lib/netifd/netifd-proto.sh"
    printf 'json_init() { :; }\njson_add_string() { printf "{\\"%%s\\": \\"%%s\\"}\\n" "$1" "$2"; }\njson_dump() { :; }\njson_load() { asked=$1; }\njson_get_var() { eval "$1=\\$(echo \\"\\$asked\\" | sed -n \\"s/.*$2\\\\\\": \\\\\\"\\\\([^\\\\\\"]*\\\\).*/\\\\1/p\\")"; }\n' \
        >"$root/usr/share/libubox/jshn.sh"
    # Links to busybox, of this root and not of the host's, are not written through.
    rm -f "$root"/bin/{logger,jsonfilter}
    for name in logger jsonfilter; do printf '#!/bin/sh\necho %s "$@" >>/calls\n' "$name" >"$root/bin/$name"; chmod 755 "$root/bin/$name"; done
    printf '#!/bin/sh\nsed -n "s/.*\\"interface\\":\\"\\([^\\"]*\\)\\".*/\\1/p"\n' >"$root/bin/jsonfilter"
}

put() {
    bring "$airbraid" usr/bin/airbraid
    install -m 644 "$files/functions.sh" "$root/lib/airbraid/functions.sh"
    install -m 755 "$files/airbraid.init" "$root/etc/init.d/airbraid"
    install -m 755 "$files/airbraid.proto.sh" "$root/lib/netifd/proto/airbraid.sh"
    install -m 755 "$files/airbraid.defaults" "$root/etc/defaults.sh"
    install -m 755 packaging/openwrt/luci-app-airbraid/root/usr/libexec/rpcd/airbraid "$root/usr/libexec/rpcd/airbraid"
    sed "s/the public key of the other end/hSDwCYkwp1R0i33ctD73Wg2\/Og0mOBr066SpjqqbTmo=/" "$files/airbraid.config" >"$root/etc/config/airbraid"
}

# usage: in_root COMMAND...
in_root() {
    : >"$root/calls"
    chroot "$root" /bin/sh -c "$1"
}
called() { grep -q -- "$1" "$root/calls" || fail "not called: $1"; }

stand_ins
put
echo "  key at first boot"
in_root '. /etc/defaults.sh'
[ "$(stat -c %a "$root/etc/airbraid/airbraid.key")" = 600 ] || fail "the key may be read"
echo "  a service that is not enabled does nothing"
in_root '/bin/sh /etc/rc.common /etc/init.d/airbraid start'
! grep -q procd_open "$root/calls" || fail "it was started"
echo "  an enabled one runs the daemon with what UCI says"
sed -i "s/option enabled '0'/option enabled '1'/" "$root/etc/config/airbraid"
in_root '/bin/sh /etc/rc.common /etc/init.d/airbraid start'
called 'procd_set_param command /usr/bin/airbraid up /var/etc/airbraid/airbraid.toml --foreground'
grep -q '^endpoint = "198.51.100.7:5182"' "$root/var/etc/airbraid/airbraid.toml" || fail "the file is not what UCI says"
echo "  a wrong one is told and started not at all"
cp "$root/etc/config/airbraid" "$root/tmp/right"
sed -i "s/option device 'wan'/option devise 'wan'/" "$root/etc/config/airbraid"
if in_root '/bin/sh /etc/rc.common /etc/init.d/airbraid start'; then fail "a wrong file was taken"; fi
called 'unknown key `devise`'
if in_root '. /lib/functions.sh; INCLUDE_ONLY=1; . /lib/netifd/proto/airbraid.sh; proto_airbraid_setup bond'; then fail "netifd takes it"; fi
called 'proto_notify_error bond CONFIG'
cp "$root/tmp/right" "$root/etc/config/airbraid"
echo "  without a daemon that answers, reload starts it again"
in_root '/bin/sh /etc/rc.common /etc/init.d/airbraid reload'
called '^restart'
echo "  netifd is told device and addresses"
mv "$root/usr/bin/airbraid" "$root/usr/bin/real"
printf '#!/bin/sh\ncase "$1" in status) echo "{\\"interface\\":\\"air0\\"}" ;; *) exec /usr/bin/real "$@" ;; esac\n' >"$root/usr/bin/airbraid"
chmod 755 "$root/usr/bin/airbraid"
in_root '. /lib/functions.sh; INCLUDE_ONLY=1; . /lib/netifd/proto/airbraid.sh; proto_airbraid_init_config; proto_airbraid_setup bond'
called 'proto_run_command bond /usr/bin/airbraid up /var/etc/airbraid/airbraid.toml --foreground'
called 'proto_init_update air0 1'
called 'proto_add_ipv4_address 10.77.0.2 24'
called 'proto_add_ipv6_address fd77::2 64'
called 'proto_send_update bond'
mv "$root/usr/bin/real" "$root/usr/bin/airbraid"
echo "  ubus is answered"
in_root '/bin/sh /usr/libexec/rpcd/airbraid list' | grep -q '"status"' || fail "list"
in_root '/bin/sh /usr/libexec/rpcd/airbraid call status' | grep -q '"daemons": \[\]' || fail "status without a daemon"
in_root 'echo "{\"uplink\": \"wan\", \"state\": \"up\"}" | /bin/sh /usr/libexec/rpcd/airbraid call link' | grep -q 'state is on or off' || fail "link"
echo "OpenWrt's files are fine"
