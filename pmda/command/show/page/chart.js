// SPDX-License-Identifier: LGPL-2.1-or-later
// Charts over time. All charts show the same part of the run, and mark the same moment when the
// pointer is over one of them. dygraphs draws lines and scales; this code handles the pointer,
// keys, and labels beside lines.

import {clock, element, isKnown, shortName, strokeOf, svg, visibleName} from './format.js';
import {endLabels, layerLabels, linearTicks, logTicks, textWidth, timeTicks} from './labels.js';
import {stepFor, thinned, withWidth} from './thinning.js';
import {ink, view} from './view.js';

const dygraphs = /** @type {any} */ (window).Dygraph;
// Its legend, which no chart shows, sets a style in a way that the page's policy forbids.
dygraphs.PLUGINS = dygraphs.PLUGINS.filter((each) => each !== dygraphs.Plugins.Legend);

export function lineSample({color, dash, width = 1.8, fill = 0}) {
  const sample = svg('svg', {width: 22, height: 10, 'aria-hidden': 'true', class: 'sample'});
  if (fill)
    sample.append(svg('rect', {width: 22, height: 10, rx: 2, fill: color, 'fill-opacity': fill}));
  sample.append(svg('line', {x1: 0, x2: 22, y1: 5, y2: 5, ...strokeOf({color, dash}, width)}));
  return sample;
}

// Dygraphs calls this for points at the edges of gaps. Without a line on either side only
// the point itself can be seen.
function drawPoint(graph, series, context, x, y, color, _, row) {
  const column = graph.getPropertiesForSeries(series).column;
  const isAlone = [row - 1, row + 1].every((next) => !isKnown(graph.getValue(next, column)));
  context.beginPath();
  context.fillStyle = color;
  context.arc(x, y, isAlone ? 3.5 : 1.6, 0, 2 * Math.PI);
  context.fill();
}

// A frame with a title and a key; the pointer marks a place in its plot, with words beside it.
export class Chart {
  constructor(host, {title = '', help = null, height = 230}) {
    this.title = title;
    this.height = height;
    this.key = element('div', {class: 'key'});
    this.plot = element('div', {class: 'plot', style: `height:${height}px`});
    this.cross = element('div', {class: 'cross', hidden: true});
    this.tip = element('div', {class: 'tip', hidden: true});
    this.frame = element(
        'figure', {class: 'chart'},
        element('figcaption', {}, element('h3', {title: help}, title), this.key), this.plot);
    host.append(this.frame);
  }

  showCross(left, top, height) {
    this.cross.hidden = false;
    this.cross.style.cssText = `left:${left}px;top:${top}px;height:${height}px`;
  }

  showTip(left, ...words) {
    this.tip.replaceChildren(...words);
    this.tip.hidden = false;
    const width = this.plot.clientWidth;
    const [side, distance] = left > width / 2 ? ['right', width - left] : ['left', left];
    this.tip.style.cssText = `top:10px;${side}:${distance + 12}px`;
  }

  remove() { this.frame.remove(); }
}

export class TimeChart extends Chart {
  grid;
  lines;
  format;
  log = false;
  stacked = false;
  hasEndLabels = true;
  valueRange;
  extraKey;
  keyHelp;
  paint;
  readPlace;
  onPick;
  onEnter;

  // A line: {label, values, color, dash, width, fill, merge: see thinning.js, isHidden: only
  // counts for the range}. `paint(context, chart)` draws below the lines. readPlace(time, value)
  // gives more words for the pointer; onPick(time, value) and onEnter() follow a click and the key.
  constructor(host, options) {
    super(host, options);
    Object.assign(this, options);
    this.canvasHost = element('div', {class: 'canvas'});
    this.brush = element('div', {class: 'brush', hidden: true});
    this.labels = element('div', {class: 'labels', 'aria-hidden': 'true'});
    this.plot.append(this.canvasHost, this.labels, this.cross, this.brush, this.tip);
    this.thin();
    this.plot.tabIndex = 0;
    this.plot.setAttribute('role', 'img');
    this.plot.setAttribute('aria-label', this.describe());
    this.showKey();
    this.graph = new dygraphs(this.canvasHost, this.rows(), this.dygraphsOptions());
    view.charts.add(this);
    this.width = this.plot.clientWidth;
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(this.plot);
    this.listen();
  }

  describe() {
    const names = this.named().map(({label}) => visibleName(label)).join(', ');
    const keys = 'Arrows move, + and - zoom, 0 shows the whole run.';
    return [`${this.title}: ${names}, over time.`, keys, this.keyHelp].filter(Boolean).join(' ');
  }

  named() { return this.drawn.filter(({label}) => label); }

