#!/bin/sh
# Installs svc from a package file or a repository, and starts it.
#
#   install.sh [--check] [--package FILE... | --repository URL] [--key FILE] [--allow-unsigned] [--gpu]
#
# --package can be given again for svc-cuda. --check only says whether this machine can run svc.
# Exit codes: 0 done, 1 something failed, 2 this system is not supported.
set -eu
# What programs say is read below: in a language of the operator it would not be understood.
LC_ALL=C
export LC_ALL

os_release=${SVC_INSTALL_OS_RELEASE:-/etc/os-release}
cpu_info=${SVC_INSTALL_CPUINFO:-/proc/cpuinfo}
memory_info=${SVC_INSTALL_MEMINFO:-/proc/meminfo}
machine=${SVC_INSTALL_MACHINE:-$(uname -m)}
data_folder=${SVC_INSTALL_DATA_FOLDER:-/var/lib}
port=${SVC_INSTALL_PORT:-8880}
repository_folder=${SVC_INSTALL_REPOSITORY_FOLDER:-/etc/yum.repos.d}
least_memory_mib=1024
least_disk_mib=1024

check_only=no packages='' repository='' key='' signed=yes gpu=no

usage() { sed -n '2,7s/^# \{0,1\}//p' "$0"; }
say() { printf '%s\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }
# Ends with a sentence that says what happened, and what to do.
fail() { printf 'svc cannot be installed: %s\n' "$2" >&2; exit "$1"; }

while [ $# -gt 0 ]; do
  case $1 in
    --check) check_only=yes ;;
    --allow-unsigned) signed=no ;;
    --gpu) gpu=yes ;;
    --package | --repository | --key)
      [ $# -gt 1 ] || fail 1 "$1 needs a value"
      # Names are kept in a list, and the configuration of a repository is a list of lines.
      case $2 in *[[:space:]]*) fail 1 "$1 $2 has a blank in it: give a name without one" ;; esac
      case $1 in
        --package) packages="$packages $2" ;;
        --repository) repository=$2 ;;
        --key) case $2 in /*) key=$2 ;; *) key=$PWD/$2 ;; esac ;;
      esac
      shift ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; fail 1 "$1 is no option of this script" ;;
  esac
  shift
done

# One value of os-release(5), without its quotes. The file is read, not run.
os_value() { sed -n "s/^$1=//p" "$os_release" | head -n 1 | sed 's/^["'\'']//; s/["'\'']$//'; }

check_system() {
  [ -r "$os_release" ] || fail 2 "this system does not say what it is: there is no $os_release"
  id=$(os_value ID)
  like=$(os_value ID_LIKE)
  release=$(os_value VERSION_ID)
  name=$(os_value PRETTY_NAME)
  found=${name:-"$id $release"}
  supported='packages are for Fedora 43 and 44 on x86_64 and aarch64'
  case " $id $like " in
    *" rhel "* | *" centos "*) fail 2 "found $found, of the RHEL family, which is not supported; $supported" ;;
  esac
  [ "$id" = fedora ] || fail 2 "found $found, which is not supported; $supported"
  case $release in
    43 | 44) ;;
    *) fail 2 "found $found, which is not supported; $supported" ;;
  esac
  case $machine in
    x86_64 | aarch64) ;;
    *) fail 2 "found $found on $machine, which is not supported; $supported" ;;
  esac
  if [ "$gpu" = yes ]; then
    [ "$release" = 43 ] && [ "$machine" = x86_64 ] ||
      fail 2 "found $found on $machine; the GPU package is for Fedora 43 on x86_64 alone"
  fi
  say "system: $found on $machine"
}

check_cpu() {
  [ -r "$cpu_info" ] || return 0
  if [ "$machine" = x86_64 ] && ! grep -qw avx2 "$cpu_info"; then
    warn 'this CPU has no AVX2: local models are unavailable, everything else works'
  elif [ "$machine" = aarch64 ] && ! grep -qw asimddp "$cpu_info"; then
    warn 'this CPU lacks the ARMv8.2 dot product (a Raspberry Pi 4 does): local models are unavailable, everything else works'
  fi
}

check_memory() {
  total_kib=$(sed -n 's/^MemTotal: *\([0-9]*\) kB$/\1/p' "$memory_info" 2>/dev/null || true)
  [ -n "$total_kib" ] || return 0
  [ "$((total_kib / 1024))" -ge "$least_memory_mib" ] ||
    fail 1 "the machine has $((total_kib / 1024)) MiB of memory, and svc needs $least_memory_mib"
}

check_disk() {
  free_kib=$(df -Pk "$data_folder" 2>/dev/null | awk 'NR == 2 { print $4 }')
  [ -n "$free_kib" ] || return 0
  [ "$((free_kib / 1024))" -ge "$least_disk_mib" ] ||
    fail 1 "$data_folder has $((free_kib / 1024)) MiB free, and svc needs $least_disk_mib: make room, or mount a larger disk there"
}

# An installed svc holds its own port.
check_port() {
  command -v ss >/dev/null || return 0
  if systemctl is-active --quiet svc.socket 2>/dev/null; then return 0; fi
  if ss -Hltn "sport = :$port" 2>/dev/null | grep -q .; then
    fail 1 "another program listens on port $port: stop it, or install and change ListenStream of svc.socket by hand"
  fi
}

check_signatures() {
  [ -z "$key" ] || rpm --import "$key"
  [ "$signed" = yes ] || { warn 'the signature of the package is not checked'; return 0; }
  for package in $packages; do
    rpm --checksig "$package" | grep -q 'signatures OK' ||
      fail 1 "$package has no good signature: give the publisher's --key, or --allow-unsigned for a package that you built"
  done
}

install_files() {
  for package in $packages; do [ -r "$package" ] || fail 1 "there is no file $package"; done
  if [ "$gpu" = yes ]; then
    case $packages in *svc-cuda*) ;; *) fail 1 'name the GPU package too: --package svc-cuda-VERSION.x86_64.rpm' ;; esac
  fi
  check_signatures
  unchecked=''
  [ "$signed" = yes ] || unchecked=--nogpgcheck
  # shellcheck disable=SC2086 # a list, and perhaps no option
  dnf install -y $unchecked $packages
}

install_from_repository() {
  case $repository in https://*) ;; *) fail 1 'the repository must be an https address' ;; esac
  [ -z "$key" ] || [ -r "$key" ] || fail 1 "there is no file $key"
  {
    printf '[svc]\nname=svc\nbaseurl=%s\nenabled=1\ngpgcheck=1\nrepo_gpgcheck=1\n' "$repository"
    [ -z "$key" ] || printf 'gpgkey=file://%s\n' "$key"
  } >"$repository_folder/svc.repo"
  if [ "$gpu" = yes ]; then dnf install -y svc svc-cuda; else dnf install -y svc; fi
}

install_packages() {
  if [ -n "$packages" ] && [ -n "$repository" ]; then fail 1 'give --package or --repository, not both'; fi
  if [ -n "$packages" ]; then install_files
  elif [ -n "$repository" ]; then install_from_repository
  else fail 1 'name what to install: --package FILE or --repository URL'; fi
}

check_system
check_cpu
check_memory
check_disk
check_port
[ "$check_only" = no ] || { say 'this machine can run svc'; exit 0; }
[ "$(id -u)" = 0 ] || fail 1 'installing takes root: run it with sudo'
install_packages
systemctl enable --now svc.socket svc.service
say 'svc runs. Next:'
say "  curl http://127.0.0.1:$port/v1/models            # from this machine, until there is an account"
say '  sudo -u svc svc doctor                            # what this machine can do'
say '  sudo -u svc svc admin create NAME --key           # the first account, which is the superadmin'
