# airbraid: `make demo` shows what it does, `make test` checks that it is right.

CARGO   ?= cargo
# Where cargo builds.
TARGET  := $(or $(CARGO_TARGET_DIR),target)
RELEASE := $(TARGET)/release/airbraid
CHECKED := $(TARGET)/checked/airbraid
DEBUG   := $(TARGET)/debug/airbraid
DEMO    := $(TARGET)/demo/airbraid
# The same selection each time, and the whole workspace: nothing is built twice, for the wheel neither.
TESTS   := $(CARGO) test --workspace --locked
OUT     := out
# Tests that cannot run here note themselves in this file (`tests/src/skip.rs`).
SKIPPED := $(abspath $(OUT))/skipped

.DEFAULT_GOAL := help
.PHONY: help demo demo-bond build wheel notebooks test test-rust test-scenarios test-python reference check lint fuzz \
        bench bench-peers bench-lab bench-tunnel bench-datapath \
        bench-strangers bench-python map mutants ablate claims pages \
        rows rows-full rows-renew rows-documents python-lock dist same-bytes emulate packages test-packages wheels site \
        install uninstall picture tools test-tools python-tools dist-tools machine-tools package-tools clean

help: ## Say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

tools: ## Install what building needs, or say what is missing
	@scripts/tools.sh build

test-tools:
	@scripts/tools.sh build test

python-tools:
	@scripts/tools.sh build python

dist-tools:
	@scripts/tools.sh build dist

machine-tools:
	@scripts/tools.sh machine

package-tools:
	@scripts/tools.sh build python package

build: tools ## Build the airbraid command
	$(CARGO) build --release --locked --package airbraid-cli

wheel: python-tools ## Build the Python package, a wheel in out/wheels
	@scripts/python.sh wheel

test-python: build python-tools ## Lints, stubs, tests and notebooks of the Python package
	@AIRBRAID=$(abspath $(RELEASE)) scripts/python.sh test

notebooks: python-tools ## Run the notebooks of docs/guide/notebooks and store their pictures in them
	@scripts/python.sh notebooks

python-lock: python-tools ## Take new versions of what Python needs into the lock
	@scripts/python.sh lock

# The simulator's commands alone, by the profile that compiles in the least time: what they show is the same.
demo: tools ## One TCP connection over one 802.11b channel and over a trunk of three
	$(CARGO) build --profile demo --locked --package airbraid-cli --no-default-features --features simulator
	@scripts/demo.sh $(DEMO) $(OUT)/demo

demo-bond: tools ## A bond over three emulated uplinks, a page to watch, one link pulled; Ctrl-C ends it (root)
	$(CARGO) build --profile checked --locked --package airbraid-cli
	@scripts/bond_demo.py $(CHECKED) $(SECONDS)

# Either half of the command alone: with the whole workspace selected no other crate is compiled again for other features.
lint: test-tools ## Formatting, lints, documentation
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- --deny warnings
	$(CARGO) clippy --workspace --no-default-features --features airbraid-cli/simulator --locked -- --deny warnings
	$(CARGO) clippy --workspace --no-default-features --features airbraid-cli/live --locked -- --deny warnings
	RUSTDOCFLAGS="--deny warnings --allow rustdoc::private-intra-doc-links" $(CARGO) doc --workspace --no-deps --locked --quiet
	scripts/draw.py --check
	scripts/ablate.py --check
	scripts/lint_shell.sh

reference: ## Renew the tables of docs/reference/metrics.md that are made of the code
	AIRBRAID_RENEW=1 $(CARGO) test --locked -p airbraid-sim -p airbraid-live --lib the_reference_has_every_metric

check: build ## The release: every committed scenario against what it expects, golden transcripts
	$(RELEASE) check scenarios
	$(CARGO) test --release --locked --package airbraid-tests --test golden

rows: build ## Are the rows of all papers where tests/rows has them? (quick versions; rows-full: everything)
	@scripts/rows.sh $(RELEASE) quick
	@scripts/rows.py tests/rows docs/measurements --check

rows-full: build
	@scripts/rows.sh $(RELEASE) full

# What was moved on purpose: look at the difference of tests/rows before it is committed.
rows-renew: build ## Write the rows of all papers again, and the documents' tables (VERSION=full: everything)
	@scripts/rows.sh $(RELEASE) $(or $(VERSION),quick) --renew
	@scripts/rows.py tests/rows docs/measurements

rows-documents: ## Write the documents' tables of rows from tests/rows
	@scripts/rows.py tests/rows docs/measurements

# One build, with assertions and overflow checks, of all that is tested. Then its tests, of which many wait for networks,
# beside the scenarios, which compute. The last command is one test binary whose summary closes the output; before it
# stands what was skipped.
test: export AIRBRAID_SKIPPED := $(SKIPPED)
# Tests of the daemon wait more than they compute: eight at a time take a third of the time of two.
test: export RUST_TEST_THREADS := 8
# Random inputs for each reader of outside bytes, in milliseconds; `make fuzz` takes its time.
test: export BOLERO_RANDOM_TEST_TIME_MS := 300
test: test-tools python-tools lint ## Everything: lints, unit and property tests, scenarios, Python, validation
	@mkdir -p $(OUT) && rm -f $(SKIPPED)
	$(TESTS) --tests --no-run
	@scripts/beside.sh "$(MAKE) --no-print-directory test-rust" "$(MAKE) --no-print-directory test-scenarios"
	@scripts/skipped.sh $(SKIPPED)
	$(TESTS) --test golden

