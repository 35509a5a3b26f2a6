"""What the README shows works as it stands there: its examples compile without a warning, run, and are
seen in the metrics; the variables that it lists are those that the library reads."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from private_pmcd import PrivatePmcd
from trace_test import OUR_AGENT, OUR_LIBRARY

SOURCE = pathlib.Path(os.environ["TRACE_SOURCE"])
README = (SOURCE / "README.md").read_text(encoding="utf-8")


def example(language):
    """Gives the README's only example in this language."""
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return text


class Readme(unittest.TestCase):
    def run_example(self, language, suffix, compiler, standard):
        """Compiles and runs an example, and gives the counts of its tags."""
        with tempfile.TemporaryDirectory() as directory, \
                PrivatePmcd(agent=OUR_AGENT.path, namespace=OUR_AGENT.namespace) as pmcd:
            source = pathlib.Path(directory, "example" + suffix)
            source.write_text(example(language), encoding="utf-8")
            subprocess.run([*compiler.split(), f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic",
                            "-Werror", f"-I{SOURCE}/libtrace/include", source, "-o",
                            f"{directory}/example", OUR_LIBRARY], check=True)
            environment = pmcd.environment()
            environment["LD_LIBRARY_PATH"] = os.path.dirname(OUR_LIBRARY)
            done = subprocess.run([f"{directory}/example"], env=environment, check=True,
                                  capture_output=True, text=True, timeout=30)
            self.assertEqual((done.stdout, done.stderr), ("", ""))
            return {metric: pmcd.values(f"trace.{metric}") for metric in (
                "transact.count", "transact.aborts", "point.count", "observe.value",
                "counter.value")}

    def test_the_c_example(self):
        self.assertEqual(self.run_example("c", ".c", os.environ["TRACE_CC"], "c99"), {
            "transact.count": {"request": 1}, "transact.aborts": {"request": 0},
            "point.count": {"cache-miss": 1}, "observe.value": {"queue-length": 17},
            "counter.value": {"bytes-sent": 4096}})

    def test_the_cpp_example(self):
        self.assertEqual(self.run_example("cpp", ".cpp", os.environ["TRACE_CXX"], "c++17"), {
            "transact.count": {"request": 1}, "transact.aborts": {"request": 1},
            "point.count": {}, "observe.value": {"queue-length": 170}, "counter.value": {}})

    def test_the_table_of_variables_is_complete(self):
        listed = set(re.findall(r"^\| (PCP_TRACE_\w+)", README, re.MULTILINE))
        read = set(re.findall(r'"(PCP_TRACE_\w+)"',
                              (SOURCE / "libtrace/src/options.cpp").read_text(encoding="utf-8")))
        self.assertEqual(listed, read)

    def test_links_lead_somewhere(self):
        for target in re.findall(r"\]\(([^)]+)\)", README):
            self.assertTrue((SOURCE / target).exists(), target)


if __name__ == "__main__":
    unittest.main()
