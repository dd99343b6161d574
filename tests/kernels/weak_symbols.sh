#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# weak_symbols.sh NM OBJECT...: fails when an object defines a weak symbol. Such a symbol is a function that several
# objects may bring; the linker keeps one, and if that one was compiled for a newer processor, older processors fault.
nm=$1
shift
[ $# -gt 0 ] || { echo "no objects given"; exit 2; }
bad=0
for object in "$@"; do
  [ -s "$object" ] || { echo "missing object: $object"; exit 2; }
  found=$("$nm" -C --defined-only "$object" | awk '$2 ~ /^[VvWwu]$/') || exit 2
  if [ -n "$found" ]; then
    echo "$object defines weak symbols:"
    echo "$found"
    bad=1
  fi
done
exit $bad
