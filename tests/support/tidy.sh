#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs clang-tidy over the library and the agent, with the checks of .clang-tidy. Not over the tests:
# most of what it would say there is about GoogleTest's macros.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

cmake --preset tidy >/dev/null
# In this preset one file includes the others: no need to say so.
sed -nE 's#.*"file": "(.*/build/tidy/(libtrace|pmda)/.*/Unity/.*)",?#\1#p' build/tidy/compile_commands.json |
    xargs -P "$(nproc)" -n 1 clang-tidy -p build/tidy --quiet --checks=-bugprone-suspicious-include
