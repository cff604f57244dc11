# Sourced: which libraries of the system the programs of a distribution need, as packages are to say it. What is not
# known here ends the build, so that nothing needed goes unsaid.

elf_files() { # DISTRIBUTION
  find "$1" -type f \( -name '*.so' -o -name '*.so.*' -o -perm -100 \) -exec grep -lP '^\x7fELF' {} + | sort
}

# The names of libraries that its programs are linked with, and that it does not bring.
system_libraries() { # DISTRIBUTION
  local name own
  own=$(find "$1" -name '*.so*' -printf '%f\n')
  elf_files "$1" | xargs readelf -W -d | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' | sort -u |
    while read -r name; do
      grep -qxF "$name" <<<"$own" || echo "$name"
    done
}

debian_needs() { # DISTRIBUTION GLIBC
  local name
  system_libraries "$1" | while read -r name; do
    case $name in
      libc.so.6 | libm.so.6 | libdl.so.2 | libpthread.so.0 | librt.so.1 | ld-linux-*) echo "libc6 (>= $2)" ;;
      libz.so.1) echo zlib1g ;;
      libgcc_s.so.1) echo libgcc-s1 ;;
      libstdc++.so.6) echo libstdc++6 ;;
      *)
        echo "trigon: no Debian package is known for $name, which the distribution needs" >&2
        exit 1
        ;;
    esac
  done | sort -u | paste -s -d , | sed 's/,/, /g'
}

# RPM names what a package provides by library, version of its symbols, and kind of processor.
rpm_needs() { # DISTRIBUTION
  {
    system_libraries "$1" | sed 's/$/()(64bit)/'
    elf_files "$1" | xargs readelf -W -V | sed -n 's/.*Name: \(GLIBC_[0-9.]*\) .*/libc.so.6(\1)(64bit)/p' |
      sort -V | tail -n 1
    echo /bin/bash
  } | sort -u | paste -s -d ' '
}
