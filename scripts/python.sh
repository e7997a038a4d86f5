#!/usr/bin/env bash
# The Python package: its environment, its wheel, its tests.
# usage: scripts/python.sh environment | wheel | wheels [TARGET]... | test | bench | notebooks | lock | site OUT [OPTION]...
# AIRBRAID names the command that the tests compare with; PROFILE is how the wheel is built; CARGO_TARGET_DIR is cargo's.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p "${CARGO_TARGET_DIR:-target}"
target=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)
venv=$target/python
wheels=out/wheels
lock=crates/py/requirements.txt

# An environment with the versions of the lock, made again when the lock or Python changes.
environment() {
    local wanted
    wanted="$(python3 --version) $(cksum <"$lock")"
    if [ "$(cat "$venv/made-from" 2>/dev/null)" != "$wanted" ]; then
        echo "Making $venv with the versions of $lock"
        rm -rf "$venv"
        python3 -m venv "$venv"
        # Python compiles what is imported, which is a part of what is installed.
        "$venv/bin/pip" install --quiet --disable-pip-version-check --no-compile --requirement "$lock"
        echo "$wanted" >"$venv/made-from"
    fi
}

# A wheel for every Python from 3.11 on.
wheel() {
    rm -rf "$wheels"
    "$venv/bin/maturin" build --quiet --profile "${PROFILE:-release}" --locked --out "$wheels"
    ls "$wheels"/*.whl
}

# A wheel for each architecture and C library, by the compiler that `make dist` uses: abi3, for every Python from 3.11 on.
wheels() {
    local triple policy options variables missing=()
    # shellcheck source=scripts/standard_library.sh
    . scripts/standard_library.sh
    "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement packaging/dist/requirements.txt
    rm -rf "$wheels"
    [ $# -gt 0 ] || set -- x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-musl
    for triple in "$@"; do
        if ! has_library "$triple"; then missing+=("$triple"); continue; fi
        case $triple in *-musl) policy=musllinux_1_2 ;; *) policy=manylinux_2_17 ;; esac
        of_sources "$triple"
        env "${variables[@]}" PATH="$venv/bin:$PATH" "$venv/bin/maturin" build --quiet --profile dist --locked --zig \
            --target "$triple" --compatibility "$policy" --out "$wheels" "${options[@]}"
    done
    ls "$wheels"/*.whl
    if [ ${#missing[@]} -gt 0 ]; then
        echo "python.sh: not built, for want of a standard library (rustup target add, rust-src, or Debian's rust-web-src): ${missing[*]}" >&2
        return 1
    fi
}

# The site, by mdBook.
site() {
    local book=$target/site-tools
    if ! cmp -s packaging/site/requirements.txt "$book/made-from"; then
        rm -rf "$book"
        python3 -m venv "$book"
        command -v mdbook >/dev/null ||
            "$book/bin/pip" install --quiet --disable-pip-version-check --requirement packaging/site/requirements.txt
        cp packaging/site/requirements.txt "$book/made-from"
    fi
    PATH=$PATH:$book/bin scripts/site.py "$@"
}

install_wheel() {
    wheel
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-index --force-reinstall "$wheels"/*.whl
}

lint() {
    "$venv/bin/ruff" format --check --quiet crates/py docs/guide/notebooks
    "$venv/bin/ruff" check --quiet crates/py docs/guide/notebooks
    "$venv/bin/mypy" --no-error-summary --python-executable "$venv/bin/python"
    # The stubs say what the native module has.
    # Alone in a directory: beside the package it would read all that the package imports.
    rm -rf "$target/stubs"
    mkdir -p "$target/stubs"
    cp crates/py/python/airbraid/_core.pyi "$venv"/lib/python3*/site-packages/airbraid/_core.*.so "$target/stubs"
    (cd "$target/stubs" && MYPYPATH=. PYTHONPATH=. "$venv/bin/stubtest" --concise _core)
}

case ${1:-} in
    environment)
        environment
        ;;
    wheel)
        environment
        wheel
        ;;
    wheels)
        environment
        wheels "${@:2}"
        ;;
    site)
        site "${@:2}"
        ;;
    test)
        environment
        install_wheel
        lint
        "$venv/bin/python" -m pytest "${@:2}"
        ;;
    bench)
        environment
        install_wheel
        "$venv/bin/python" benches/python.py "${@:2}"
        ;;
    notebooks)
        environment
        install_wheel
        "$venv/bin/python" crates/py/tests/notebooks.py docs/guide/notebooks
        ;;
    lock)
        rm -rf "$venv"
        python3 -m venv "$venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement crates/py/requirements.in
        {
            echo "# Written by make python-lock from requirements.in."
            "$venv/bin/pip" freeze
        } >"$lock"
        ;;
    *)
        sed -n '2,4s/^# //p' "$0" >&2
        exit 2
        ;;
esac
