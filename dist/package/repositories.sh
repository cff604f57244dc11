#!/usr/bin/env bash
# repositories.sh - signs packages that were made before, and makes repositories of them for apt and dnf.
# usage: repositories.sh KEY [PACKAGES [FOLDER]]
#   KEY       of gpg, as it lists it: an address or a fingerprint
#   PACKAGES  folder of the packages, instead of dist/target/packages
#   FOLDER    for a web server, instead of dist/target/repositories; replaced as a whole
# FOLDER has apt/, rpm/, the other packages, SHA256SUMS with its signature, and the key.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
project=$(cd -- "$here/../.." && pwd)
. "$here/programs.sh"
key=$1 packages=${2:-$project/dist/target/packages} folder=${3:-$project/dist/target/repositories}

die() {
  echo "trigon: $*" >&2
  exit 1
}

sign() { # OPTION FILE SIGNED
  gpg --batch --yes --quiet --local-user "$key" --armor "$1" --output "$3" "$2" || die "gpg cannot sign $2 by $key"
}

apt() {
  mkdir -p "$new/conf"
  cat >"$new/conf/distributions" <<END
Origin: Trigon
Label: Trigon
Suite: stable
Codename: stable
Architectures: amd64 arm64
Components: main
Description: NCCL network plugin
SignWith: $fingerprint
END
  reprepro --silent --basedir "$new" --outdir "$new/apt" includedeb stable "$packages"/*.deb ||
    die "reprepro cannot make the repository of apt"
  rm -rf "$new/conf" "$new/db"
}

rpm_repository() {
  mkdir "$new/rpm"
  cp "$packages"/*.rpm "$new/rpm/"
  rpmsign --define "_gpg_name $fingerprint" --define "__gpg $(command -v gpg)" --addsign "$new/rpm"/*.rpm \
    >/dev/null 2>&1 || die "rpmsign cannot sign by $key"
  createrepo_c --quiet "$new/rpm" || die "createrepo_c cannot make the repository of dnf"
  sign --detach-sign "$new/rpm/repodata/repomd.xml" "$new/rpm/repodata/repomd.xml.asc"
}

has_programs repositories || exit 1
fingerprint=$(gpg --batch --with-colons --list-secret-keys "$key" 2>/dev/null | sed -n 's/^fpr:*\(.*\):$/\1/p;T;q')
[ -n "$fingerprint" ] || die "gpg has no secret key $key: gpg --list-secret-keys lists what it has"
for kind in deb rpm; do
  ls "$packages"/*."$kind" >/dev/null 2>&1 || die "no .$kind in $packages: run ./trigon package first"
done
new=$folder.new
rm -rf "$new"
mkdir -p "$new"
apt
rpm_repository
find "$packages" -maxdepth 1 -type f ! -name '*.deb' ! -name '*.rpm' ! -name 'SHA256SUMS*' -exec cp {} "$new/" \;
gpg --batch --armor --export "$fingerprint" >"$new/trigon.asc"
(cd "$new" && find . -type f ! -name 'SHA256SUMS*' -printf '%P\0' | sort -z | xargs -0 sha256sum >SHA256SUMS)
sign --detach-sign "$new/SHA256SUMS" "$new/SHA256SUMS.asc"
rm -rf "$folder"
mv "$new" "$folder"
echo "trigon: signed by $fingerprint, for a web server: $folder" >&2
