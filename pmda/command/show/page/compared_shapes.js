// SPDX-License-Identifier: LGPL-2.1-or-later
// The chosen tag in both runs of a comparison: distributions on one axis, and percentiles.

const comparedStyles = () => ({
  was: {color: ink('was'), dash: [5, 3], width: 1.6},
  now: {color: ink('accent'), width: 2},
});

function showComparedTag({name, was, is}) {
  const host = byId('compared-charts');
  comparison.charts?.forEach((chart) => chart.remove());
  comparison.charts = [];
  byId('compared-title').replaceChildren(nameElement(name));
  const sides = Object.entries({was, now: is}).filter(([, tag]) => tag);
  const format = formatValue((is || was));
  const add = (options) => comparison.charts.push(new Shape(host, options));
  const known = sides.filter(([, tag]) => tag.distribution?.bins.length);
  if (known.length) {
    const draw = (...size) => drawTwoDistributions(known, format, ...size);
    add({title: 'Distribution', help: 'The share of the calls that took so long', draw});
    showSides(comparison.charts.at(-1), known);
  }
  const styles = comparedStyles();
  const curves = sides
                     .map(([word, tag]) => ({
                            points: ninesCurve(tag),
                            isSparse: !tag.distribution,
                            label: word,
                            ...styles[word]
                          }))
                     .filter(({points}) => points.length > 1);
  if (isMeasured(is || was) && curves.length) {
    const draw = (...size) => drawNines(curves, format, ...size);
    add({title: 'By percentile', help: 'The share of the calls that took no longer', draw});
    showSides(comparison.charts.at(-1), sides);
  }
  byId('compared-none').hidden = comparison.charts.length > 0;
}

function showSides(chart, sides) {
  const styles = comparedStyles();
  chart.key.append(...sides.map(
      ([word, {count}]) => element(
          'span', {class: 'entry'}, lineSample({...styles[word], fill: word === 'now' ? .5 : null}),
          `${word}: ${plural(count, 'call')}`)));
}

// Bars that both distributions share: {low, high, shares}, without holes.
function sharedBars(distributions, width) {
  const all = distributions.flatMap(binsOf).sort((a, b) => a.low - b.low);
  const [low, high] = [all[0].low, all.at(-1).high];
  const [least, greatest] = low > 0 && high < 1.2 * low ? aloneIn({low, high}) : [low, high];
  const most = Math.max(12, Math.floor(Math.min(width / 7, 90)));
  const log = needsLog(least, greatest);
  const bars = low > 0 ? sharedBins(distributions, most) : evenBars(least, greatest, most);
  distributions.forEach((distribution, side) => {
    const total = distribution.counts.reduce((sum, count) => sum + count, 0);
    for (const {low, high, count} of binsOf(distribution)) {
      const middle = (low + high) / 2;
      const bar = bars.findLast((each) => each.low <= middle) || bars[0];
      bar.shares[side] += count / total;
    }
  });
  const range = low > 0 && least < low ? [least, greatest] : [bars[0].low, bars.at(-1).high];
  return {log, bars, range};
}

const emptyBar = (low, high) => ({low, high, shares: [0, 0]});

// All bins from the least to the greatest, as coarse as needed.
function sharedBins(distributions, most) {
  let coarseness = Math.max(...distributions.map((each) => each.coarseness));
  const ends = () => distributions.flatMap(
      ({bins, coarseness: its}) => [bins[0], bins.at(-1)].map(
          (bin) => Math.floor(bin / 2 ** (coarseness - its))));
  while (coarseness < 5 && Math.max(...ends()) - Math.min(...ends()) >= most) ++coarseness;
  const [first, last] = [Math.min(...ends()), Math.max(...ends())];
  return Array.from(
      {length: last - first + 1},
      (_, i) => emptyBar(lowerEdge(first + i, coarseness), upperEdge(first + i, coarseness)));
}

function evenBars(least, greatest, most) {
  const room = greatest > least ? 0 : 0.5;
  const [from, width] = [least - room, (greatest - least + 2 * room) / most];
  return Array.from({length: most}, (_, i) => emptyBar(from + i * width, from + (i + 1) * width));
}

function drawTwoDistributions(sides, format, width, height) {
  const {log, bars, range} = sharedBars(sides.map(([, {distribution}]) => distribution), width);
  const [least, greatest] = range;
  const x = scaleOf(least, greatest, [margin.left, width - margin.right], log);
  const heightOf = ({low, high, shares}, side) => shares[side] / widthOf(low, high, log);
  const most = Math.max(...bars.flatMap((bar) => sides.map((_, side) => heightOf(bar, side))));
  const y = scaleOf(0, most, [height - margin.bottom, margin.top + 4], false);
  const ticks = xTicks(
      (log ? logTicks : linearTicks)(format)(least, greatest, (width - 80) / 2.4), x, width,
      height);
  const drawn = sides.flatMap(([word], side) => {
    const shown =
        bars.map((bar) => ({left: x(bar.low), right: x(bar.high), top: y(heightOf(bar, side))}));
    return word === 'now' ? filledBars(shown, y(0)) : [outline(shown, y(0))];
  });
  const read = (at) => {
    const bar = bars.find(({low, high}) => x(low) <= at && at <= x(high));
    const words = sides.map(([word], side) => `${word} ${formatPercent(bar?.shares[side])}`);
    return bar && `${words.join(', ')} from ${format(bar.low)} to ${format(bar.high)}`;
  };
  return {children: [...ticks, ...drawn.reverse()], read};
}

function filledBars(bars, bottom) {
  return bars.filter(({top}) => top < bottom).map(({left, right, top}) => svg('rect', {
                                                    x: left,
                                                    width: Math.max(0.8, right - left - 0.6),
                                                    y: top,
                                                    height: Math.max(0.8, bottom - top),
                                                    rx: 1,
                                                    class: 'bar'
                                                  }));
}

function outline(bars, bottom) {
  const steps = bars.flatMap(({left, right, top}) => [[left, top], [right, top]]);
  const all = [[bars[0].left, bottom], ...steps, [bars.at(-1).right, bottom]];
  return svg('polyline', {
    points: all.map((point) => point.map((each) => each.toFixed(1)).join(',')).join(' '),
    fill: 'none',
    class: 'outline',
    ...strokeOf(comparedStyles().was, 1.6)
  });
}