  // Positions in pixels.
  xOf(time) { return this.graph.toDomXCoord(time + clock.offset); }
  yOf(value) { return this.graph.toDomYCoord(value); }

  // Chooses the points to show. True if they have changed.
  thin() {
    const step = stepFor(this.grid, view.range(), Math.max(this.canvasHost.clientWidth, 300) / 3);
    if (step === this.shown?.step) return false;
    this.shown = withWidth(thinned(this.grid, this.lines, step));
    this.drawn = this.shown.lines.filter(({isHidden}) => !isHidden);
    return true;
  }

  rows() {
    const {middles, count} = this.shown.grid;
    const rows = new Array(count);
    for (let i = 0; i < count; ++i) {
      rows[i] = [middles[i] + clock.offset];
      for (const {values} of this.drawn) {
        const value = values[i];
        rows[i].push(!Number.isFinite(value) || (this.log && value <= 0) ? null : value);
      }
    }
    return rows.length ? rows : [[view.run.begin + clock.offset, ...this.drawn.map(() => null)]];
  }

  dygraphsOptions() {
    const series = {};
    this.drawn.forEach(({color, dash, width = 1.6, fill}, i) => {
      series[`s${i}`] = {
        color,
        strokePattern: dash || null,
        strokeWidth: width,
        fillGraph: Boolean(fill),
        fillAlpha: fill || 0
      };
    });
    return {
      labels: ['time', ...this.drawn.map((_, i) => `s${i}`)],
      series,
      colors: this.drawn.map(({color}) => color),
      interactionModel: {},
      logscale: this.log,
      stackedGraph: this.stacked,
      stackedGraphNaNFill: 'none',
      valueRange: this.rangeShown(),
      dateWindow: this.shifted(),
      drawGapEdgePoints: true,
      drawPointCallback: drawPoint,
      highlightCircleSize: 2.5,
      rightGap: this.rightGap(),
      gridLineWidth: 0.6,
      gridLineColor: ink('grid'),
      axisLineColor: ink('grid'),
      axisLineWidth: 0.6,
      axisTickSize: 4,
      underlayCallback: (context, area, graph) => {
        this.graph = graph;  // dygraphs draws before its constructor ends
        this.underlay(context, area);
      },
      drawCallback: () => this.placeLabels(),
      axes: {
        x: {ticker: timeTicks, drawGrid: false, pixelsPerLabel: 80, axisLabelWidth: 80},
        y: {ticker: (this.log ? logTicks : linearTicks)(this.format), axisLabelWidth: 58},
      },
    };
  }

  // The range of shown values. No value may touch the upper edge: dygraphs would not fill below it.
  rangeShown() {
    if (this.valueRange) return this.valueRange;
    const [begin, end] = view.range();
    const {grid: {edges, count}, lines} = this.shown;
    const all = lines.map(({values}) => values);
    let [least, greatest] = this.log ? [Infinity, 0] : [0, 0];
    for (let i = 0; i < count; ++i) {
      if (edges[i + 1] < begin || edges[i] > end) continue;
      const values = all.map((each) => each[i])
                         .filter((value) => Number.isFinite(value) && (!this.log || value > 0));
      if (this.stacked) values.push(values.reduce((sum, value) => sum + value, 0));
      least = Math.min(least, ...values);
      greatest = Math.max(greatest, ...values);
    }
    if (this.log) return greatest > 0 ? [least / 1.2, greatest * 1.2] : [1e-6, 1];
    const room = (greatest - least || 1) * 0.06;
    return [least < 0 ? least - room : 0, greatest + room];
  }

  rightGap() {
    if (this.stacked || !this.hasEndLabels) return 8;
    const widths = this.named().map((line) => textWidth(visibleName(line.label), 600));
    return Math.min(14 + Math.max(0, ...widths), this.canvasHost.clientWidth / 5, 130);
  }
  shifted() { return view.range().map((at) => at + clock.offset); }

  underlay(context, area) {
    context.save();
    context.beginPath();
    context.rect(area.x, area.y, area.w, area.h);
    context.clip();
    if (this.paint) this.paint(context, this);
    context.fillStyle = ink('gap');
    for (const [begin, end] of view.run.gaps) {
      const [left, right] = [begin, end].map((at) => this.xOf(at));
      context.fillRect(left, area.y, Math.max(1, right - left), area.h);
    }
    context.restore();
  }

  placeLabels() {
    if (this.hasEndLabels)
      this.labels.replaceChildren(...(this.stacked ? layerLabels(this) : endLabels(this)));
  }

  keyEntry(line, ...more) {
    return element(
        'span', {class: 'entry'}, lineSample(line), shortName(line.label, 'label'), ...more);
  }

