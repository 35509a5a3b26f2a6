# SPDX-License-Identifier: LGPL-2.1-or-later
"""In each domain, instances are numbered 1, 2, 3 in order of arrival, and keep their numbers."""

from trace_test import OUR_LIBRARY, TraceTestCase, with_each_agent


class InstanceTestCase(TraceTestCase):
    def points(self, pmcd, *tags):
        self.trace(self.environment(pmcd), *(f"point {tag}" for tag in tags))


@with_each_agent
class Instances(InstanceTestCase):
    def test_count_from_one_in_order_of_arrival(self):
        pmcd = self.start_pmcd()
        self.points(pmcd, "zebra", "ant", "mole", "ant")
        self.assertEqual(pmcd.instances("trace.point.count"), {"zebra": 1, "ant": 2, "mole": 3})

    def test_each_kind_counts_by_itself(self):
        pmcd = self.start_pmcd()
        self.trace(self.environment(pmcd), "point a", "point b", "obs 1 b", "obs 1 a",
                   "counter 1 c", "begin d", "end d")
        self.assertEqual(pmcd.instances("trace.point.count"), {"a": 1, "b": 2})
        self.assertEqual(pmcd.instances("trace.observe.value"), {"b": 1, "a": 2})
        self.assertEqual(pmcd.instances("trace.counter.value"), {"c": 1})
        self.assertEqual(pmcd.instances("trace.transact.count"), {"d": 1})

    def test_a_tag_that_comes_back_after_a_reset_has_its_old_number_and_starts_at_zero(self):
        pmcd = self.start_pmcd()
        self.points(pmcd, "a", "b", "b", "c")
        pmcd.pmstore("trace.control.reset", 1)
        self.points(pmcd, "c", "b")
        self.assertEqual(pmcd.instances("trace.point.count"), {"b": 2, "c": 3})
        self.assertEqual(pmcd.values("trace.point.count"), {"b": 1, "c": 1})

    def test_a_transaction_shows_no_instance_before_its_first_end(self):
        pmcd = self.start_pmcd()
        self.trace(self.environment(pmcd), "begin a", "begin b", "abort b")
        self.assertEqual(pmcd.instances("trace.transact.count"), {})


class OurInstances(InstanceTestCase):
    library = OUR_LIBRARY

    def test_keep_their_numbers_when_the_agent_is_killed_and_started_again(self):
        pmcd = self.start_pmcd()
        self.points(pmcd, "a", "b", "c")
        self.assertEqual(pmcd.instances("trace.point.count"), {"a": 1, "b": 2, "c": 3})
        pmcd.wait_for_saved_numbers(3)
        pmcd.restart_agent()
        self.points(pmcd, "d", "c", "a")
        self.assertEqual(pmcd.instances("trace.point.count"), {"a": 1, "c": 3, "d": 1004})
        self.assertEqual(pmcd.values("trace.point.count"), {"a": 1, "c": 1, "d": 1})

    def test_leave_their_numbers_to_nobody_when_the_agent_is_killed_at_once(self):
        """The agent has no time to save the numbers: so it has reserved some in advance."""
        pmcd = self.start_pmcd()
        given, reserve = set(), ""
        for tags in (["a", "b"], ["c", "d"], ["e"]):
            reserve = pmcd.wait_for_reserve(reserve)
            self.points(pmcd, *tags)
            new = set(pmcd.instances("trace.point.count").values())
            self.assertEqual(len(new), len(tags))
            self.assertEqual(given & new, set())
            given |= new
            pmcd.restart_agent()
