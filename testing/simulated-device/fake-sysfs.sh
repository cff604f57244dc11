#!/bin/sh
# fake-sysfs.sh - runs a command that sees a made-up /sys/class/infiniband.
#
#   fake-sysfs.sh simulated CMD...      the devices of SIMVERBS_DEVICES, which have no sysfs at all
#   fake-sysfs.sh add DEV=NETDEV[,...] CMD...
#                                       existing devices, with the device/net/NETDEV that is missing when
#                                       the network interface has no parent (rxe on veth)
#
# Only the command sees it: everything happens in a mount namespace of its own. Needs root, or
# unprivileged user namespaces (it then asks for one).
set -eu
if [ "${FAKE_SYSFS_INSIDE:-}" != 1 ]; then
	export FAKE_SYSFS_INSIDE=1
	if [ "$(id -u)" = 0 ]; then exec unshare -m "$0" "$@"; fi
	exec unshare -Urm "$0" "$@"
fi
unset FAKE_SYSFS_INSIDE
mode=$1; shift

# The link-local address of a simulated device: its interface's, or one made of its own address.
link_local() {
	case $1 in
	*.*.*.*) echo "fe80:0000:0000:0000:0200:00ff:${2#*ffff:}" ;;
	*) ip -o -6 addr show dev "$1" scope link | awk '{
		sub(/fe80::/, "", $4); sub(/\/.*/, "", $4)
		n = split($4, g, ":")
		printf "fe80:0000:0000:0000"
		for (i = 1; i <= 4; i++) printf ":%4s", (i > 4 - n ? g[i - 4 + n] : "0")
		exit }' | tr ' ' 0 ;;
	esac
}

ib=/sys/class/infiniband
bus=/sys/class/made-up-bus	# outside of $ib, where every entry is a device
mount --make-rprivate /
tmp=$(mktemp -d)

case $mode in
simulated)
	specs=${SIMVERBS_DEVICES:-sim0=127.0.0.1/8}
	driver=${SIMVERBS_DRIVER-mlx5_core}
	# sysfs takes no new directories, so all of /sys/class is rebuilt.
	mkdir "$tmp/old"
	mount --bind /sys/class "$tmp/old"
	mount -t tmpfs none /sys/class
	for c in "$tmp"/old/*; do
		n=${c##*/}
		[ "$n" = infiniband ] && continue
		mkdir "/sys/class/$n"
		mount --bind "$c" "/sys/class/$n"
	done
	mkdir $ib
	i=0
	for spec in $(echo "$specs" | tr , ' '); do
		dev=${spec%%=*}
		ip=${spec#*=}; ip=${ip%%/*}
		case $ip in
		*.*.*.*) ;;
		*) ip=$(ip -o -4 addr show dev "$ip" | awk '{ split($4, a, "/"); print a[1]; exit }') ;;
		esac
		nd=$(ip -o -4 addr |
			awk -v ip="$ip" '{ split($4, a, "/"); if (a[1] == ip) { sub(/@.*/, "", $2); print $2; exit } }')
		pci=$bus/0000:c$i:00.0
		p=$ib/$dev/ports/1
		mkdir -p "$p/gids" "$p/gid_attrs/types" "$p/gid_attrs/ndevs" "$pci/net"
		[ -z "$nd" ] || ln -s "/sys/class/net/$nd" "$pci/net/$nd"
		ln -s "$pci" "$ib/$dev/device"
		# by its name a program may tell that posting and polling need no system call
		[ -z "$driver" ] || { mkdir -p "$bus/drivers/$driver" && ln -s "$bus/drivers/$driver" "$pci/driver"; }
		v4=$(echo "$ip" |
			awk -F. '{ printf "0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x", $1, $2, $3, $4 }')
		ll=$(link_local "${spec#*=}" "$v4")
		k=0
		set2="$ll@1 $ll@2 $v4@1 $v4@2"
		[ -z "${SIMVERBS_SIMPLE_GIDS+x}" ] || set2="$ll@2 $v4@2"
		[ -n "$ll" ] || set2=$(echo "$set2" | sed 's/@[12] //; s/^@[12] //')
		for g in $set2; do
			echo "${g%@*}" >"$p/gids/$k"
			if [ "${g#*@}" = 1 ]; then echo "IB/RoCE v1"; else echo "RoCE v2"; fi >"$p/gid_attrs/types/$k"
			echo "${nd:-none}" >"$p/gid_attrs/ndevs/$k"
			k=$((k + 1))
		done
		echo "4: ACTIVE" >"$p/state"
		echo "5: LinkUp" >"$p/phys_state"
		echo "100 Gb/sec (4X EDR)" >"$p/rate"
		echo Ethernet >"$p/link_layer"
		echo "1: CA" >"$ib/$dev/node_type"
		i=$((i + 1))
	done ;;
add)
	list=$1; shift
	mkdir "$tmp/old"
	mount --bind $ib "$tmp/old"
	mkdir "$tmp/real"
	for d in "$tmp"/old/*; do	# where the links really lead, while they can be followed
		n=${d##*/}
		readlink -f "$ib/$n" >"$tmp/real/$n"
	done
	mount -t tmpfs none $ib
	i=0
	for f in "$tmp"/real/*; do
		dev=${f##*/}
		real=$(cat "$f")
		nd=$(echo "$list" | tr , '\n' | sed -n "s/^$dev=//p")
		if [ -z "$nd" ]; then ln -s "$real" "$ib/$dev"; continue; fi
		mkdir "$ib/$dev"
		for e in "$real"/*; do
			[ "${e##*/}" = device ] || ln -s "$e" "$ib/$dev/${e##*/}"
		done
		mkdir -p "$tmp/bus/0000:c$i:00.0/net"
		ln -s "/sys/class/net/$nd" "$tmp/bus/0000:c$i:00.0/net/$nd"
		ln -s "$tmp/bus/0000:c$i:00.0" "$ib/$dev/device"
		i=$((i + 1))
	done ;;
*)
	sed -n '2,10p' "$0" >&2
	exit 2 ;;
esac
exec "$@"
