#!/usr/bin/env python3
"""Compares the machine code of each phase body with that of another revision.

    tests/by-hand/phase-bodies.py [--base REV] [--level 0|3] [--diff] [EXPERIMENT…]

The methods of both trees are compiled to assembly with the worker's own flags. A body is what the processor can pass between the
return of phase_begin() and the call of phase_end(), in order of control flow, with the functions of the experiment that it calls.
Functions that a method hands over by their address (a thread's work) are compared as a phase of their own, "handed over". Labels
lose their numbers and strings stand for their addresses.

    same        every instruction, register and constant
    registers   the same instructions, but for registers, stack slots, moves between them, and the order of blocks
    DIFFERS     other instructions (--diff prints both)
"""
import argparse
import difflib
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FLAGS = """-S -ffunction-sections -fdata-sections -fPIC -m64 -march=x86-64 -std=gnu11 -pthread -fno-tree-loop-distribute-patterns
 -fno-tree-loop-distribution -w -D_GNU_SOURCE -Ic/harness -Ic -fno-asynchronous-unwind-tables""".split()
ENDS = ("phase_end", "phase_end_series")
JUMP = re.compile(r"j[a-z]+$")


def compiled(tree, experiments, level, out):
    """Assembly files of the experiments, made in `out`."""
    root = tree / "workers"
    sources = [p for name in experiments for p in sorted((root / "c/methods" / name).glob("*.c"))]

    def one(source):
        target = out / (str(source.relative_to(root)).replace("/", "-") + ".s")
        subprocess.run(["cc", f"-O{level}", *FLAGS, str(source.relative_to(root)), "-o", target], cwd=root, check=True)
        return target
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, sources))


class Unit:
    """One assembly file: its functions as lists of (labels, instruction), its strings and its tables of pointers."""

    def __init__(self, path):
        self.functions, self.strings, self.quads, self.exported = {}, {}, {}, set()
        is_function, label, code, pending = set(), None, None, []
        for line in path.read_text().splitlines():
            text = line.strip()
            if m := re.match(r"\.type\s+([^,\s]+),\s*@function", text):
                is_function.add(m[1])
            elif m := re.match(r"\.globl\s+(\S+)", text):
                self.exported.add(m[1])
            elif m := re.match(r"([.\w$]+):$", text):
                name = m[1]
                if name in is_function:
                    code = self.functions[name] = []
                    pending = []
                elif not name.startswith(".L"):
                    code = None
                label = name
                pending.append(name)
            elif m := re.match(r"\.(?:string|ascii)\s+(\".*\")", text):
                self.strings[label] = self.strings.get(label, "") + m[1]
            elif m := re.match(r"\.(?:quad|long)\s+(.*)", text):
                self.quads.setdefault(label, []).append(m[1])
            elif code is not None and text and not text.startswith((".", "#")):
                code.append((pending, re.sub(r"\s+", " ", text)))
                pending = []

    def methods(self):
        """Each METHOD's name and its run functions."""
        for label, quads in self.quads.items():
            words = [self.strings.get(q) for q in quads[:2]]
            runs = [q for q in quads if q in self.functions]
            if len(quads) > 5 and all(words) and runs:
                yield "/".join(w.strip('"') for w in words), runs


class Tree:
    def __init__(self, paths):
        self.units = [Unit(path) for path in paths]
        self.home = {name: unit for unit in self.units for name in unit.functions if name in unit.exported}

    def resolve(self, unit, name):
        name = name.removesuffix("@PLT")
        name = re.sub(r"@GOTPCREL$", "", name)
        if name in unit.functions:
            return unit, name
        return (self.home[name], name) if name in self.home else None

    def text(self, unit, instruction, seen):
        """An instruction without what an assembler would number, and with the code of what it calls."""
        op, _, operands = instruction.partition(" ")
        called = None
        for name in re.findall(r"[A-Za-z_.][\w.$]*(?:@PLT|@GOTPCREL)?", operands):
            target = self.resolve(unit, name)
            if target and not name.startswith(".L") and not re.match(r"(fs|gs)$", name):
                called = target
                operands = operands.replace(name, "FUNCTION")
        operands = re.sub(r"(\.LC\d+)(\+\d+)?", lambda m: unit.strings.get(m[1], "/".join(unit.quads.get(m[1], ["?"]))) + (m[2] or ""), operands)
        operands = re.sub(r"\.L\d+", "LABEL", operands)
        operands = re.sub(r"\b(\w+)\.\d+\b", r"\1", operands)
        lines = [f"{op} {operands}".strip()]
        if called and op.startswith(("call", "jmp")) and called[1] not in seen:
            seen.add(called[1])
            lines += ["  " + line for line in self.flow(called[0], called[1], 0, None, seen)]
        return lines

    def flow(self, unit, function, start, ends, seen):
        """Instructions that can be passed from `start`, in the order of a walk that takes the straight way first."""
        code = unit.functions[function]
        at = {label: i for i, (labels, _) in enumerate(code) for label in labels}
        following = lambda i: successors(code, at, unit, i, ends)
        reach, order, stack = set(), [], [start]
        while stack:
            i = stack.pop()
            if i in reach or i >= len(code):
                continue
            reach.add(i)
            order.append(i)
            stack.extend(reversed(following(i)))
        if ends:
            back = {i for i in reach if is_call(code[i][1], ENDS)}
            grown = True
            while grown:
                more = {i for i in reach - back if any(n in back for n in following(i))}
                back |= more
                grown = bool(more)
            order = [i for i in order if i in back]
        lines = []
        for i in order:
            if not code[i][1].startswith(("jmp", "nop", "ret")):
                lines += self.text(unit, code[i][1], seen)
        return lines

    def phases(self):
        """Bodies by method, and by phase and number of its call in the method's code."""
        found = {}
        for unit in self.units:
            for method, runs in unit.methods():
                bodies = found.setdefault(method, {})
                for run in runs:
                    self.gather(unit, run, bodies, set())
        return found

    def gather(self, unit, function, bodies, seen):
        if (id(unit), function) in seen:
            return
        seen.add((id(unit), function))
        code = unit.functions[function]
        for i, (_, instruction) in enumerate(code):
            if is_call(instruction, ("phase_begin",)):
                names = [m for _, line in code[max(0, i - 12):i] for m in re.findall(r"lea[ql] (\.LC\d+)\(%rip\)", line)]
                word = unit.strings.get(names[-1], "?") if names else "?"
                body = self.flow(unit, function, i + 1, ENDS, set())
                bodies.setdefault(word.strip('"'), []).append(body)
            op, _, operands = instruction.partition(" ")
            for name in re.findall(r"[A-Za-z_][\w.$]*(?:@PLT|@GOTPCREL)?", operands):
                target = self.resolve(unit, name)
                if target and op.startswith("lea") and target[0] is unit:
                    bodies.setdefault("handed over", []).append(self.flow(*target, 0, None, set()))
                if target:
                    self.gather(*target, bodies, seen)


