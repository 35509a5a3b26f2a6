#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Prints the receipt of an order for order_front.py. pmtrace(1) reads the trace of this command from
# TRACEPARENT in the environment.
pmtrace -q -e "seq 20000 | gzip | wc -c >/dev/null" receipt
