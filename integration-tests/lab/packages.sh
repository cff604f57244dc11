# Sourced by lab.sh: what the lab takes from Debian, its own kernel above all. Uses its settings, die and note.

fetch_deb() { # NAME: fetch a Debian package into $LAB_STATE/deb, print its path
	mkdir -p "$LAB_STATE/deb"
	(cd "$LAB_STATE/deb" && apt-get -qq download "$1" >&2 2>/dev/null) || die "cannot download $1"
	ls -t "$LAB_STATE/deb/$1"_*.deb | head -1
}

# What runs the guest, and what the guest uses of the host's root.
packages="$qemu_package xz-utils iproute2 libibverbs1 ibverbs-providers"

install_packages() {
	command -v dpkg-query >/dev/null || die "the lab needs Debian or Ubuntu (dpkg, apt)"
	missing=
	for p in $packages; do
		dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
	done
	[ -n "$missing" ] || return 0
	[ "$(id -u)" = 0 ] || die "not installed:$missing; run as root:  apt-get install$missing"
	note "installing$missing"
	# shellcheck disable=SC2086
	{
		apt-get -qq update &&
			DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install $missing
	} >&2 ||
		die "cannot install$missing"
}

# Debian's kernel: this machine's own packages' where they have one (Debian), else what dist/cross/fetch.sh brings.
find_kernel() {
	name=
	[ "$LAB_ARCH" != "$this_machine" ] || name=$(apt-cache depends "linux-image-$debian_arch" 2>/dev/null |
		sed -n 's/^ *Depends: *//p' | grep -v '[<>]' | head -1)
	if [ -n "$name" ]; then
		note "kernel: $name"
		fetch_deb "$name"
	else
		"$project/dist/cross/fetch.sh" "$LAB_ARCH" lab
		echo "$project/.cross/$LAB_ARCH/lab/kernel"
	fi
}

unpack_vmlinux() { # BZIMAGE OUT
	for magic in 'fd377a585a00:xz -dc' '28b52ffd:zstd -dcq' '1f8b08:gzip -dc' '02214c18:lz4 -dc'; do
		for off in $(LC_ALL=C grep -abo "$(printf '%s' "${magic%%:*}" | sed 's/../\\x&/g')" -P "$1" |
				cut -d: -f1 | head -5); do
			tail -c +$((off + 1)) "$1" | ${magic#*:} >"$2" 2>/dev/null || :
			if [ "$(head -c 4 "$2" | od -An -c | tr -d ' ')" = '177ELF' ]; then return 0; fi
		done
	done
	rm -f "$2"
	return 1
}
