#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 1200 s
#
# The kernel matrix as part of the test suite; `make test-kernels` runs it alone.

exec tests/kernels/run.sh
