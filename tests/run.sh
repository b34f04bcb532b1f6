#!/usr/bin/env bash
# The one test command. Installs what is missing, then runs every check, or the ones that are named:
#
#   tests/run.sh                    all of them, in this order: format lint docs test doctest deny fuzz demo
#                                   trust interop remote browser bench cluster
#   tests/run.sh sanitize           unsafe code under the address sanitizer and Miri: by its name only
#   tests/run.sh lint test          two of them
#
# Needs the Rust toolchain and the network of the package registries; as root it installs Debian packages, else it
# says which are missing. BTFDB_CORPUS, when the caller sets it, is a folder of recordings for the corpus tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

steps=(format lint docs test doctest deny fuzz demo trust interop remote browser bench cluster)
# Run by its name only: it builds the library once more.
others=(sanitize)
target=${CARGO_TARGET_DIR:-target}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ---- what is needed ------------------------------------------------------------------------------------------

# debian CHECK PACKAGE...: installs the packages unless the check command succeeds.
debian() {
    if ! eval "$1" >/dev/null 2>&1; then
        if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
            echo "tests/run.sh: '$1' fails; install ${*:2}" >&2
            exit 1
        fi
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${@:2}"
    fi
}

# tool NAME VERSION: installs a cargo subcommand. Unoptimised: it builds in half the time, and runs as fast as needed.
tool() {
    command -v "$1" >/dev/null || cargo install --quiet --locked --debug "$1" --version "$2"
}

# program OPTION...: builds target/debug/btfdb. With an example, for which the engine has the same features as for the
# tests: without one, other features of small crates are chosen, and the engine is built once more (5 minutes).
program() {
    cargo build --quiet --locked --bins --example read_a_trace "$@"
}

# ---- the steps -----------------------------------------------------------------------------------------------

step_format() {
    cargo fmt --check
    # Not part of the package that cargo knows.
    rustfmt --check --edition 2024 benches/*.rs fuzz/src/lib.rs fuzz/fuzz_targets/*.rs
}

step_lint() {
    cargo clippy --locked --all-targets -- -D warnings
}

step_docs() {
    # The rooms are private, and links lead into them. With an example, see `program`.
    RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --document-private-items --lib --example read_a_trace
}

step_test() {
    tool cargo-nextest '^0.9'
    # Words of Grasp traces are compared with Tcl itself, and scripts that are exported are run; without it, tests say so.
    debian 'command -v tclsh' tcl
    # Random tests draw the same at each run, so that what fails is a fault of the commit and fails again. Other seeds
    # look for what no one has seen: PROPTEST_RNG_SEED=2 tests/run.sh test
    PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1} cargo nextest run --locked --no-fail-fast
}

step_doctest() {
    cargo test --locked --doc
}

step_deny() {
    tool cargo-deny '^0.20'
    cargo deny check bans licenses sources
    # Advisories live in a database on the network, which not every machine reaches.
    if timeout 60 cargo deny fetch db >/dev/null 2>&1; then
        cargo deny check --disable-fetch advisories
    else
        echo "advisories: skipped, their database cannot be reached"
    fi
}

# The fuzz targets compile, and the library does without the query engine.
step_fuzz() {
    debian 'command -v g++' g++
    RUSTFLAGS="-D warnings" cargo check --manifest-path fuzz/Cargo.toml
}

# The library without the engine, under tools that see what a test does not; docs/unsafe.md says which sees what.
step_sanitize() {
    local host library=(--locked --no-default-features --lib) nightly=nightly-2026-05-20
    host=$(rustc -vV | sed -n 's/^host: //p')
    # Accesses outside of objects, also by C code, which is compiled alike. Every toolchain has this sanitizer, but
    # calls its option unstable; nothing else that is unstable may be used. Without the tests that measure time, those
    # of the simulated machine, and those that let a disk fail or a machine stop at every step, which take minutes.
    env RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address -Zallow-features=" "CFLAGS_${host//-/_}=-fsanitize=address" \
        CARGO_TARGET_DIR="$target/sanitize" PROPTEST_CASES=16 \
        cargo test --quiet "${library[@]}" --target "$host" -- \
        --skip linear_time --skip read_soon --skip store::tests::faults --skip power_cut --skip log_says \
        --skip neutrino::
    # Undefined behaviour. Miri interprets, and is slow: only tests that are made for it. It is part of nightly
    # toolchains, which not every machine has or can fetch.
    if ! cargo "+$nightly" miri --version >/dev/null 2>&1; then
        timeout 300 rustup toolchain install "$nightly" --profile minimal --component miri,rust-src \
            >"$work/rustup" 2>&1 || true
    fi
    if cargo "+$nightly" miri --version >/dev/null 2>&1; then
        env RUSTFLAGS="-Ctarget-feature=+avx2,+bmi1,+bmi2,+popcnt,+pclmulqdq" CARGO_TARGET_DIR="$target/sanitize/miri" \
            cargo "+$nightly" miri test --quiet "${library[@]}" -- under_miri
    else
        echo "Miri: SKIPPED, $nightly with Miri is not installed and cannot be fetched"
    fi
}

step_demo() {
    program
    "$target/debug/btfdb" demo --dir "$work/demo"
    "$target/debug/btfdb" verify "$work/demo/demo.db"
}

# Damaged files, killed commands, and writers beside readers, some of each; docs/reliability.md has the full run.
step_trust() {
    debian 'command -v python3' python3
    program
    python3 tests/trust "$target/debug/btfdb" flips=120 cuts=20 kills=60 writers=40
}

# Other engines read the database; other code computes its metrics.
step_interop() {
    debian 'python3 -c "import ensurepip, venv"' python3 python3-venv
    local python=$target/interop/bin/python
    [[ -x $python ]] || python3 -m venv "$target/interop"
    "$python" -m pip install --quiet --disable-pip-version-check -r benches/harness/peers.txt -r tests/interop.txt \
        -r tests/tails.txt
    program
    "$target/debug/btfdb" ingest "$work/interop.db" demo/recording
    "$target/debug/btfdb" publish "$work/interop.db" --delta
    "$python" tests/interop.py "$work/interop.db"
    local inputs=(tests/data/btf/metrics.btf) recording
    for recording in "${BTFDB_CORPUS:-}"/ee/*/recording.toml; do
        if [[ -e $recording ]]; then inputs+=("${recording%/*}"); fi
    done
    "$target/debug/btfdb" ingest "$work/interop.db" "${inputs[@]}"
    "$python" tests/metrics.py "$target/debug/btfdb" "$work/interop.db"
    "$python" tests/read_perfetto.py "$target/debug/btfdb" "$work/interop.db"
    "$python" tests/tails.py "$target/debug/btfdb" 3
    # Random statements, here and there. BTFDB_STATEMENTS=20000 is the full run.
    mkdir -p "$work/statements"
    BTFDB_STATEMENTS=${BTFDB_STATEMENTS:-600} BTFDB_STATEMENTS_TO=$work/statements \
        cargo test --quiet --locked --lib random_statements_have_the_same_rows
    "$python" tests/differential.py "$work/statements"
}

