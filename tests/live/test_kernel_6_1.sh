#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 900 s
#
# Loads and walks on Linux 6.1; `make test-kernels` runs all kernels.
# Covers: bpf/prog/modules.bpf.h

exec tests/kernels/run.sh 6.1
