#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How many times as fast cohorts and templates are on several GPUs as on one, and where their time goes.
#   tools/measure-scaling.sh HEADS              the *.nii.gz in the folder HEADS, on one GPU and on all
#   tools/measure-scaling.sh HEADS 1,2,4        on one, two and four
# Variables: PYTHON, the interpreter; PAIRS (default: 512); DEVICES, such as cuda:0,cuda:1; FOLDER, where 25 GB are written and removed.
# On four H100s with 64 cores it takes some three minutes. The package needs its part cohort: pip install '.[cohort]'.
set -euo pipefail
cd "$(dirname "$0")"
[ $# -ge 1 ] || { sed -n '3,7s/^# *//p' "$0" >&2; exit 2; }
python=${PYTHON:-python3}
heads=$1
devices=${DEVICES:-$("$python" -c 'from gpuregistration._devices import find_gpus; print(",".join(find_gpus() or ["host"]))')}
all=$(tr , '\n' <<< "$devices" | wc -l)
counts=${2:-$([ "$all" = 1 ] || echo 1,)$all}
options=(--devices "$devices" --counts "$counts" ${FOLDER:+--folder "$FOLDER"})
mapfile -t images < <(find "$heads" -maxdepth 1 -name '*.nii.gz' ! -name '*label*' | sort)
[ ${#images[@]} -gt 0 ] || { echo "$0: there is no *.nii.gz in $heads" >&2; exit 1; }
echo "== Cohort"
"$python" measure-cohort.py --heads "$heads" --pairs "${PAIRS:-512}" "${options[@]}"
echo "== Template"
"$python" measure-template.py "${images[@]}" --people "${PEOPLE:-6}" --rounds "${ROUNDS:-4}" ${VOXEL:+--voxel "$VOXEL"} "${options[@]}"
