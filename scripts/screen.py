"""Runs a program in a terminal, and draws its screen as SVG. Requires tmux.

scripts/picture and scripts/animation use it.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
import unicodedata
from pathlib import Path
from xml.sax.saxutils import escape

# In pixels. A character of most monospace fonts is 0.6 times its size wide.
SIZE, WIDTH, HEIGHT, MARGIN = 14, 8.43, 18, 12
FOREGROUND, BACKGROUND, BORDER = "#d4d4d4", "#16191f", "#3b4048"
FONT = "ui-monospace, SFMono-Regular, Menlo, 'DejaVu Sans Mono', Consolas, monospace"
SIXTEEN = (
    "#000000 #cd3131 #0dbc79 #e5e510 #2472c8 #bc3fbc #11a8cd #e5e5e5 "
    "#666666 #f14c4c #23d18b #f5f543 #3b8eea #d670d6 #29b8db #ffffff"
).split()
SGR = re.compile(r"\x1b\[([0-9;]*)m")


class Terminal:
    """A program in a tmux server of its own, which ends with the `with` statement."""

    def __init__(self, program, columns, rows, environment=()):
        self.tmux = ["tmux", "-L", f"pitree-screen-{os.getpid()}", "-f", "/dev/null"]
        self.rows = rows
        size = ["-x", str(columns), "-y", str(rows)]
        # pitree does not welcome the user again.
        self.state = tempfile.TemporaryDirectory()
        remembered = Path(self.state.name, "pitree", "remembered.json")
        remembered.parent.mkdir()
        remembered.write_text('{"version": 1, "welcomed": true}')
        variables = ["COLORTERM=", f"XDG_STATE_HOME={self.state.name}", *environment]
        variables = [part for variable in variables for part in ("-e", variable)]
        # Keep the row of the status line.
        self.run("new-session", "-d", *size, *variables, *program, ";", "set-option", "-g", "status", "off")
        self.run("resize-window", *size)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([*self.tmux, "kill-server"], check=False, capture_output=True)
        self.state.cleanup()

    def run(self, *arguments):
        return subprocess.run([*self.tmux, *arguments], check=True, capture_output=True, text=True).stdout

    def press(self, key):
        """Sends a key, by its tmux name."""
        self.run("send-keys", key)

    def screen(self):
        """The rows with escape sequences, and the column and the row of the cursor, or `None` if it is hidden."""
        text = self.run("display-message", "-p", "#{cursor_flag} #{cursor_x} #{cursor_y}", ";", "capture-pane", "-p", "-e")
        first, *lines = text.split("\n")
        shown, column, row = map(int, first.split())
        return lines[: self.rows], (column, row) if shown else None

    def still(self, wanted="", seconds=0.5):
        """The screen once it shows the wanted text, and did not change for some time."""
        last, since = None, time.monotonic()
        for _ in range(600):
            time.sleep(0.05)
            now = self.screen()
            text = SGR.sub("", "\n".join(now[0]))
            if now != last:
                last, since = now, time.monotonic()
            elif text.strip() and wanted in text and time.monotonic() - since > seconds:
                return now
        sys.exit(f"the screen does not come to rest with the text {wanted!r}:\n{text}")


def indexed(number):
    if number < 16:
        return SIXTEEN[number]
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    levels = [0, 95, 135, 175, 215, 255]
    number -= 16
    return "#{:02x}{:02x}{:02x}".format(levels[number // 36], levels[number // 6 % 6], levels[number % 6])


class Pen:
    """The attributes that the escape sequences so far set for the text after them."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.color = self.back = None
        self.bold = self.dim = self.italic = self.underline = self.reverse = self.strike = False

    def take(self, sequence):
        codes = [int(code or 0) for code in sequence.split(";")]
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.reset()
            elif code in (38, 48):
                color = indexed(codes[1]) if codes[0] == 5 else "#{:02x}{:02x}{:02x}".format(*codes[1:4])
                del codes[: 2 if codes[0] == 5 else 4]
                self.color, self.back = (color, self.back) if code == 38 else (self.color, color)
            elif code in (39, 49):
                self.color, self.back = (None, self.back) if code == 39 else (self.color, None)
            elif 30 <= code <= 37 or 90 <= code <= 97:
                self.color = SIXTEEN[code % 10 + (8 if code >= 90 else 0)]
            elif 40 <= code <= 47 or 100 <= code <= 107:
                self.back = SIXTEEN[code % 10 + (8 if code >= 100 else 0)]
            elif code == 22:
                self.bold = self.dim = False
            else:
                names = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike"}
                if code in names:
                    setattr(self, names[code], True)
                elif code - 20 in names:
                    setattr(self, names[code - 20], False)

    def look(self):
        """The attributes of the text, and the color behind it."""
        color, back = self.color or FOREGROUND, self.back
        if self.reverse:
            color, back = back or BACKGROUND, color
        lines = " ".join(word for word, on in (("underline", self.underline), ("line-through", self.strike)) if on)
        attributes = {
            "fill": color if color != FOREGROUND else "",
            "font-weight": "bold" if self.bold else "",
            "font-style": "italic" if self.italic else "",
            "opacity": "0.6" if self.dim else "",
            "text-decoration": lines,
        }
        return "".join(f' {name}="{value}"' for name, value in attributes.items() if value), back


def columns_of(character):
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def runs(line, pen):
    """(text, look, color behind, first column, columns) for each run of text of one look."""
    column = 0
    for at, part in enumerate(SGR.split(line)):
        if at % 2:
            pen.take(part)
        elif part:
            count = sum(map(columns_of, part))
            yield part, *pen.look(), column, count
            column += count


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


def drawn(lines, left=0, top=0, step=HEIGHT):
    """The SVG elements of each row. The first is at `top`, each other `step` pixels below the one before."""
    pen = Pen()
    for row, line in enumerate(lines):
        y = top + row * step
        behind, texts = [], []
        for text, look, back, column, count in runs(line, pen):
            x = left + column * WIDTH
            if back:
                behind.append(
                    f'<rect x="{number(x)}" y="{y}" width="{number(count * WIDTH)}" height="{HEIGHT}" fill="{back}"/>'
                )
            # Place words after several spaces one by one, so that columns align in any font.
            for word in re.finditer(r"\S+(?: \S+)*", text):
                start = x + sum(map(columns_of, text[: word.start()])) * WIDTH
                length = sum(map(columns_of, word.group())) * WIDTH
                texts.append(
                    f'<text x="{number(start)}" y="{y + 13.5}" textLength="{number(length)}"{look}>'
                    f"{escape(word.group())}</text>"
                )
        yield behind + texts


def document(width, height, label, elements):
    """An SVG document with the background and the font of a screen."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(width)} {number(height)}" '
            f'width="{number(width)}" height="{number(height)}" role="img" aria-label="{label}">',
            f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}" stroke="{BORDER}"/>',
            f'<g font-family="{FONT}" font-size="{SIZE}" fill="{FOREGROUND}" xml:space="preserve">',
            *elements,
            "</g>",
            "</svg>",
            "",
        ]
    )
