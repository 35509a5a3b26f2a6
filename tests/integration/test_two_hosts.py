# SPDX-License-Identifier: LGPL-2.1-or-later
"""pcp trace report of two hosts: percentiles are those of all values together, which need not be between the hosts'
own."""

import contextlib
import math
import random
import signal
import subprocess

import histogram_text
import recorded
from private_pmcd import PATIENCE_S, wait_until
from test_histograms import OBSERVED, OFTEN
from test_report import ReportTestCase, report, tags_of

SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}


def exact_quantile(values, share):
    return sorted(values)[math.ceil(share * len(values)) - 1]


def values_of_hosts():
    """A busy host, and a slow one."""
    rng = random.Random(7)
    return {"saturn": [rng.lognormvariate(0, 1) for _ in range(4000)],
            "jupiter": [rng.lognormvariate(3, 1) for _ in range(400)]}


class OfTwoHosts(ReportTestCase):
    @contextlib.contextmanager
    def recording(self, pmcd, name):
        """Gives the archive of `record` for a host while the caller's block runs."""
        folder = self.path(name + ".trace")
        process = self.start_process(recorded.COMMAND, "record", "-q", "-t", "100ms", "-h", pmcd.host(), "-o", folder,
                                     env=pmcd.pcp_environment(), stderr=subprocess.PIPE)
        recorded.wait_for_samples(f"{folder}/trace")
        yield folder
        process.send_signal(signal.SIGINT)
        self.assertEqual((process.communicate(timeout=PATIENCE_S)[1], process.returncode), ("", 0))

    def archives(self):
        """Gives an archive of each host, which has observed its values meanwhile."""
        archives = []
        for name, values in values_of_hosts().items():
            pmcd = self.start_pmcd(OFTEN, host_name=name)
            with self.recording(pmcd, name) as archive:
                self.trace(self.environment(pmcd), *(f"obs {value!r} a" for value in values))
                self.wait_for_distribution(pmcd, len(values))
            archives.append(archive)
        return archives

    def wait_for_distribution(self, pmcd, count):
        """Waits until the distribution has all values: it has those of completed intervals."""
        wait_until(lambda: histogram_text.parse(pmcd.values(OBSERVED)["a"]).count == count,
                   what="the distribution")

    def test_have_the_percentiles_of_all_values(self):
        archives = self.archives()
        values = values_of_hosts()
        union = sum(values.values(), [])
        both = tags_of(*archives)["observe", "a"]
        each = [tags_of(archive)["observe", "a"] for archive in archives]
        self.assertEqual([tag["calls"] for tag in each], [len(its) for its in values.values()])
        self.assertEqual([tag["hosts"] for tag in each], [[name] for name in values])
        self.assertEqual(both["calls"], len(union))
        self.assertEqual(both["hosts"], list(values))
        self.assertAlmostEqual(both["sum"] / sum(union), 1)
        self.assertEqual(both["percentiles_from"], "histogram")
        for name, share in SHARES.items():
            exact = exact_quantile(union, share)
            self.assertLess(abs(both[name] - exact) / exact, 1 / 64, name)
            if name != "p999":  # p999 has values of the slow host only
                mean = sum(tag[name] for tag in each) / len(each)
                self.assertGreater(abs(mean - exact) / exact, 0.1, name)
        # Limits that the busy host alone would keep, and that a mean would break.
        self.assertEqual(report("--fail-if", f"a p90 > {exact_quantile(union, 0.9) * 0.95}",
                                *archives).returncode, 1)
        self.assertEqual(report("--fail-if", f"a p90 > {exact_quantile(union, 0.9) * 1.05}",
                                *archives).returncode, 0)
