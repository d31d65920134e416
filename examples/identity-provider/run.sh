#!/bin/sh
# From a server that wants a token to a call of a tool, with a real identity provider in between. All of
# it runs on this machine; the provider comes from npm. Node 20 and curl have to be there.
#
#   examples/identity-provider/run.sh [PROVIDER-PORT [SERVER-PORT]]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
issuer=http://127.0.0.1:${1:-8901}
address=127.0.0.1:${2:-8902}
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

say "the provider (oidc-provider of npm)"
cp "$here/package.json" "$here/provider.mjs" "$here/person.mjs" "$work"
(cd "$work" && npm install --silent --no-audit --no-fund)
(cd "$work" && exec node provider.mjs "$issuer" "$server") >"$work/provider.log" 2>&1 &
started="$started $!"
until_there "$issuer/.well-known/openid-configuration"

say "the server, which lets in whoever has a token of the provider"
pintle=${PINTLE:-pintle}
"$pintle" serve --http "$address" --auth-issuer "$issuer" --audience "$server" --require-scope mcp \
  >"$work/server.log" 2>&1 &
started="$started $!"
until_there "$server"

# Credentials of this example are kept apart from those of whoever runs it.
export XDG_DATA_HOME="$work/data"

say "without a sign-in: exit code 3, and the next step"
"$pintle" list "$server" tools </dev/null || echo "exit code $?"

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

say "a tool is called with that, and nobody signs in again"
"$pintle" call "$server" height_of_tide hours=3 </dev/null

say "pintle logout"
"$pintle" logout "$server"
"$pintle" list "$server" tools </dev/null 2>/dev/null || echo "exit code $?"
