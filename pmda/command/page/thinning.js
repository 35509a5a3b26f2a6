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

// Gives a grid and lines with one point for each `step` of them.
function thinned(grid, lines, step) {
  if (step === 1) return {step, grid, lines};
  const edges = [];
  for (let i = 0; i < grid.count; i += step) edges.push(grid.edges[i]);
  edges.push(grid.edges[grid.count]);
  const thin = gridOf(edges);
  const merged =
      lines.map((line) => ({
                  ...line,
                  values: Float32Array.from(
                      thin.middles,
                      (_, i) => mergeRange(
                          line, grid.seconds, i * step, Math.min((i + 1) * step, grid.count)))
                }));
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
