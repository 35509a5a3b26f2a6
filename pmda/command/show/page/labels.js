// SPDX-License-Identifier: LGPL-2.1-or-later
// Keeps the labels of charts apart, and computes the marks of scales, in dygraphs' interface:
// (least, greatest, pixels) -> [{v, label}].

import {clock, element, shortName, visibleName} from './format.js';
import {view} from './view.js';

const labelHeight = 13;
const labelDistance = 8;

// The width of a label in pixels, as page.css shows it.
export const textWidth = (() => {
  const context = document.createElement('canvas').getContext('2d');
  const {fontFamily} = getComputedStyle(document.body);
  return (text, weight = 400) => {
    context.font = `${weight} 11px ${fontFamily}`;
    return context.measureText(text).width;
  };
})();

// Chooses the ticks whose labels fit beside each other into the width. Gives {x, middle, label}:
// `middle` is the label's, which differs from x near an edge.
export function fittingTicks(ticks, xOf, width) {
  let free = 0;
  return ticks.flatMap(({v, label}) => {
    const half = textWidth(label) / 2;
    const x = xOf(v);
    const middle = Math.min(Math.max(x, half), width - half);
    if (middle - half < free) return [];
    free = middle + half + labelDistance;
    return [{x, middle, label}];
  });
}

// Joins marks whose labels would overlap: {x, label} -> {middle, first, last, half}.
export function joinedMarks(marks, width) {
  const labelOf = (first, last) => first === last ? first.label : `${first.label}–${last.label}`;
  const placed = (first, last) => {
    const half = textWidth(labelOf(first, last), 600) / 2;
    const middle = Math.min(Math.max((first.x + last.x) / 2, half), width - half);
    return {first, last, label: labelOf(first, last), half, middle};
  };
  const joined = [];
  for (const mark of [...marks].sort((a, b) => a.x - b.x)) {
    let next = placed(mark, mark);
    while (joined.length &&
           next.middle - next.half < joined.at(-1).middle + joined.at(-1).half + labelDistance)
      next = placed(joined.pop().first, next.last);
    joined.push(next);
  }
  return joined;
}

// Gives the tops of labels beside heights that are in ascending order: as near as possible,
// without overlaps, between two limits.
function stackedTops(heights, top, bottom) {
  const tops = [];
  heights.forEach((height, i) => {
    tops[i] = Math.max(height - labelHeight / 2, i ? tops[i - 1] + labelHeight : top);
  });
  let limit = bottom;
  for (let i = tops.length - 1; i >= 0; --i) {
    tops[i] = Math.min(tops[i], limit - labelHeight);
    limit = tops[i];
  }
  return tops;
}

// A line's height at the right edge of the shown time; null: it has ended long before.
function endOf(chart, {values}) {
  const [from, to] = view.range();
  const {middles, count} = chart.shown.grid;
  const isDrawn = (i) => values[i] > (chart.log ? 0 : -Infinity);
  let i = count - 1;
  while (i >= 0 && (middles[i] > to || !isDrawn(i))) --i;
  if (i < 0 || middles[i] < from) return null;
  const here = chart.yOf(values[i]);
  if (i + 1 >= count || !isDrawn(i + 1)) return here;
  return here +
      (chart.yOf(values[i + 1]) - here) * (to - middles[i]) / (middles[i + 1] - middles[i]);
}

// Names each line at its end, in the order of the lines there; of equal lines the last is on top,
// as percentiles are.
export function endLabels(chart) {
  const {x, y, w, h} = chart.graph.getArea();
  const ends = chart.named()
                   .map((line) => ({line, at: endOf(chart, line)}))
                   .filter(({at}) => Number.isFinite(at))
                   .reverse()
                   .sort((a, b) => a.at - b.at);
  const tops = stackedTops(ends.map(({at}) => at), y - labelHeight / 2, y + h + labelHeight / 2);
  return ends.map(
      ({line}, i) => element(
          'span', {style: `top:${tops[i]}px;left:${x + w + 6}px;right:0;color:${line.color}`},
          shortName(line.label, 'label')));
}

// Names each layer where it is thickest, if the name fits into it. Looks at every fourth pixel.
export function layerLabels(chart) {
  const {x, w} = chart.graph.getArea();
  const lefts = Array.from({length: Math.ceil(w / 4)}, (_, i) => x + 4 * i);
  const layers = layersOf(chart, lefts);
  const placed = [];
  chart.drawn.forEach((line, k) => {
    const half = Math.min(textWidth(visibleName(line.label), 600), 190) / 2 + 4;
    const reach = Math.ceil(half / 4);
    let best = {thickness: labelHeight + 2};
    for (const i of fromMiddle(reach, lefts.length - reach)) {
      const [top, bottom] = [layers[k].tops[i], layers[k].bottoms[i]];
      const spot = {left: lefts[i], top: (top + bottom) / 2, half, thickness: bottom - top};
      if (spot.thickness > best.thickness + 1 && covers(layers[k], i, reach, spot.top) &&
          !placed.some((other) => areNear(spot, other)))
        best = spot;
    }
    if ('left' in best) placed.push({...best, label: line.label});
  });
  return placed.map(
      ({left, top, label}) => element(
          'span', {class: 'inside', style: `left:${left}px;top:${top}px`},
          shortName(label, 'label')));
}

