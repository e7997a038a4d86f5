// What is drawn column by column, as pixels: a rectangle for each column costs a browser many times as much.

class Raster {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.pen = this.canvas.getContext("2d", { willReadFrequently: true });
    this.width = 0;
  }
  /** Begins a picture of `width` columns and `height` CSS pixels, with `fine` lines to a pixel. */
  begin(width, height, fine, paper) {
    const lines = Math.max(1, Math.ceil(height * fine));
    if (this.width !== width || this.lines !== lines) {
      [this.canvas.width, this.canvas.height, this.width, this.lines] = [width, lines, width, lines];
      this.image = this.pen.createImageData(width, lines);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.fine = fine;
    this.pixels.fill(inks[paper]);
  }
  /** Fills columns from `x` on, at least one line tall. */
  bar(x, wide, top, tall, ink) {
    const { fine, lines, width, pixels } = this,
      from = Math.max(0, Math.min(lines - 1, Math.round(top * fine)));
    if (top + tall <= 0 || top * fine >= lines) return;
    const until = Math.min(lines, Math.max(from + 1, Math.round((top + tall) * fine)));
    for (let at = from * width + x; at < until * width; at += width)
      if (wide === 1) pixels[at] = ink;
      else pixels.fill(ink, at, at + wide);
  }
  /** Puts the picture on a canvas, its upper left corner at (x, y). */
  paint(pen, x, y) {
    this.pen.putImageData(this.image, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.canvas, x, y, this.width, this.lines / this.fine);
  }
}

/** The colours as pixels, by their names. */
const inks = {};

/** Reads colours of the style sheet, `{name: "#2f6db3"}`. */
function readInks(colours) {
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  for (const [name, colour] of Object.entries(colours)) {
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    inks[name] = new Uint32Array(pen.getImageData(0, 0, 1, 1).data.buffer)[0];
  }
}
