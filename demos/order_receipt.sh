#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Prints the receipt of an order for order_front. pmtrace(1) reads the trace of these commands from
# TRACEPARENT in the environment.
pmtrace -q -e "seq 20000 | gzip | wc -c >/dev/null" make-receipt
pmtrace -q -e "sleep 0.01" send-mail
