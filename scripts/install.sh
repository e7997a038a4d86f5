#!/usr/bin/env bash
# Puts the command and what belongs to it below a prefix: manual pages, completions, unit, scenarios, documentation.
# usage: scripts/install.sh AIRBRAID [TALKER]     TALKER runs here and writes manual and completions, where AIRBRAID does not
#        scripts/install.sh --uninstall
# PREFIX is /usr/local, DESTDIR a root in front of it. What is installed is listed in PREFIX/share/airbraid/installed, by
# which it is removed again. The daemon's files in /etc/airbraid are never touched.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
prefix=${PREFIX:-/usr/local}
to=${DESTDIR:-}$prefix
list=share/airbraid/installed

uninstall() {
    if [ ! -f "$to/$list" ]; then
        echo "install.sh: nothing of airbraid is installed below $to" >&2
        exit 1
    fi
    local all
    # It is in its own list.
    all=$(cat "$to/$list")
    while IFS= read -r file; do rm -f "$to/$file"; done <<<"$all"
    # Folders that only this package had; others are not empty.
    while IFS= read -r file; do dirname "$file"; done <<<"$all" | sort -ru | while IFS= read -r folder; do
        while [ "$folder" != . ] && rmdir "$to/$folder" 2>/dev/null; do folder=$(dirname "$folder"); done
    done
    echo "airbraid is removed from $to"
}

# usage: put FILE NAME [MODE]: a file under its name below the prefix.
put() {
    install -D -m "${3:-644}" "$1" "$to/$2"
    echo "$2" >>"$tree/list"
}

documents() {
    local file
    for file in README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE SECURITY.md; do put "$root/$file" "share/doc/airbraid/$file"; done
    for file in "$root"/docs/guide/*.md "$root"/docs/reference/*.md "$root"/docs/models/*.md "$root/docs/security.md" \
        "$root/docs/glossary.md"; do
        put "$file" "share/doc/airbraid/${file#"$root"/}"
    done
    for file in "$root"/docs/guide/sites/*.toml; do put "$file" "share/doc/airbraid/examples/${file##*/}"; done
    (cd "$root" && find scenarios -type f | sort) | while IFS= read -r file; do put "$root/$file" "share/airbraid/$file"; done
}

install_all() {
    local talker=${2:-$1} file
    "$talker" man "$tree/man" 2>/dev/null
    for file in bash zsh fish; do "$talker" completions "$file" >"$tree/$file"; done
    sed "s|/usr/bin/airbraid|$prefix/bin/airbraid|" "$root/packaging/airbraid@.service" >"$tree/unit"
    put "$1" bin/airbraid 755
    put "$tree/unit" lib/systemd/system/airbraid@.service
    put "$tree/bash" share/bash-completion/completions/airbraid
    put "$tree/zsh" share/zsh/vendor-completions/_airbraid
    put "$tree/fish" share/fish/vendor_completions.d/airbraid.fish
    for file in "$tree"/man/*; do put "$file" "share/man/man1/${file##*/}"; done
    documents
    echo "$list" >>"$tree/list"
    install -D -m 644 "$tree/list" "$to/$list"
}

case ${1:-} in
    --uninstall) uninstall ;;
    '') sed -n '2,7s/^# //p' "$0" >&2; exit 2 ;;
    *)
        tree=$(mktemp -d)
        trap 'rm -rf "$tree"' EXIT
        install_all "$@"
        echo "airbraid is installed below $to"
        ;;
esac
