// SPDX-License-Identifier: LGPL-2.1-or-later
// Computes the marks of scales, in dygraphs' interface: (least, greatest, pixels) -> [{v, label}].

const timeSteps = [
  1,     2,     5,      10,     20,     50,      100,     200,     500,
  1e3,   2e3,   5e3,    10e3,   15e3,   30e3,    60e3,    120e3,   300e3,
  600e3, 900e3, 1800e3, 3600e3, 7200e3, 10800e3, 21600e3, 43200e3, 86400e3
];

// For times shifted by the zone's offset. A label must end before the right edge: dygraphs would
// move it there, onto its neighbour. On the left it must leave the corner to the other axis.
function timeTicks(from, to, pixels, options) {
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

function linearTicks(format) {
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

function logTicks(format) {
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
