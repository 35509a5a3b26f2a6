// SPDX-License-Identifier: LGPL-2.1-or-later
// Fewer points where more would only make a line thick: neighbouring intervals become one. What can
// be added up is exact; of percentiles, which cannot, it is the middle one.
'use strict';

// How the values from `from` to `to` become one. Known ones only; none is NaN.
const merges = {
  middle: (known) => known.sort()[known.length >> 1],
  greatest: (known) => known.reduce((a, b) => Math.max(a, b)),
  least: (known) => known.reduce((a, b) => Math.min(a, b)),
  last: (known) => known[known.length - 1],
};

function mergeRange(line, seconds, from, to) {
  const values = line.values.subarray(from, to);
  if (line.merge === 'rate') {  // by time: of what was called, how long did it take
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

// Where the joined points begin. What is left when a program has ended is part of the one before
// it: there would seem to be a fall where there was only an end.
function joinedStarts({edges, count}, step) {
  const starts = [];
  for (let i = 0; i < count; i += step) starts.push(i);
  const length = (start) => edges[Math.min(start + step, count)] - edges[start];
  const [before, last] = starts.slice(-2);
  if (starts.length > 1 && length(last) < length(before) / 4) starts.pop();
  return starts;
}

// Gives a grid and lines with one point for each `step` of them.
function thinned(grid, lines, step) {
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

// How many points become one so that there are no more than `most` between two times. Powers of
// two: so a chart need not be made anew at each turn of the wheel.
function stepFor(grid, [begin, end], most) {
  const all = grid.edges[grid.count] - grid.edges[0];
  const points = grid.count * Math.min(1, (end - begin) / all);
  let step = 1;
  while (points / step > most) step *= 2;
  return step;
}
