"""Reads files that were written twice, once with a plain text in a field and once with a hostile one, with readers of other
authors. fields.py MANIFEST: a JSON list of {format, plain, hostile}. Prints for each: the texts of both, and where their
structure differs."""

import csv
import html.parser
import json
import re
import sys
import urllib.parse
import xml.etree.ElementTree

csv.field_size_limit(1 << 26)


def of_json(value, texts):
    if isinstance(value, dict):
        texts.extend(value)
        return {"object": [of_json(member, texts) for member in value.values()]}
    if isinstance(value, list):
        return [of_json(member, texts) for member in value]
    if isinstance(value, str):
        texts.append(value)
    return type(value).__name__


def read_json(text):
    texts = []
    return of_json(json.loads(text), texts), texts


def read_ndjson(text):
    texts = []
    assert text.endswith("\n")
    return [of_json(json.loads(line), texts) for line in text[:-1].split("\n")], texts


def read_csv(text):
    rows = list(csv.reader(text.splitlines(keepends=True), strict=True))
    cells = [cell for row in rows for cell in row]
    for cell in cells:
        assert not cell.startswith(("=", "+", "@", "\t", "\r")), f"a formula: {cell!r}"
    return [len(row) for row in rows], cells


def read_junit(text):
    elements = list(xml.etree.ElementTree.fromstring(text).iter())
    texts = [part for e in elements for part in (e.text, e.tail, *e.attrib.values()) if part]
    return [[e.tag, sorted(e.attrib)] for e in elements], texts


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.shape, self.texts, self.data, self.is_data = [], [], "", False

    def handle_starttag(self, tag, attributes):
        # A long name has a class that lets it break.
        self.shape.append([tag, sorted(name for name, _ in attributes if name != "class")])
        self.texts.extend(value for _, value in attributes if value)
        self.is_data = ("id", "data") in attributes

    def handle_endtag(self, tag):
        self.shape.append("/" + tag)
        self.is_data = False

    def handle_data(self, data):
        if self.is_data:
            self.data += data
        self.texts.append(data)

    def handle_comment(self, data):
        self.shape.append("comment")

    handle_decl = unknown_decl = handle_pi = handle_comment


def read_html(text):
    page = Page()
    page.feed(text)
    page.close()
    assert page.rawdata == "", "the page ends within an element"
    if page.data:
        page.shape.append(of_json(json.loads(page.data), page.texts))
    return page.shape, page.texts


SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')


def read_openmetrics(text):
    shape, texts = [], []
    assert text.endswith("# EOF\n") and text.count("# EOF\n") == 1
    for line in text[:-1].split("\n"):
        if line.startswith("# "):
            assert line.split(" ")[1] in ("HELP", "TYPE", "UNIT", "EOF"), line
            shape.append(line)
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample, line
        labels = LABEL.findall(sample[2] or "")
        assert LABEL.sub("", sample[2] or "") == "", line
        float(sample[3])
        shape.append([sample[1], len(labels)])
        texts.extend(value.replace("\\\\", "\\").replace('\\"', '"') for _, value in labels)
    return shape, texts


def read_markdown(text):
    shape, texts, fence = [], [], ""
    for line in text.split("\n"):
        # Code, which has no markup, ends with a fence that is as long as its first one, or longer.
        ticks = re.fullmatch(r" {0,3}(`{3,}) *", line)
        if fence:
            if ticks and len(ticks[1]) >= len(fence):
                fence = ""
            else:
                texts[-1] += line
                shape.append("code")
            continue
        if ticks:
            fence = ticks[1]
            texts.append("")
            continue
        plain = re.sub(r"\\.", "", line)
        assert not re.search(r"<[a-zA-Z/!]", plain) or re.fullmatch(r".*</?(details|summary|sub|br)>.*", plain), line
        assert "](java" not in plain and not re.search(r"(?<![\w&#;])@\w", plain), line
        shape.append([plain.count("|"), plain.count("`"), line.startswith("#")])
        texts.append(html.unescape(re.sub(r"\\(.)", r"\1", line)))
    assert not fence, "code without an end"
    return shape, texts


def read_lines(text):
    lines = text.split("\n")
    return [line.count("\t") for line in lines], lines


def read_benchfmt(text):
    shape, lines = read_lines(text)
    return shape, [urllib.parse.unquote(line) for line in lines]


def read_folded(text):
    lines = text[:-1].split("\n")
    assert all(re.fullmatch(r".* \d+", line) for line in lines), text
    return [line.count(";") for line in lines], lines


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def read_pprof(data):
    at, shape, texts = 0, [], []
    while at < len(data):
        key, at = varint(data, at)
        assert key & 7 == 2, key
        length, at = varint(data, at)
        shape.append(key >> 3)
        if key >> 3 == 6:
            texts.append(data[at : at + length].decode())
        at += length
    assert at == len(data)
    return shape, texts


def read_screen(text):
    return None, [text]


READERS = {
    "csv": read_csv,
    "ndjson": read_ndjson,
    "html": read_html,
    "junit": read_junit,
    "markdown": read_markdown,
    "openmetrics": read_openmetrics,
    "benchfmt": read_benchfmt,
    "folded": read_folded,
    "pprof": read_pprof,
    "screen": read_screen,
}


def read(format, path):
    data = open(path, "rb").read()
    read_it = READERS.get(format, read_json)
    return read_it(data if format == "pprof" else data.decode())


def first_difference(a, b, path=""):
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for at, (left, right) in enumerate(zip(a, b)):
            if left != right:
                return first_difference(left, right, f"{path}[{at}]")
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        for key in a:
            if a[key] != b[key]:
                return first_difference(a[key], b[key], f"{path}.{key}")
    return "" if a == b else f"{path}: {str(a)[:200]} / {str(b)[:200]}"


results = []
for entry in json.load(open(sys.argv[1])):
    try:
        plain, plain_texts = read(entry["format"], entry["plain"])
        hostile, texts = read(entry["format"], entry["hostile"])
        problem = first_difference(plain, hostile)
    except Exception as error:
        plain_texts, texts, problem = [], [], f"{type(error).__name__}: {str(error)[:300]}"
    is_shown = any("zqx" in text for text in plain_texts)
    texts = [text for text in texts if "cmd" in text]
    results.append({"is_shown": is_shown, "texts": sorted(set(texts))[:50], "problem": problem})
json.dump(results, sys.stdout)
