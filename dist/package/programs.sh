# Sourced: the programs that kinds of packages need, so that they are looked for before anything is built.

# Lines "PROGRAM PACKAGE", the package being Debian's.
programs_of() { # KIND
  case $1 in
    tar) echo "xz xz-utils" ;;
    deb) printf '%s\n' "ar binutils" "readelf binutils" "xz xz-utils" ;;
    rpm) printf '%s\n' "readelf binutils" "rpmbuild rpm" ;;
    repositories)
      printf '%s\n' "gpg gnupg" "reprepro reprepro" "rpmsign rpm" "createrepo_c createrepo-c"
      ;;
    wheel | oci) echo "python3 python3" ;;
  esac
}

# Says what is missing, if something is.
has_programs() { # KIND
  local program package missing=() packages=() what="package of kind $1"
  [ "$1" != repositories ] || what="repository"
  while read -r program package; do
    command -v "$program" >/dev/null || { missing+=("$program") && packages+=("$package"); }
  done < <(programs_of "$1")
  [ ${#missing[@]} -eq 0 ] || {
    echo "trigon: no $what: it needs ${missing[*]}, not found on this machine; on Debian and Ubuntu:" \
      "apt-get install $(printf '%s\n' "${packages[@]}" | sort -u | paste -s -d ' ')" >&2
    return 1
  }
}
