#!/bin/sh
# Removes the program and the service. The data in /usr/local/var/svc and the configuration in /etc/svc stay.
set -eu
[ "$(id -u)" = 0 ] || { echo 'run it with sudo' >&2; exit 1; }
launchctl bootout system/svc 2>/dev/null || :
rm -f /Library/LaunchDaemons/svc.plist /usr/local/bin/svc
rm -rf /usr/local/lib/svc
pkgutil --forget svc >/dev/null 2>&1 || :
echo 'removed; the data is in /usr/local/var/svc, the configuration in /etc/svc'
