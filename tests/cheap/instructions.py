#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows from the disassembly that a begin and an end read the processor's counter, and make neither a system call nor
a call of the C library's clock.

Usage: instructions.py OBJDUMP LIBRARY PROCESSOR

For each call it looks for the shortest way from the first instruction to a return that reads the counter, and calls
nothing. No function on this way may call the clock or the kernel anywhere: rare work that needs them is in functions of
its own. It fails if there is no such way. The tests that count system calls show that calls usually take it."""

import collections
import re
import subprocess
import sys

CALLS = ("pmtrace_begin", "pmtrace_end", "pmtracebegin", "pmtraceend")

Processor = collections.namedtuple("Processor", "counter kernel call jump branch leave helpers")
PROCESSORS = {
    "x86_64": Processor(r"rdtsc", r"syscall|sysenter|int\b", r"call", r"(notrack )?jmp", r"j[a-z]+", r"(repz )?ret", r"(?!)"),
    # An exchange may be a call of the compiler's own, which chooses between two generations of processors.
    "aarch64": Processor(r"mrs\s+\w+, cntvct_el0", r"svc", r"blr?\b", r"br?\b(?!\.)", r"b\.\w+|cbn?z|tbn?z", r"ret",
                         r"__aarch64_"),
}
CLOCKS = re.compile(r"<(clock_gettime|gettimeofday|time|_ZNSt6chrono\w*)(@|>)")
TARGET = re.compile(r"\b([0-9a-f]+) <([^>+]+)")

Instruction = collections.namedtuple("Instruction", "function text next")


def disassembled(objdump, library):
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", library], capture_output=True, text=True, check=True).stdout
    code, entries, function, last = {}, {}, None, None
    for line in text.splitlines():
        if found := re.match(r"([0-9a-f]+) <(.+)>:$", line):
            function, last = found[2], None
            entries.setdefault(function, int(found[1], 16))
        elif found := re.match(r"\s*([0-9a-f]+):\s+(\S.*)$", line):
            address = int(found[1], 16)
            if last is not None:
                code[last] = code[last]._replace(next=address)
            code[address] = Instruction(function, found[2].split("//")[0].strip(), None)
            last = address
    return code, entries


def steps(code, address, processor):
    """Where the program goes from here on this way; None if that is a return."""
    instruction = code[address]
    def is_a(what):
        return re.match(rf"(?:{what})(?=\s|$)", instruction.text)
    if is_a(processor.leave):
        return None
    target = TARGET.search(instruction.text)
    if is_a(processor.call):
        is_helper = target and re.match(processor.helpers, target[2])
        return [instruction.next] if is_helper else []
    to = [int(target[1], 16)] if target else []
    if is_a(processor.jump):
        return to
    if is_a(processor.branch):
        return [*to, instruction.next]
    return [instruction.next]


def shortest_way(code, entry, processor):
    """Gives the addresses from the entry to a return, by way of the counter. None if each way has a call."""
    counter = re.compile(processor.counter)
    start = (entry, False)
    before = {start: None}
    queue = collections.deque([start])
    while queue:
        state = queue.popleft()
        address, has_read = state
        has_read = has_read or bool(counter.match(code[address].text))
        following = steps(code, address, processor)
        if following is None and has_read:
            way = []
            while state:
                way.append(state[0])
                state = before[state]
            return way[::-1]
        for to in following or []:
            if to in code and (to, has_read) not in before:
                before[(to, has_read)] = state
                queue.append((to, has_read))
    return None


def calls_clock_or_kernel(text, processor):
    return CLOCKS.search(text) or re.match(rf"(?:{processor.kernel})\b", text)


def has_way(name, code, entries, processor):
    way = shortest_way(code, entries[name], processor) if entries.get(name) in code else None
    if way is None:
        print(f"{name}: no way to its return reads the counter, and calls neither a function nor the kernel")
        return False
    functions = list(dict.fromkeys(code[address].function for address in way))
    print(f"{name}: {len(way)} instructions through {', '.join(functions)}")
    return True


def main():
    objdump, library, name = sys.argv[1:]
    processor = PROCESSORS[name]
    code, entries = disassembled(objdump, library)
    apart = {each.function for each in code.values() if calls_clock_or_kernel(each.text, processor)}
    code = {address: each for address, each in code.items() if each.function not in apart}
    return 0 if all([has_way(name, code, entries, processor) for name in CALLS]) else 1


if __name__ == "__main__":
    sys.exit(main())
