#!/usr/bin/env bash
# The Python package: its environment, its wheel, its tests.
# usage: scripts/python.sh environment | wheel | test | bench | notebooks | lock
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
        "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$lock"
        echo "$wanted" >"$venv/made-from"
    fi
}

# A wheel for every Python from 3.11 on.
wheel() {
    rm -rf "$wheels"
    "$venv/bin/maturin" build --quiet --profile "${PROFILE:-release}" --locked --out "$wheels"
    ls "$wheels"/*.whl
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
