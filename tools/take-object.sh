#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stands before the compiler in the build in TO, which compiles what the build in FROM did, and as that did:
#   take-object.sh all|engine|package FROM TO COMPILER ARGUMENTS…
# takes the object from there, for compiling all again takes minutes; and compiles what is not there. engine: only what knows
# no ITK, for a build against another one. package: the same for the Python package, whose project has other names for it; FROM
# is in the root folder. Where GPUREG_COMPILER_CACHE is set, such as to ccache, it stands before the compiler.
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

# in_first_build OBJECT: its name there. CMake names objects by their sources' places, as seen from the project's folder, or in full.
in_first_build() {
  root=${from%/*}
  root=${root#/}
  name=${1#CMakeFiles/GPURegistration.dir/}
  case $name in
    "$root"/src/*) name=${name#"$root"/src/} ;;
    "$root"/*) name=__/${name#"$root"/} ;;
  esac
  echo "src/CMakeFiles/GPURegistration.dir/$name"
}

case $what:$object in
  engine:*.cxx.o) ;;
  package:"$to"/CMakeFiles/GPURegistration.dir/*.o)
    taken=$from/$(in_first_build "${object#"$to"/}")
    [ ! -e "$taken" ] || exec cp "$taken" "$object"
    ;;
  package:*) ;;
  *:"$to"/*.o) [ ! -e "$from/${object#"$to"/}" ] || exec cp "$from/${object#"$to"/}" "$object" ;;
esac
exec ${GPUREG_COMPILER_CACHE-} "$@"
