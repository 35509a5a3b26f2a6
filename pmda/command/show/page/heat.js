// SPDX-License-Identifier: LGPL-2.1-or-later
// Painted below the lines of a chart: the distribution of calls over latency and time, from
// histograms; or, without histograms, bands between the percentiles.

import {element} from './format.js';
import {axisBegin, binsOf, needsLog} from './shapes.js';
import {ink, view} from './view.js';

// The present theme's colours from few calls to many.
function heatColors() {
  const stops = ink('heat').split(/\s+/).map(
      (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  return Array.from({length: 64}, (_, i) => {
    const place = i / 63 * (stops.length - 1);
    const low = Math.min(Math.floor(place), stops.length - 2);
    const parts =
        stops[low].map((part, k) => Math.round(part + (stops[low + 1][k] - part) * (place - low)));
    return `rgb(${parts.join(',')})`;
  });
}

export class HeatMap {
  constructor(heat) {
    this.columns = heat.map(
        (column) =>
            ({...column, bins: binsOf(column), seconds: (column.end - column.begin) / 1000}));
    const all = this.columns.flatMap(({bins}) => bins);
    // Ignores short columns: a few calls in an instant would give an extreme rate.
    const longest = Math.max(...this.columns.map(({seconds}) => seconds));
    const usual = this.columns.filter(({seconds}) => seconds > longest / 4);
    this.most = Math.max(
        ...usual.map(({bins, seconds}) => Math.max(...bins.map(({count}) => count)) / seconds));
    const positive = all.filter(({low}) => low > 0);
    this.range = positive.length ?
        [Math.min(...positive.map(({low}) => low)), Math.max(...positive.map(({high}) => high))] :
        [1e-9, 1];
    this.log = positive.length === all.length && needsLog(...this.range);
    if (this.log) return;
    const greatest = Math.max(...all.map(({high}) => high));
    this.range = [axisBegin(Math.min(...all.map(({low}) => low)), greatest), greatest];
    if (this.range[0] === this.range[1]) this.range[1] += 1;  // only zeros
  }

  paint(context, chart) {
    const colors = heatColors();
    const [begin, end] = view.range();
    for (const column of this.columns) {
      if (column.end < begin || column.begin > end) continue;
      const [left, right] = [column.begin, column.end].map((at) => chart.xOf(at));
      for (const {low, high, count} of column.bins) {
        const [bottom, top] = [low, high].map((value) => chart.yOf(value));
        const share = Math.log1p(count) / Math.log1p(this.most * column.seconds);
        context.fillStyle = colors[Math.min(63, Math.floor(share * 64))];
        context.fillRect(
            left, top, Math.max(1, right - left + 0.3), Math.max(1, bottom - top + 0.3));
      }
    }
  }

  columnAt(time) { return this.columns.find(({begin, end}) => begin <= time && time <= end); }

  // Cells may be narrower than a pointer is exact: the nearest one counts.
  cellAt(time, value, chart) {
    const column = this.columnAt(time);
    const y = chart.yOf(value);
    const distance = ({low, high}) => Math.max(chart.yOf(high) - y, y - chart.yOf(low), 0);
    const bin = column?.bins.reduce((a, b) => distance(b) < distance(a) ? b : a);
    return bin && distance(bin) <= 3 ? {begin: column.begin, end: column.end, ...bin} : null;
  }

  key() {
    const colors = heatColors().filter((_, i) => i % 9 === 0 || i === 63);
    return element(
        'span', {class: 'entry'}, 'few',
        element(
            'i', {class: 'ramp', style: `background:linear-gradient(90deg,${colors.join(',')})`}),
        'many calls');
  }
}

// Fills the space between neighbouring lines, darker for more calls.
export function paintBands(color) {
  const shades = {min: 0, p50: 0.3, p90: 0.22, p95: 0.17, p99: 0.12, p999: 0.08, max: 0.05};
  return (context, chart) => {
    const {lines, grid: {count}} = chart.shown;
    for (let band = 1; band < lines.length; ++band) {
      const [below, above] = [lines[band - 1].values, lines[band].values];
      context.fillStyle = color;
      context.globalAlpha = shades[lines[band].name];
      for (let i = 0; i < count;) {
        let last = i;
        while (last < count && below[last] > 0 && above[last] > 0) ++last;
        if (last > i) fillBetween(context, chart, below, above, i, last);
        i = last + 1;
      }
    }
    context.globalAlpha = 1;
  };
}

function fillBetween(context, chart, below, above, from, to) {
  const x = (i) => chart.xOf(chart.shown.grid.middles[i]);
  context.beginPath();
  for (let i = from; i < to; ++i) context.lineTo(x(i), chart.yOf(above[i]));
  for (let i = to - 1; i >= from; --i) context.lineTo(x(i), chart.yOf(below[i]));
  context.fill();
}
