// SPDX-License-Identifier: LGPL-2.1-or-later
// Charts without a time axis: distributions, latency by percentile, and sparklines.

import {Chart} from './chart.js';
import {lowerEdge, percentileNames, upperEdge} from './data.js';
import {rateLine} from './detail.js';
import {figureNamed} from './figures.js';
import {element, formatCount, isKnown, strokeOf, svg} from './format.js';
import {fittingTicks, joinedMarks, linearTicks, logTicks} from './labels.js';
import {thinned} from './thinning.js';

// Maps values to pixels. No inverse is needed: shapes are redrawn for each width.
export function scaleOf(from, to, [left, right], log) {
  const of = log ? Math.log : (value) => value;
  const [a, b] = [of(from), of(to)];
  return (value) => left + (right - left) * (b === a ? 0.5 : (of(value) - a) / (b - a));
}

// True if only a logarithmic scale shows all values.
export const needsLog = (least, greatest) => least > 0 && greatest / least > 8;

// A linear axis begins at zero, or below the values if they lie close together.
export const axisBegin = (least, greatest) =>
    least > greatest / 2 && least < greatest ? least - (greatest - least) / 4 : Math.min(0, least);

// Redraws when the width changes. `draw(width, height)` returns {children} of an SVG, and read(x),
// the words for a place.
export class Shape extends Chart {
  constructor(host, {draw, ...options}) {
    super(host, options);
    this.draw = draw;
    this.observer = new ResizeObserver(() => this.resized(this.plot.clientWidth));
    this.observer.observe(this.plot);
    this.plot.onpointermove = (event) =>
        this.pointAt(event.clientX - this.plot.getBoundingClientRect().left);
    this.plot.onpointerleave = () => this.pointAt(null);
  }

  resized(width) {
    if (width <= 0 || width === this.width) return;
    this.width = width;
    this.drawn = this.draw(width, this.height);
    this.cross.hidden = this.tip.hidden = true;
    this.plot.replaceChildren(
        svg('svg', {width, height: this.height, role: 'img', 'aria-label': this.title},
            ...this.drawn.children),
        this.cross, this.tip);
  }

  pointAt(x) {
    if (!this.drawn) return;
    const words = x === null ? null : this.drawn.read(x);
    this.cross.hidden = this.tip.hidden = !words;
    if (!words) return;
    this.showCross(x, margin.top, this.height - margin.top - margin.bottom);
    this.showTip(x, element('b', {}, words));
  }

  remove() {
    this.observer.disconnect();
    super.remove();
  }
}

export const margin = {
  left: 66,
  right: 14,
  top: 8,
  bottom: 24
};

const verticalLine = (x, top, height) => ({x1: x, x2: x, y1: top, y2: height - margin.bottom});

export function xTicks(ticks, x, width, height) {
  return fittingTicks(ticks, x, width)
      .flatMap(
          ({x: at, middle, label}) =>
              [svg('line', {...verticalLine(at, margin.top, height), class: 'grid'}),
               svg('text', {x: middle, y: height - 7, 'text-anchor': 'middle', class: 'tick'},
                   label)]);
}

function yTick(y, label, width) {
  return [
    svg('line', {x1: margin.left, x2: width - margin.right, y1: y, y2: y, class: 'grid'}),
    svg('text', {x: margin.left - 8, y: y + 4, 'text-anchor': 'end'}, label)
  ];
}

// A distribution's bins as {low, high, count}, ascending.
export function binsOf({coarseness, bins, counts}) {
  return bins.map(
      (bin, i) =>
          ({low: lowerEdge(bin, coarseness), high: upperEdge(bin, coarseness), count: counts[i]}));
}

// Joins neighbouring bins until at most `most` are in the range, so that bars are wide enough.
function coarser(distribution, most) {
  let {coarseness, bins, counts} = distribution;
  while (coarseness < 5 && bins[bins.length - 1] - bins[0] > most) {
    const joined = new Map();
    bins.forEach((bin, i) => joined.set(bin >> 1, (joined.get(bin >> 1) || 0) + counts[i]));
    [coarseness, bins, counts] = [coarseness + 1, [...joined.keys()], [...joined.values()]];
  }
  return {coarseness, bins, counts};
}

