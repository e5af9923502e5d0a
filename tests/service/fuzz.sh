#!/usr/bin/env bash
# Fuzzes the service by its own description: tests/service/fuzz.sh GIPF-PLAYER [EXAMPLES]
#
# Starts `gipf-player serve` on a free port and lets schemathesis ask it whatever the description allows, and what it does not; the
# service must answer all of it as described, without an error of its own, and still be there at the end.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1")
examples=${2:-60}

# Schemathesis keeps what it found in the folder it runs in.
folder=$(mktemp -d)
cd "$folder"
trap 'kill "$service" 2>/dev/null || true; rm -rf "$folder"' EXIT
"$program" serve shipped:standard --port 0 >"$folder/told" &
service=$!
for _ in $(seq 100); do
  url=$(grep -o 'http://[^/]*' "$folder/told" || true)
  [ -n "$url" ] && break
  sleep 0.1
done

python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
"$folder/python/bin/schemathesis" run "$url/openapi.json" --max-examples "$examples" --request-timeout 20 --seed 1 \
  --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,negative_data_rejection,unsupported_method
kill -0 "$service"
echo "the service has survived"
