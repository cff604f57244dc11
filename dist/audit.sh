#!/usr/bin/env bash
# Looks up the distribution's bill of materials in the OSV database of known vulnerabilities.
#
#   audit.sh                      asks osv.dev: sends the names and versions of what is in bom.json
#   audit.sh --offline DIRECTORY  with a database that is in DIRECTORY; sends nothing. To fetch it,
#                                 where there is a network:
#                                 OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY=DIRECTORY osv-scanner scan source \
#                                   --offline-vulnerabilities --download-offline-databases \
#                                   -L dist/target/trigon/bom.json
#
# Exit status: OSV-Scanner's, 0 if there are none, 1 if there are; 2 if it could not be run.
set -euo pipefail
bom=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)/target/trigon/bom.json

options=()
case ${1:-} in
  '') [ $# -eq 0 ] || exit 2 ;;
  --offline)
    [ $# -eq 2 ] && [ -d "$2" ] || { echo "audit.sh: --offline needs the directory of the database" >&2; exit 2; }
    OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY=$(cd -- "$2" && pwd)
    export OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY
    options=(--offline)
    ;;
  *) sed -n '2,/^set/{/^set/d; s/^# \{0,1\}//p}' "$0" >&2; exit 2 ;;
esac
command -v osv-scanner >/dev/null || {
  echo "audit.sh: no osv-scanner on the PATH. Get version 2 from https://github.com/google/osv-scanner/releases" >&2
  exit 2
}
exec osv-scanner scan source "${options[@]}" --lockfile "$bom"