def is_call(instruction, names):
    m = re.match(r"(?:call|jmp)q? \*?([\w.]+)", instruction)
    return bool(m) and m[1] in names


def successors(code, at, unit, i, ends):
    op, _, operand = code[i][1].partition(" ")
    if ends and is_call(code[i][1], (*ends, "phase_begin")):
        return []
    if op.startswith("ret") or op == "ud2":
        return []
    if op.startswith("jmp"):
        if operand in at:
            return [at[operand]]
        # A switch: every label of a table whose address was taken shortly before.
        tables = [m for _, line in code[max(0, i - 8):i] for m in re.findall(r"lea[ql] (\.L\d+)\(%rip\)", line)]
        labels = [q.split("-")[0] for t in tables for q in unit.quads.get(t, [])]
        return [at[label] for label in labels if label in at]
    if JUMP.match(op) and operand in at:
        return [i + 1, at[operand]]
    return [i + 1]


def without_registers(lines):
    """The same, sorted, with every register and stack slot as one word, without what only moves a value into one, and without the
    side of a branch on which the jump was laid."""
    def plain(line):
        line = re.sub(r"(-\w+\(%rbp|\w*\(%rsp)[^)]*\)", "SLOT", line)
        line = re.sub(r"%[a-z0-9]+", "%r", line).replace("0(%r)", "(%r)")
        return re.sub(r"^(\s*)(jne|je) ", r"\1je/jne ", line)
    moves = re.compile(r"\s*(push|pop|mov[a-z]* (%r|SLOT), %r$|mov[a-z]* %r, SLOT$|lea[lq] (\"|FUNCTION).*\(%r\), %r$|endbr)")
    return sorted(line for line in map(plain, lines) if not moves.match(line))


def compare(before, after, show):
    counts = {"same": 0, "registers": 0, "DIFFERS": 0}
    for method in sorted(before.keys() | after.keys()):
        if method not in before or method not in after:
            print(f"{method}: only {'before' if method in before else 'after'}")
            counts["DIFFERS"] += 1
            continue
        old, new = before[method], after[method]
        for phase in dict.fromkeys([*old, *new]):
            a, b = old.get(phase, []), new.get(phase, [])
            if sorted(a) == sorted(b):
                counts["same"] += 1
            elif sorted(map(without_registers, a)) == sorted(map(without_registers, b)):
                counts["registers"] += 1
                print(f"{method} {phase}: registers")
            else:
                counts["DIFFERS"] += 1
                print(f"{method} {phase}: DIFFERS ({[len(x) for x in a]} and {[len(x) for x in b]} instructions)")
                if show:
                    flat = lambda bodies: [line for body in bodies for line in body]
                    print("\n".join(difflib.unified_diff(flat(a), flat(b), lineterm="", n=2)))
    print(f"{len(after)} methods, phases: " + ", ".join(f"{n} {word}" for word, n in counts.items()))
    return counts["DIFFERS"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="HEAD", help="the revision to compare with")
    parser.add_argument("--level", default="3", choices=["0", "3"])
    parser.add_argument("--diff", action="store_true")
    parser.add_argument("experiments", nargs="*")
    words = parser.parse_args()
    tree = Path(__file__).resolve().parents[2]
    experiments = words.experiments or sorted(p.name for p in (tree / "workers/c/methods").iterdir())
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        archive = subprocess.run(["git", "archive", words.base, "workers/c"], cwd=tree, check=True, capture_output=True).stdout
        tarfile.open(fileobj=io.BytesIO(archive)).extractall(folder / "base", filter="data")
        sides = []
        for name, root in (("before", folder / "base"), ("after", tree)):
            (folder / name).mkdir()
            sides.append(Tree(compiled(root, experiments, words.level, folder / name)).phases())
    sys.exit(1 if compare(*sides, words.diff) else 0)


if __name__ == "__main__":
    main()
