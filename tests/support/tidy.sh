#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs clang-tidy over the library and the agent, with the checks of .clang-tidy. Not over the tests:
# most warnings there would be about GoogleTest's macros.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

cmake --preset tidy >/dev/null
# In this preset one file includes the others: that is no reason for a warning.
sed -nE 's#.*"file": "(.*/build/tidy/(libtrace|pmda)/.*/Unity/.*)",?#\1#p' build/tidy/compile_commands.json |
    xargs -P "$(nproc)" -n 1 clang-tidy -p build/tidy --quiet --checks=-bugprone-suspicious-include