// Bars of equal width, for ranges with zero or negative values, where bins are narrow around zero.
function equalBars(bins, most) {
  let [least, greatest] = [bins[0].low, bins[bins.length - 1].high];
  if (least === greatest) [least, greatest] = [least - 0.5, greatest + 0.5];
  const width = (greatest - least) / most;
  const bars = Array.from(
      {length: most},
      (_, i) => ({low: least + i * width, high: least + (i + 1) * width, count: 0}));
  for (const {low, high, count} of bins)
    bars[Math.min(most - 1, Math.floor(((low + high) / 2 - least) / width))].count += count;
  return bars;
}

// One bin of positive values would fill the whole width. It stands alone in a wider range.
export const aloneIn = ({low, high}) => [low / 1.5, high * 1.5];

// Bars differ in width: their areas are the numbers of calls.
export const widthOf = (low, high, log) => log ? Math.log(high / low) : high - low;

function barsOf(distribution, width) {
  const bins = binsOf(distribution);
  if (bins.length === 1 && bins[0].low > 0) return {log: true, bars: bins, range: aloneIn(bins[0])};
  const total = distribution.counts.reduce((sum, count) => sum + count, 0);
  const most = Math.floor(Math.min(width / 4, 12 + 3 * Math.sqrt(total)));
  const log = needsLog(bins[0].low, bins[bins.length - 1].high);
  const bars = bins[0].low > 0 ? binsOf(coarser(distribution, most)) : equalBars(bins, most);
  return {log, bars, range: [bars[0].low, bars[bars.length - 1].high]};
}

// `marks`: {label, value, color, dash}, lines at percentiles.
export function drawDistribution(distribution, marks, format, width, height) {
  const {log, bars, range: [least, greatest]} = barsOf(distribution, width);
  const x = scaleOf(least, greatest, [margin.left, width - margin.right], log);
  const heightOf = ({low, high, count}) => count / widthOf(low, high, log);
  const y =
      scaleOf(0, Math.max(...bars.map(heightOf)), [height - margin.bottom, margin.top + 14], false);
  const drawn = bars.filter(({count}) => count > 0).map((bar) => {
    const [left, right, top] = [x(bar.low), x(bar.high), y(heightOf(bar))];
    return svg('rect', {
      x: left,
      width: Math.max(0.8, right - left - 0.6),
      y: top,
      rx: 1,
      class: 'bar',
      height: Math.max(0.8, height - margin.bottom - top)
    });
  });
  const ticks = xTicks(
      (log ? logTicks : linearTicks)(format)(least, greatest, (width - 80) / 2.4), x, width,
      height);
  const read = (at) => {
    const bar = bars.find(({low, high}) => x(low) <= at && at <= x(high));
    return bar && `${formatCount(bar.count)} from ${format(bar.low)} to ${format(bar.high)}`;
  };
  return {children: [...ticks, ...drawn, ...markLines(marks, x, width, height)], read};
}

// Lines at percentiles, with their names above them.
function markLines(marks, x, width, height) {
  const known =
      marks.filter(({value}) => isKnown(value)).map((mark) => ({...mark, x: x(mark.value)}));
  const lines = known.map(
      (mark) =>
          svg('line', {...verticalLine(mark.x, margin.top + 10, height), ...strokeOf(mark, 1.4)}));
  const labels = joinedMarks(known, width).map(({middle, first, last, label}) => {
    const style = first === last ? `fill:${first.color}` : null;
    return svg(
        'text', {x: middle, y: margin.top + 6, 'text-anchor': 'middle', class: 'mark', style},
        label);
  });
  return [...lines, ...labels];
}

// The number of nines: 0 is 0%, 1 is 90%, 2 is 99%.
const ninesOf = (share) => -Math.log10(1 - share);

