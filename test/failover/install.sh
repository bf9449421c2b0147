#!/bin/sh
# Installs Debian packages without starting their services. Creates no PostgreSQL cluster of the system.
# Usage: install.sh PACKAGE...
set -eu
export DEBIAN_FRONTEND=noninteractive
policy=/usr/sbin/policy-rc.d
clusters=/etc/postgresql-common/createcluster.d/animal-store-failover.conf
remove=
trap 'rm -f $remove' EXIT

echo "Installing the packages $* with apt-get. Their services are not started."
if [ ! -e "$policy" ]; then
  remove="$remove $policy"
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi
apt-get update -qq
install() { apt-get install -y -qq --no-install-recommends -o Dpkg::Options::=--force-unsafe-io "$@" >/dev/null; }
case " $* " in *' postgresql '*)
  install postgresql-common
  if [ -d "${clusters%/*}" ]; then
    remove="$remove $clusters"
    echo 'create_main_cluster = false' >"$clusters"
  fi
  ;;
esac
install "$@"
