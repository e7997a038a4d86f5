#!/bin/sh
# shellcheck shell=dash
# netifd's protocol: `option proto 'airbraid'` of an interface in /etc/config/network. The daemon makes the device with its
# addresses and routes; netifd is told, so that firewall zones, LuCI and hotplug scripts know it. The tunnel is what
# /etc/config/airbraid says (`option enabled '0'` there: this starts it), or the daemon's file that `option file` names.
if [ -z "$INCLUDE_ONLY" ]; then
    # shellcheck disable=SC1091 # OpenWrt's own
    . "${ROOT}/lib/functions.sh"
    # shellcheck disable=SC1091
    . "${ROOT}/lib/netifd/netifd-proto.sh"
    init_proto "$@"
fi
# shellcheck source=packaging/openwrt/airbraid/files/functions.sh
. "${ROOT}/lib/airbraid/functions.sh"

proto_airbraid_init_config() {
    # shellcheck disable=SC2034 # netifd reads them
    no_device=1
    # shellcheck disable=SC2034
    available=1
    proto_config_add_string "file"
}

proto_airbraid_setup() {
    local config="$1" file name device looks
    json_get_vars file
    if ! file="$(airbraid_file "$file")"; then
        proto_notify_error "$config" CONFIG
        proto_block_restart "$config"
        return 1
    fi
    name="$(basename "$file" .toml)"
    proto_run_command "$config" "$AIRBRAID" up "$file" --foreground
    # It has its device at once or not at all.
    looks=0
    while [ "$looks" -lt 10 ]; do
        device="$("$AIRBRAID" status "$name" --json 2>/dev/null | jsonfilter -e '@.interface')"
        [ -n "$device" ] && break
        looks=$((looks + 1))
        sleep 1
    done
    if [ -z "$device" ]; then
        proto_notify_error "$config" NO_ANSWER
        return 1
    fi
    proto_init_update "$device" 1
    airbraid_addresses "$device"
    proto_send_update "$config"
}

# Tells netifd the addresses that the device has.
airbraid_addresses() {
    local kind address
    ip -o address show dev "$1" scope global | while read -r _ _ kind address _; do
        echo "$kind $address"
    done >"$AIRBRAID_GENERATED/addresses"
    while read -r kind address; do
        case "$kind" in
            inet) proto_add_ipv4_address "${address%/*}" "${address#*/}" ;;
            inet6) proto_add_ipv6_address "${address%/*}" "${address#*/}" ;;
        esac
    done <"$AIRBRAID_GENERATED/addresses"
    rm -f "$AIRBRAID_GENERATED/addresses"
}

proto_airbraid_teardown() {
    proto_kill_command "$1"
}

[ -n "$INCLUDE_ONLY" ] || add_protocol airbraid
