#!/bin/sh
# From a server that requires a token to a call of a tool, with a real identity provider in between. All of it runs on
# this machine; the provider comes from npm. Needs Node 20 and curl. Ends with 0 only if every step had its result.
#
#   examples/identity-provider/run.sh [PROVIDER-PORT [SERVER-PORT]]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
free_port() {
  node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'
}
issuer=http://127.0.0.1:${1:-$(free_port)}
address=127.0.0.1:${2:-$(free_port)}
server=http://$address/mcp
work=$(mktemp -d)
started=
trap 'for one in $started; do kill "$one" 2>/dev/null || true; done; rm -rf "$work"' EXIT

say() { printf '\n== %s\n' "$*"; }
until_there() {
  tries=0
  until curl -s -o /dev/null "$1"; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { echo "nothing answers at $1" >&2; exit 1; }
    sleep 0.1
  done
}

# Runs a command that requires a sign-in: it has to end with 3.
without_sign_in() {
  code=0
  "$@" </dev/null || code=$?
  [ "$code" = 3 ] || { echo "the exit code is $code" >&2; exit 1; }
  echo "exit code $code"
}

say "the provider (oidc-provider of npm)"
cp "$here/package.json" "$here/provider.mjs" "$here/person.mjs" "$work"
(cd "$work" && npm install --silent --no-audit --no-fund)
(cd "$work" && exec node provider.mjs "$issuer" "$server") >"$work/provider.log" 2>&1 &
started="$started $!"
until_there "$issuer/.well-known/openid-configuration"

say "the server, which requires a token of the provider"
pintle=${PINTLE:-pintle}
"$pintle" serve --http "$address" --auth-issuer "$issuer" --audience "$server" --require-scope mcp \
  >"$work/server.log" 2>&1 &
started="$started $!"
until_there "$server"

# The credentials of this example are not among those of the user.
export XDG_DATA_HOME="$work/data"

say "without a sign-in: exit code 3, and the next step"
without_sign_in "$pintle" list "$server" tools

say "pintle login: discovery, registration, code with PKCE, token"
"$pintle" login "$server" --no-browser </dev/null 2>"$work/login.notes" &
login=$!
started="$started $login"
tries=0
until url=$(grep -o "$issuer/[^ ]*" "$work/login.notes" | grep '?'); do
  tries=$((tries + 1))
  [ "$tries" -lt 100 ] && kill -0 "$login" 2>/dev/null || { cat "$work/login.notes" >&2; exit 1; }
  sleep 0.1
done
node "$work/person.mjs" "$url"
wait "$login"

say "pintle auth status"
"$pintle" auth status

say "a call with the stored token"
"$pintle" call "$server" height_of_tide hours=3 </dev/null

say "pintle logout"
"$pintle" logout "$server"
without_sign_in "$pintle" list "$server" tools 2>/dev/null