// Numbers between two, the middle ones first: of equal places the middle one is the best.
const fromMiddle = (from, to) =>
    Array.from({length: Math.max(0, to - from)}, (_, i) => from + i)
        .sort((a, b) => Math.abs(2 * a - from - to) - Math.abs(2 * b - from - to));

// The edges of each layer at some places, in pixels. Dygraphs stacks the last layer at the bottom.
function layersOf(chart, lefts) {
  const times = lefts.map((left) => chart.graph.toDataXCoord(left) - clock.offset);
  const below = new Float64Array(lefts.length);
  const layers = [];
  for (let k = chart.drawn.length - 1; k >= 0; --k) {
    const bottoms = Array.from(below, (value) => chart.yOf(value));
    valuesAt(times, chart.shown.grid.middles, chart.drawn[k].values).forEach((value, i) => {
      below[i] += value;
    });
    layers[k] = {bottoms, tops: Array.from(below, (value) => chart.yOf(value))};
  }
  return layers;
}

// A line's values at ascending times; 0 where there is no line.
function valuesAt(times, middles, values) {
  let i = 0;
  return times.map((time) => {
    while (i + 1 < middles.length && middles[i + 1] < time) ++i;
    if (time < middles[i] || i + 1 >= middles.length) return 0;
    const share = (time - middles[i]) / (middles[i + 1] - middles[i]);
    return values[i] + (values[i + 1] - values[i]) * share || 0;
  });
}

// True if the layer covers a label around place i, whose middle has this height.
function covers({tops, bottoms}, i, reach, middle) {
  for (let at = i - reach; at <= i + reach; ++at)
    if (tops[at] > middle - labelHeight / 2 || bottoms[at] < middle + labelHeight / 2) return false;
  return true;
}

const areNear = (one, other) => Math.abs(one.left - other.left) < one.half + other.half &&
    Math.abs(one.top - other.top) < labelHeight + 2;

const timeSteps = [
  1,     2,     5,      10,     20,     50,      100,     200,     500,
  1e3,   2e3,   5e3,    10e3,   15e3,   30e3,    60e3,    120e3,   300e3,
  600e3, 900e3, 1800e3, 3600e3, 7200e3, 10800e3, 21600e3, 43200e3, 86400e3
];

// For times shifted by the zone's offset. A label must end before the right edge: dygraphs would
// move it there, onto its neighbour. On the left it must leave the corner to the other axis.
export function timeTicks(from, to, pixels, options) {
  const least = (to - from) / Math.max(2, pixels / 85);
  const step = timeSteps.find((each) => each >= least) || 86400e3 * Math.ceil(least / 86400e3);
  // The part of an ISO time.
  const shown = step >= 86400e3 ? [5, 10] : [11, step >= 60e3 ? 16 : step >= 1e3 ? 19 : 23];
  const right = pixels + options('rightGap');
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    const label = new Date(at).toISOString().slice(...shown);
    const [middle, half] = [pixels * (at - from) / (to - from), textWidth(label) / 2];
    if (middle - half >= -labelDistance && middle + half <= right) ticks.push({v: at, label});
  }
  return ticks;
}

export function linearTicks(format) {
  return (from, to, pixels) => {
    if (!(to > from)) return [{v: from, label: format(from)}];
    const most = Math.max(2, pixels / 36);
    const least = (to - from) / most;
    const power = 10 ** Math.floor(Math.log10(least));
    const step = power * [1, 2, 5, 10].find((each) => each * power >= least * (1 - 1e-9));
    const first = Math.ceil(from / step - 1e-9);
    // Large numbers may not differ by a step, so the steps are counted, not compared.
    const length = Math.min(Math.floor(to / step + 1e-9) - first, most) + 1;
    return Array.from({length}, (_, i) => {
      const v = (first + i) * step;
      return {v, label: format(v)};
    });
  };
}

export function logTicks(format) {
  return (from, to, pixels) => {
    const decades = Math.log10(to / from);
    const room = pixels / 26;
    const marks = decades * 3 <= room ? [1, 2, 5] : [1];
    const every = Math.max(1, Math.ceil(decades / room));
    const ticks = [];
    for (let power = Math.floor(Math.log10(from)); 10 ** power <= to; ++power)
      for (const mark of marks) {
        const value = Number((mark * 10 ** power).toPrecision(3));
        if (value >= from && value <= to && power % every === 0)
          ticks.push({v: value, label: format(value)});
      }
    return ticks.length >= 2 ? ticks : linearTicks(format)(from, to, pixels);
  };
}
