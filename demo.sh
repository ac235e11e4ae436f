#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Registers a real head, moved and deformed: installs what is missing (Debian 12, as root or with sudo), builds, and runs
# examples/RegisterBrain.cxx, whose results land in demo-output/.
cd "$(dirname "$0")"
. tools/setup.sh

install_packages "${packages[@]}"
say "Building"
configure --preset release
build build RegisterBrain
say "Registering"
build/bin/RegisterBrain demo-output