test-rust:
	$(TESTS) --tests

# What uses one core comes first, beside tests that wait; what uses all comes last.
test-scenarios:
	AIRBRAID=$(abspath $(DEBUG)) PROFILE=dev scripts/python.sh test
	PROFILE=dev scripts/browser.sh $(DEBUG)
	scripts/picture.sh $(DEBUG) --check
	scripts/rows.py tests/rows docs/measurements --check
	$(DEBUG) check scenarios
	scripts/rows.sh $(DEBUG) quick

pages: build ## Load every page that airbraid writes in Chromium; screenshots in out/pages
	@scripts/browser.sh $(RELEASE) --keep $(OUT)/pages

fuzz: test-tools ## Try every reader of outside bytes with random inputs (FUZZ adds options: --inputs 1e8 --seconds 3600)
	@scripts/fuzz.py $(FUZZ)

# Its state is in out/mutants: a run that was stopped goes on; remove the folder for a sample of the present code.
mutants: test-tools ## The share of changes to engine, mac and net that tests notice: a drawn sample of 600 (hours)
	@test -f $(OUT)/mutants/sample.tsv || scripts/mutants.py draw mutation
	@scripts/mutants.py build
	@scripts/mutants.py run
	@scripts/mutants.py score

ablate: ## What each mechanism of the bond is worth, switched off (ABLATE adds options: --only symbols --draw 7; an hour)
	@scripts/ablate.py $(ABLATE)

bench: build ## Speed and memory of the four benchmark scenarios, times of the slot planner
	@benches/bench.sh $(RELEASE)
	@$(CARGO) run --release --locked --quiet --package airbraid-engine --example link-costs
	@$(CARGO) run --release --locked --quiet --package airbraid-engine --example session-costs

# A bounded sample; MAP says another table and its options.
MAP ?= sample --budget 480

map: tools ## A bond over rates, delays, losses and changes beside its best member and an oracle (MAP: "map --cells 600 --cc bbr")
	@$(CARGO) run --profile checked --locked --quiet --package airbraid-campaign --example map -- $(MAP)

bench-peers: build ## The same beside ns-2 (Debian's package), in one run
	@AIRBRAID=$(RELEASE) benches/peers.sh

bench-lab: build test-tools ## The simulated TCP beside the kernel's in the lab (root)
	@benches/lab.sh $(RELEASE)

bench-tunnel: build test-tools ## The daemon over the six emulated set-ups of the lab, real TCP, 30 s (root; BENCH_TUNNEL adds options)
	@benches/tunnel.py --airbraid $(RELEASE) $(BENCH_TUNNEL)

bench-datapath: build test-tools ## What the daemon carries over veth beside other tunnels (root; BENCH_DATAPATH adds options)
	@$(CARGO) build --release --locked --quiet --package airbraid-live --example datapath-probe
	@benches/datapath.py --airbraid $(RELEASE) $(BENCH_DATAPATH)

bench-strangers: test-tools ## A hub that strangers flood: seconds until a client connects, cost of garbage (root)
	@$(CARGO) bench --locked --quiet --package airbraid-cli --bench strangers

bench-python: build python-tools ## 1,000 runs on Dask with a worker killed, what executors cost, memory over 10,000 runs
	@AIRBRAID=$(abspath $(RELEASE)) scripts/python.sh bench

claims: build ## Run the command of every measured number in the documents; hours, resumable (CLAIMS="--minutes 5")
	@AIRBRAID=$(abspath $(RELEASE)) scripts/claims.py $(CLAIMS)

install: build ## Install the command, manual, completions, unit, scenarios, documents (PREFIX=/usr/local DESTDIR=)
	@scripts/install.sh $(RELEASE)

uninstall: ## Remove what `make install` has installed
	@scripts/install.sh --uninstall

# What a release has. DIST names architectures: x86_64 aarch64 armv7.
dist: dist-tools ## Static binaries, archives, checksums and their contents as CycloneDX, in out/dist (DIST=x86_64)
	@scripts/dist.sh $(OUT)/dist $(DIST)

same-bytes: dist-tools ## Builds out/dist once more, in another folder: are the bytes equal?
	@scripts/same_bytes.sh $(OUT)/dist $(DIST)

emulate: machine-tools ## Runs each binary of out/dist on its architecture, by qemu where that is another
	@scripts/emulate.sh $(OUT)/dist $(DIST)

packages: package-tools ## Debian packages and container images of the binaries in out/dist
	@scripts/packages.sh $(OUT)/dist $(OUT)

test-packages: package-tools ## Installs, upgrades and removes the packages in clean roots; lintian (root)
	@scripts/test_packages.sh $(OUT)

wheels: dist-tools ## Wheels for manylinux and musllinux on x86_64 and aarch64, in out/wheels
	@scripts/python.sh wheels

# The reports of the papers on it are made by the command, which takes minutes: SITE= leaves them out.
SITE = --airbraid $(RELEASE)

site: python-tools $(if $(SITE),build) ## The documents as a site with search, in out/site/site; links checked
	@scripts/python.sh site $(OUT)/site $(SITE)

picture: build ## Draw the pictures of the README and of the examples
	@scripts/picture.sh $(RELEASE)

clean: ## Remove what was built
	$(CARGO) clean
	rm -rf $(OUT)
