# Sourced: the processors that Trigon is built for, by the names that "uname -m" has for them, and where what building
# for another one takes is kept.

cross=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)/.cross
this_machine=$(uname -m)
case $this_machine in
  aarch64) other_machine=x86_64 ;;
  *) other_machine=aarch64 ;;
esac

platform() { # NAME: what "uname -m" calls it
  case $1 in
    aarch64 | arm64) echo aarch64 ;;
    x86_64 | x86-64 | amd64) echo x86_64 ;;
    *)
      echo "trigon: no processor \"$1\": must be aarch64 or x86_64" >&2
      return 2
      ;;
  esac
}

debian_name() { # ARCH: what Debian calls it
  case $1 in
    aarch64) echo arm64 ;;
    x86_64) echo amd64 ;;
  esac
}
