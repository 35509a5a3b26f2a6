#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Prints the receipt of an order for order_front. TRACEPARENT in the environment says which trace
# these commands belong to; pmtrace(1) reads it.
pmtrace -q -e "seq 20000 | gzip | wc -c >/dev/null" make-receipt
pmtrace -q -e "sleep 0.01" send-mail
