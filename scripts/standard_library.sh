# shellcheck shell=bash
# Rust's standard library for an architecture: of the toolchain, from rustup, or built of its sources. Scripts source it.

# The sources, where the toolchain has them: rustup's rust-src, Debian's rust-web-src.
library=$(realpath -m "$(rustc --print sysroot)/lib/rustlib/src/rust")

# usage: is_built TARGET: whether the toolchain has a standard library for it.
is_built() { [ -d "$(rustc --print target-libdir --target "$1")" ]; }

# usage: has_library TARGET: whether there is a standard library for it, or its sources; a toolchain of rustup fetches them,
# the library first, for one that is built here has other bytes.
has_library() {
    if ! is_built "$1" && [[ $library == */toolchains/* ]] && command -v rustup >/dev/null; then
        echo "asking rustup for the standard library of $1, or its sources" >&2
        timeout 600 rustup target add "$1" >/dev/null 2>&1 || has_sources ||
            timeout 600 rustup component add rust-src >/dev/null 2>&1 || true
    fi
    is_built "$1" || has_sources
}

# Whether there are sources of the standard library, of the compiler's version: Debian's sources say theirs.
has_sources() {
    local said=$library/src/version
    [ -f "$library/library/Cargo.lock" ] || return
    [ ! -f "$said" ] || [ "$(cat "$said")" = "$(rustc --version | cut -d ' ' -f 2)" ]
}

# usage: of_sources TARGET: sets Cargo's `options` and `variables` for a library that is not there: it is built like the
# rest. Cargo takes that option from nightly toolchains alone otherwise. Start files are the linker's, too.
of_sources() {
    options=()
    variables=()
    if is_built "$1"; then return; fi
    # shellcheck disable=SC2034 # the caller reads it
    options=("-Zbuild-std=std,panic_unwind")
    # shellcheck disable=SC2034 # the caller reads it
    variables=(RUSTC_BOOTSTRAP=1 RUSTFLAGS="${RUSTFLAGS:-} -Clink-self-contained=no")
}