# Databases in an object store, a server of S3 with a bad network.
step_remote() {
    debian 'python3 -c "import ensurepip, venv"' python3 python3-venv
    local python=$target/interop/bin/python
    [[ -x $python ]] || python3 -m venv "$target/interop"
    "$python" -m pip install --quiet --disable-pip-version-check -r tests/remote.txt
    program
    "$python" tests/remote.py "$target/debug/btfdb"
}

# Pages are opened in a browser, which is driven as a person would. A new profile each time; nothing is asked of the
# network.
step_browser() {
    debian 'command -v chromium' chromium
    debian 'command -v npm && command -v node' nodejs npm
    mkdir -p "$target/browser" "$work/pages"
    cp tests/browser/package.json "$target/browser/"
    npm install --prefix "$target/browser" --silent --no-audit --no-fund --no-package-lock
    BTFDB_PAGES=$work/pages cargo test --quiet --locked --test it page::pages_for_the_browser
    BTFDB_PAGES=$work/pages BTFDB_MODULES=$target/browser node --test tests/browser/page.test.mjs
}

# No timing: a machine that runs tests is no place to measure. Every row has to be there, and every answer the same as
# that of the peers.
step_bench() {
    debian 'python3 -c "import ensurepip, venv"' python3 python3-venv
    debian 'command -v gzip' gzip
    program
    benches/run --small --binary "$target/debug/btfdb"
}

# The feature cluster: its unit tests, and a cluster of processes. The engine is built once more, because of it.
step_cluster() {
    debian 'python3 -c "import ensurepip, venv"' python3 python3-venv
    tool cargo-nextest '^0.9'
    local python=$target/interop/bin/python
    [[ -x $python ]] || python3 -m venv "$target/interop"
    "$python" -m pip install --quiet --disable-pip-version-check -r tests/remote.txt
    # Programs of 400 MB each, without the feature, which no later step needs.
    cargo clean --quiet --locked --package btfdb
    cargo nextest run --locked --features cluster --lib -E 'test(cluster)'
    mkdir "$work/on_cluster"
    BTFDB_STATEMENTS=200 BTFDB_STATEMENTS_FROM=700000 BTFDB_STATEMENTS_TO=$work/on_cluster \
        cargo test --quiet --locked --features cluster --lib random_statements_have_the_same_rows
    program --features cluster
    "$python" tests/cluster.py "$target/debug/btfdb" --statements "$work/on_cluster" --kills 2
    benches/run cluster --small --binary "$target/debug/btfdb"
}

# ---- run them ------------------------------------------------------------------------------------------------

debian 'command -v cc' gcc libc6-dev
chosen=("$@")
(($#)) || chosen=("${steps[@]}")
for step in "${chosen[@]}"; do
    if [[ " ${steps[*]} ${others[*]} " != *" $step "* ]]; then
        echo "tests/run.sh: no step '$step'; there are: ${steps[*]} ${others[*]}" >&2
        exit 2
    fi
done
trap 'rm -rf "$work"; echo "==== $step: FAILED" >&2' EXIT
for step in "${chosen[@]}"; do
    echo "==== $step"
    begun=$SECONDS
    "step_$step"
    echo "==== $step: $((SECONDS - begun)) s, $(df --output=avail --block-size=G . | tail -n 1 | tr -d ' ') of the disk free"
done
trap 'rm -rf "$work"' EXIT
echo "all checks passed in $SECONDS s"
