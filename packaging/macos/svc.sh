#!/bin/sh
# The svc command of the installed package.
exec /usr/local/lib/svc/bin/node --no-warnings /usr/local/lib/svc/dist/svc.cjs "$@"
