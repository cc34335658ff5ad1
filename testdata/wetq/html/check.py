# check.py PAGE WHY SLICE: the page is well formed and whole in itself, its links have targets, the marked lines are those
# of the thin slice (lines FILE LINE of SLICE), and the values those of why --json.
import json
import re
import sys
from html.parser import HTMLParser

VOID = {"meta", "br"}
TAGS = VOID | set("html head title style script body header h1 h2 h3 h4 p kbd main div span a small b code section nav ol li "
                  "details summary pre".split())
ATTRS = {"id", "class", "href", "rel", "data-l", "lang", "charset", "http-equiv", "content", "name"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.bad, self.scripts = [], [], [], [], 0
        self.lines, self.steps, self.file, self.at = set(), {}, None, {}
        self.text = []

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if tag not in TAGS or set(a) - ATTRS:
            self.bad.append((tag, attrs))
        self.scripts += tag == "script"
        if "id" in a:
            self.ids.append(a["id"])
        if "href" in a:
            self.links.append(a["href"])
        if "data-l" in a:
            self.links.append("#" + a["data-l"])
        if tag not in VOID:
            self.open.append((tag, a))
        if tag == "section":
            self.at = {"val": "", "point": "", "name": ""}
        if tag == "h2":
            self.file = ""

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.bad.append(("end", tag))
            return
        self.open.pop()
        if tag == "section":
            self.steps[self.at["point"]] = (self.at["name"], self.at["val"])

    def handle_data(self, data):
        classes = [a.get("class", "") for _, a in self.open]
        tag = self.open[-1][0] if self.open else ""
        self.text.append(data)
        if tag == "h2":
            self.file += data
        if len(classes) > 1 and classes[-2] == "l in" and data.isdigit() and classes[-1] != "v" and self.first:
            self.lines.add((self.file, int(data)))
            self.first = False
        if classes and classes[-1] == "l":
            self.first = True
        if "val" in classes:
            if tag == "b":
                self.at["name"] += data
            elif tag == "span":
                self.at["val"] += data
            elif tag == "small":
                self.at["point"] += data

    first = True


class Lines(Page):
    def handle_starttag(self, tag, attrs):
        if dict(attrs).get("class", "").split(" ")[0] == "l":
            self.first = True
        super().handle_starttag(tag, attrs)


page = Lines()
with open(sys.argv[1], encoding="utf-8") as f:
    page.feed(f.read())
page.close()
for x in page.bad:
    print("not allowed:", x)
if page.open:
    print("not closed:", page.open)
if page.scripts != 1:
    print("scripts:", page.scripts)
for x in set(page.ids):
    if page.ids.count(x) > 1:
        print("twice:", x)
for x in page.links:
    if x[0] != "#" or x[1:] not in page.ids:
        print("no target:", x)
want = set()
for x in open(sys.argv[3], encoding="utf-8"):
    file, line = x.rstrip("\n").rsplit(" ", 1)
    want.add((re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), file), int(line)))
if want != page.lines:
    print("lines:", sorted(page.lines - want), "but not", sorted(want - page.lines))
for n in json.load(open(sys.argv[2]))["nodes"]:
    if not n["line"]:
        continue
    name, value = page.steps.get(n["point"], (None, None))
    if name is None:
        print("no step:", n["point"])
        continue
    part = n.get("variable_part")
    if name != (n.get("variable") or (part and "part of " + part) or ""):
        print("name:", n, name)
    if (n["variable_value"] or n["value"] or "") not in (value, ""):
        print("value:", n, value)
print(len(page.steps), "steps,", len(page.lines), "lines,", len(page.links), "links")
