// SPDX-License-Identifier: LGPL-2.1-or-later
// Joins neighbouring intervals where more points would only thicken a line. Sums stay exact;
// percentiles cannot be added, so the middle one is taken.

import {gridOf} from './data.js';

// Ways to merge values. They get known values only, never NaN.
const merges = {
  middle: (known) => known.sort()[known.length >> 1],
  greatest: (known) => known.reduce((a, b) => Math.max(a, b)),
  least: (known) => known.reduce((a, b) => Math.min(a, b)),
  last: (known) => known[known.length - 1],
};

function mergeRange(line, seconds, from, to) {
  const values = line.values.subarray(from, to);
  if (line.merge === 'rate') {  // weighted by time
    let [sum, time] = [0, 0];
    values.forEach((value, i) => {
      if (Number.isNaN(value)) return;
      sum += value * seconds[from + i];
      time += seconds[from + i];
    });
    return time > 0 ? sum / time : NaN;
  }
  const known = values.filter((value) => !Number.isNaN(value));
  return known.length ? merges[line.merge || 'middle'](known) : NaN;
}

// The first points of the joined intervals. A short rest at the end joins its predecessor:
// otherwise the end of a program would look like a drop.
function joinedStarts({edges, count}, step) {
  const starts = [];
  for (let i = 0; i < count; i += step) starts.push(i);
  const length = (start) => edges[Math.min(start + step, count)] - edges[start];
  const [before, last] = starts.slice(-2);
  if (starts.length > 1 && length(last) < length(before) / 4) starts.pop();
  return starts;
}

// Joins `step` points each, for a grid and its lines.
export function thinned(grid, lines, step) {
  const starts = joinedStarts(grid, step);
  if (starts.length === grid.count) return {step, grid, lines};
  const ends = [...starts.slice(1), grid.count];
  const thin = gridOf([...starts, grid.count].map((i) => grid.edges[i]));
  const merged = lines.map((line) => {
    const values = ends.map((end, i) => mergeRange(line, grid.seconds, starts[i], end));
    return {...line, values: Float32Array.from(values)};
  });
  return {step, grid: thin, lines: merged};
}

// The only interval of a run becomes a line from its begin to its end: a point in its middle could
// hardly be seen.
export function withWidth({step, grid, lines}) {
  if (grid.count !== 1) return {step, grid, lines};
  const [begin, end] = grid.edges;
  const wide = {edges: [begin, end, end], count: 2, middles: [begin, end], seconds: grid.seconds};
  return {
    step,
    grid: wide,
    lines: lines.map((line) => ({...line, values: Float32Array.of(line.values[0], line.values[0])}))
  };
}

// The number of points to join, so that at most `most` are in the time range. A power of two, so
// that charts need not be rebuilt with each turn of the wheel.
export function stepFor(grid, [begin, end], most) {
  const all = grid.edges[grid.count] - grid.edges[0];
  const points = grid.count * Math.min(1, (end - begin) / all);
  let step = 1;
  while (points / step > most) step *= 2;
  return step;
}