// Points {nines, value} of a curve, from the distribution or from the known percentiles.
export function ninesCurve(tag) {
  if (tag.distribution) {
    const bins = binsOf(tag.distribution);
    const total = bins.reduce((sum, {count}) => sum + count, 0);
    let below = 0;
    return bins.flatMap(({low, high, count}) => {
      const from = below / total;
      below += count;
      const to = Math.min(below / total, 1 - 0.5 / total);
      return [from, to].map((share) => ({nines: ninesOf(share), value: (low + high) / 2}));
    });
  }
  return percentileNames.filter((name) => isKnown(tag[name]))
      .map((name) => ({nines: ninesOf(figureNamed(name).quantile), value: tag[name]}));
}

const ninesTicks = [
  [0, '0%'], [ninesOf(0.5), '50%'], [1, '90%'], [2, '99%'], [3, '99.9%'], [4, '99.99%'],
  [5, '99.999%'], [6, '99.9999%'], [7, '99.99999%']
].map(([v, label]) => ({v: Number(v), label}));

// `curves`: {points, color, dash, label: for the pointer's words}
export function drawNines(curves, format, width, height) {
  const points = curves.flatMap((curve) => curve.points);
  const values = points.map(({value}) => value);
  const greatest = Math.max(...values);
  const log = needsLog(Math.min(...values), greatest);
  const least = log ? Math.min(...values) : axisBegin(Math.min(...values), greatest);
  const most = Math.max(2, Math.max(...points.map(({nines}) => nines)));
  const x = scaleOf(0, most, [margin.left, width - margin.right - 8], false);
  const y = scaleOf(least, greatest, [height - margin.bottom, margin.top + 4], log);
  const yTicks = (log ? logTicks : linearTicks)(format)(least, greatest, height - 40)
                     .flatMap(({v, label}) => yTick(y(v), label, width));
  const shares = xTicks(ninesTicks.filter(({v}) => v <= most), x, width, height);
  const lines = curves.map(
      ({points: all, color, dash}) => svg('polyline', {
        points:
            all.map(({nines, value}) => `${x(nines).toFixed(1)},${y(value).toFixed(1)}`).join(' '),
        fill: 'none',
        ...strokeOf({color, dash}, 2),
        'stroke-linejoin': 'round'
      }));
  const known = curves.filter(({isSparse}) => isSparse)
                    .flatMap(
                        ({points: all, color}) => all.map(
                            ({nines, value}) =>
                                svg('circle', {cx: x(nines), cy: y(value), r: 3, fill: color})));
  const nineAt = scaleOf(margin.left, width - margin.right - 8, [0, most], false);
  return {
    children: [...yTicks, ...shares, ...lines, ...known],
    read: (at) => readNines(curves, nineAt(at), format)
  };
}

function readNines(curves, nines, format) {
  if (nines < 0) return null;
  const share = 100 * (1 - 10 ** -nines);
  const digits = Math.max(1, Math.ceil(nines));
  const values = curves.flatMap(({points, label}) => {
    const point = points.find((each) => each.nines >= nines);
    return point ? [[label, format(point.value)].filter(Boolean).join(' ')] : [];
  });
  return values.length ? `${share.toFixed(digits)}% within ${values.join(', ')}` : null;
}

// A table cell's line of the rate over the run; empty if unknown.
export function sparkline(series) {
  const [width, height] = [92, 22];
  const made = svg('svg', {width, height, class: 'spark', 'aria-hidden': 'true'});
  if (!series || !series.calls) return made;
  const line = rateLine('', series.calls, series.grid);
  const {lines: [{values}]} = thinned(series.grid, [line], Math.ceil(series.grid.count / 46));
  const rates = Array.from(values, (rate) => rate || 0);
  if (rates.length < 2) return made;
  const top = Math.max(...rates) || 1;
  const at = (i) =>
      [(i * (width - 2) / (rates.length - 1) + 1).toFixed(1),
       (height - 2 - (height - 5) * rates[i] / top).toFixed(1)];
  const points = rates.map((_, i) => at(i).join(',')).join(' ');
  made.append(
      svg('polygon',
          {points: `1,${height - 1} ${points} ${width - 1},${height - 1}`, class: 'area'}),
      svg('polyline', {points, class: 'line'}));
  return made;
}
