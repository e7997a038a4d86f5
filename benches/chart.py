"""Charts of the benchmarks as SVG, in the colours of `airbraid run --out`: lines on logarithmic axes, and stacked bars.

Not a command: benches/growth.py and benches/layers.py draw with it.
"""
import math
from xml.sax.saxutils import escape

INK, PAPER, GRID, PALE = "#282828", "#ffffff", "#e4e4e4", "#6e6e6e"
# The palette of crates/campaign/src/drawing/svg.rs: on a light ground, on a dark one.
LINES = [
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#f28e4b"),
    ("#009e73", "#35c79a"),
    ("#b0578c", "#e29ac4"),
    ("#4a90c2", "#8ec9f0"),
    ("#b8860b", "#e6b84a"),
    ("#5a5a5a", "#a9a9a9"),
    ("#222222", "#eeeeee"),
    ("#8f7a5a", "#c9b48f"),
    ("#a6cbe3", "#3d6a86"),
]
DARK = [(PAPER, "#16181b"), (INK, "#e8e8e4"), (GRID, "#2a2d31"), (PALE, "#a2a7ad"), *LINES]


class Svg:
    """A drawing under way."""

    def __init__(self, width, height, title):
        rules = "".join(f'  [{what}="{light}"] {{ {what}: {dark}; }}\n' for light, dark in DARK for what in ("fill", "stroke"))
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="12" fill="{INK}">\n'
            f"<title>{escape(title)}</title>\n<style>\n@media screen and (prefers-color-scheme: dark) {{\n{rules}}}\n"
            f'</style>\n<rect width="100%" height="100%" fill="{PAPER}"/>'
        ]

    def text(self, x, y, text, more=""):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(text)}</text>')

    def line(self, points, colour, more=""):
        places = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self.parts.append(f'<path d="M{places}" fill="none" stroke="{colour}" {more}/>')

    def add(self, element):
        self.parts.append(f"<{element}/>")

    def write(self, path):
        with open(path, "w") as file:
            file.write("\n".join([*self.parts, "</svg>\n"]))


def short(value):
    """A number on an axis or a bar: 3, 0.02, 10 k."""
    for factor, unit in ((1e6, " M"), (1e3, " k")):
        if value >= factor:
            return f"{value / factor:.3g}{unit}"
    return f"{value:.3g}"


class Panel:
    """A pair of logarithmic axes within a drawing."""

    def __init__(self, svg, box, title, x, y):
        self.svg, (self.left, self.top, self.width, self.height), self.x, self.y = svg, box, x, y
        svg.text(self.left, self.top - 12, title, 'font-weight="bold"')
        for place in self.decades(x):
            at = self.at(place, y[0])[0]
            svg.line([(at, self.top), (at, self.top + self.height)], GRID)
            svg.text(at, self.top + self.height + 16, short(place), f'text-anchor="middle" fill="{PALE}"')
        for place in self.decades(y):
            at = self.at(x[0], place)[1]
            svg.line([(self.left, at), (self.left + self.width, at)], GRID)
            svg.text(self.left - 6, at + 4, short(place), f'text-anchor="end" fill="{PALE}"')

    @staticmethod
    def decades(span):
        first, last = (math.log10(end) for end in span)
        return [10.0**power for power in range(math.ceil(first - 1e-9), math.floor(last + 1e-9) + 1)]

    def at(self, x, y):
        part = lambda value, span: math.log(value / span[0]) / math.log(span[1] / span[0])
        return self.left + part(x, self.x) * self.width, self.top + (1 - part(y, self.y)) * self.height

    def draw(self, points, colour, dashed=False):
        places = [self.at(x, y) for x, y in points]
        self.svg.line(places, colour, 'stroke-width="2"' + (' stroke-dasharray="5 4"' if dashed else ""))
        for x, y in places:
            self.svg.add(f'circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"')


def whole_decades(values):
    """The span of whole decades around numbers."""
    values = [value for value in values if value > 0]
    first, last = math.floor(math.log10(min(values)) + 1e-9), math.ceil(math.log10(max(values)) - 1e-9)
    return 10.0**first, 10.0 ** max(last, first + 1)


def panels(path, title, x_title, kinds, series):
    """Lines in panels side by side: `kinds` are their titles; `series` are (name, dashed, [(x, a value a panel)])."""
    width, height, left, gap = 300, 240, 60, 80
    whole = left + len(kinds) * (width + gap) - gap + 20
    svg = Svg(whole, height + 130, title)
    svg.text(left, 22, title, 'font-size="14" font-weight="bold"')
    x = whole_decades([point[0] for _, _, points in series for point in points])
    for place, kind in enumerate(kinds):
        values = [point[1][place] for _, _, points in series for point in points if point[1][place]]
        box = (left + place * (width + gap), 62, width, height)
        panel = Panel(svg, box, kind, x, whole_decades(values))
        svg.text(box[0] + width / 2, 62 + height + 34, x_title, f'text-anchor="middle" fill="{PALE}"')
        for number, (_, dashed, points) in enumerate(series):
            shown = [(at, each[place]) for at, each in points if each[place]]
            if shown:
                panel.draw(shown, LINES[number % len(LINES)][0], dashed)
    at = left
    for number, (name, dashed, _) in enumerate(series):
        colour = LINES[number % len(LINES)][0]
        svg.line([(at, height + 116), (at + 24, height + 116)], colour, 'stroke-width="2"' + (' stroke-dasharray="5 4"' if dashed else ""))
        svg.text(at + 30, height + 120, name)
        at += 50 + 7.2 * len(name)
    svg.write(path)


def bars(path, title, names, stacks):
    """Bars that lie, each divided into the shares of `names` and with its sum beside it: `stacks` are (label, values)."""
    left, width, step = 170, 700, 34
    height = 70 + step * len(stacks) + 24 * ((len(names) + 3) // 4)
    svg = Svg(left + width + 90, height + 20, title)
    svg.text(left, 24, title, 'font-size="14" font-weight="bold"')
    for row, (label, values) in enumerate(stacks):
        y, x = 44 + row * step, float(left)
        svg.text(left - 8, y + 16, label, 'text-anchor="end"')
        for number, value in enumerate(values):
            wide = max(value, 0) / sum(max(value, 0) for value in values) * width
            svg.add(f'rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="22" fill="{LINES[number % len(LINES)][0]}"')
            x += wide
        svg.text(x + 6, y + 16, short(sum(values)), f'fill="{PALE}"')
    for number, name in enumerate(names):
        x, y = left + number % 4 * 180, 60 + step * len(stacks) + number // 4 * 24
        svg.add(f'rect x="{x}" y="{y}" width="14" height="14" fill="{LINES[number % len(LINES)][0]}"')
        svg.text(x + 20, y + 12, name)
    svg.write(path)
