#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stands before the compiler in the build in TO, which compiles what the build in FROM did, and as that did:
#   TakeObject.sh FROM TO COMPILER ARGUMENTS…
# takes the object from there, for compiling all again takes minutes; and compiles what is not there.
from=$(cd "$1" && pwd -P)
to=$(cd "$2" && pwd -P)
shift 2
before=
object=
for argument; do
  [ "$before" != -o ] || object=$(pwd -P)/$argument
  before=$argument
done
case $object in
  "$to"/*.o) [ ! -e "$from/${object#"$to"/}" ] || exec cp "$from/${object#"$to"/}" "$object" ;;
esac
exec "$@"
