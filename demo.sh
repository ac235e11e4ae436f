#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Registers a real head, moved and deformed: installs what is missing (Debian 12, as root or with sudo), builds, and runs
# examples/RegisterBrain.cxx, whose results land in demo-output/. It builds a few of the classes that override ITK's, which are
# half of what there is to compile: test.sh, or the README's commands, build them all.
cd "$(dirname "$0")"
. tools/setup.sh

install_packages "${packages[@]}"
compile_with_memory
say "Building"
# Without a GPU nobody runs CUDA's code, which is a third of what there is to compile.
if [ "$(cuda_architecture)" = 90-virtual ]; then cuda=OFF; else cuda=AUTO; fi
configure --preset release -DGPURegistration_FEW_OVERRIDES=FILTERS -DGPURegistration_QUICK_PROGRAMS=OFF -DGPURegistration_USE_CUDA=$cuda
build build RegisterBrain
say "Registering"
build/bin/RegisterBrain demo-output