  showKey() {
    this.key.replaceChildren(...this.named().map((line) => this.keyEntry(line)));
    if (this.extraKey) this.key.append(this.extraKey());
    const {step} = this.shown;
    if (step > 1)
      this.key.append(
          element('span', {title: 'Zoom in to see each'}, `points of ${step} intervals`));
  }

  // The values at a point, in words.
  read(row) {
    return [
      element('time', {}, clock.time(this.shown.grid.edges[row + 1])),
      ...this.named().map(
          (line) => this.keyEntry(line, element('b', {}, this.format(line.values[row]))))
    ];
  }

  rowAt(time) {
    const {edges, count} = this.shown.grid;
    if (count === 0 || time < edges[0] || time > edges[count]) return null;
    return Math.min(edges.findLastIndex((edge) => edge <= time), count - 1);
  }

  pointAt(time) {
    const row = time === null ? null : this.rowAt(time);
    this.cross.hidden = this.tip.hidden = true;
    if (row === null) return this.graph.clearSelection();
    const {y, h} = this.graph.getArea();
    const left = this.xOf(this.shown.grid.middles[row]);
    this.showCross(left, y, h);
    this.graph.setSelection(row);
    if (view.pointed !== this) return;
    this.showTip(left, ...this.read(row), ...(this.readPlace?.(time, this.pointedValue) || []));
  }

  showWindow() {
    const points = this.thin() ? {file: this.rows()} : {};
    this.showKey();
    this.graph.updateOptions(
        {dateWindow: this.shifted(), valueRange: this.rangeShown(), ...points});
  }

  resized() {
    const width = this.plot.clientWidth;
    if (width === 0 || width === this.width) return;
    this.width = width;
    this.graph.updateOptions({rightGap: this.rightGap()}, true);  // shown by resize()
    this.graph.resize();
    this.showWindow();
  }

  timeAt(event) {
    const {x, w} = this.graph.getArea();
    const left = event.clientX - this.plot.getBoundingClientRect().left;
    return this.graph.toDataXCoord(Math.min(Math.max(left, x), x + w)) - clock.offset;
  }

  valueAt(event) {
    return this.graph.toDataYCoord(event.clientY - this.plot.getBoundingClientRect().top);
  }

  listen() {
    this.plot.onpointermove = (event) => this.moved(event);
    this.plot.onpointerleave = () => view.pointAt(null);
    this.plot.onpointerdown = (event) => this.pressed(event);
    this.plot.onpointerup = (event) => this.released(event);
    this.plot.onpointercancel = () => this.stopBrush();
    this.plot.onclick = (event) => this.clicked(event);
    this.plot.ondblclick = () => {
      clearTimeout(this.picking);
      view.zoom(null);
    };
    this.plot.onkeydown = (event) => {
      const moves =
          {ArrowLeft: [-0.25, 1], ArrowRight: [0.25, 1], '+': [0, 0.5], '=': [0, 0.5], '-': [0, 2]};
      if (event.key in moves)
        view.move(...moves[event.key]);
      else if (event.key === '0' || event.key === 'Escape')
        view.zoom(null);
      else if (event.key === 'Enter' && this.onEnter)
        this.onEnter();
      else
        return;
      event.preventDefault();
    };
  }

  pressed(event) {
    this.wasDragged = false;
    if (event.button !== 0 || event.pointerType === 'touch') return;
    this.brushFrom = {time: this.timeAt(event), x: event.clientX};
    this.plot.setPointerCapture(event.pointerId);
  }

  moved(event) {
    view.pointed = this;
    this.pointedValue = this.valueAt(event);
    view.pointAt(this.timeAt(event));
    if (!this.brushFrom) return;
    const {y, h} = this.graph.getArea();
    const [from, to] =
        [this.brushFrom.time, this.timeAt(event)].sort((a, b) => a - b).map((at) => this.xOf(at));
    this.brush.hidden = false;
    this.brush.style.cssText = `left:${from}px;width:${to - from}px;top:${y}px;height:${h}px`;
  }

  released(event) {
    if (!this.brushFrom) return;
    const from = this.brushFrom;
    this.stopBrush();
    this.wasDragged = Math.abs(event.clientX - from.x) >= 6;
    if (this.wasDragged) view.zoom([from.time, this.timeAt(event)].sort((a, b) => a - b));
  }

  // In a part of the run a second click may follow, which shows the whole run.
  clicked(event) {
    if (!this.onPick || event.detail !== 1 || this.wasDragged) return;
    const place = [this.timeAt(event), this.valueAt(event)];
    this.picking = setTimeout(() => this.onPick(...place), view.window ? 300 : 0);
  }

  stopBrush() {
    this.brushFrom = null;
    this.brush.hidden = true;
  }

  remove() {
    view.charts.delete(this);
    this.observer.disconnect();
    this.graph.destroy();
    super.remove();
  }
}
