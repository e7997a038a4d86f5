# shellcheck shell=dash
# What the service and the protocol share. ROOT is in front of all paths, for tests.
AIRBRAID="${ROOT}/usr/bin/airbraid"
AIRBRAID_CONFIG="${ROOT}/etc/config/airbraid"
AIRBRAID_GENERATED="${ROOT}/var/etc/airbraid"

# usage: airbraid_file [FILE]: prints the path of the daemon's file: FILE, or what /etc/config/airbraid says, as TOML. A wrong
# one is told in the log, and leaves the one before where it is.
airbraid_file() {
    local made="$AIRBRAID_GENERATED/airbraid.toml" said
    if [ -n "$1" ]; then
        made="$1"
    else
        mkdir -p "$AIRBRAID_GENERATED"
        chmod 700 "$AIRBRAID_GENERATED"
        if ! said="$("$AIRBRAID" uci "$AIRBRAID_CONFIG" 2>&1 >"$made.new")"; then
            airbraid_log "$said"
            rm -f "$made.new"
            return 1
        fi
        mv "$made.new" "$made"
    fi
    if ! said="$("$AIRBRAID" up --check "$made" 2>&1)"; then
        airbraid_log "$said"
        return 1
    fi
    echo "$made"
}

# usage: airbraid_key FILE: makes a private key where there is none.
airbraid_key() {
    [ -s "$1" ] && return 0
    mkdir -p "$(dirname "$1")"
    (umask 077 && "$AIRBRAID" genkey >"$1")
}

airbraid_log() {
    logger -t airbraid -p daemon.err "$1"
}
