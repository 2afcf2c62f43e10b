#!/bin/sh
# The svc command of the installed package.
exec /usr/lib64/svc/bin/node --no-warnings /usr/lib64/svc/dist/svc.cjs "$@"
