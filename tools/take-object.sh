#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stands before the compiler in the build in TO, which compiles what the build in FROM did, and as that did:
#   take-object.sh all|engine FROM TO COMPILER ARGUMENTS…
# takes the object from there, for compiling all again takes minutes; and compiles what is not there. engine: only what knows
# no ITK, for a build against another one.
what=$1
from=$(cd "$2" && pwd -P)
to=$(cd "$3" && pwd -P)
shift 3
before=
object=
for argument; do
  [ "$before" != -o ] || object=$(pwd -P)/$argument
  before=$argument
done
case $what:$object in
  engine:*.cxx.o) ;;
  *:"$to"/*.o) [ ! -e "$from/${object#"$to"/}" ] || exec cp "$from/${object#"$to"/}" "$object" ;;
esac
exec "$@"
