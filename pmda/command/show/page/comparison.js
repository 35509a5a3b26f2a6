// SPDX-License-Identifier: LGPL-2.1-or-later
// Two runs side by side: both in a few words, a table of all tags of both, and the chosen
// tag in both: distributions on one axis, and percentiles.
//
// All values are those of report --json: page_data.cpp writes them, with sums divided. A difference
// that was judged is real or noise; only a real one gets a sign.

import {lineSample} from './chart.js';
import {nameColumn} from './columns.js';
import {lowerEdge, upperEdge} from './data.js';
import {isMeasured} from './detail.js';
import {byId, clock, element, formatCount, formatElapsed, formatNumber, formatPercent, formatValue, isKnown, nameElement, plural, shortName, significant, strokeOf, svg, unknown, visibleName} from './format.js';
import {linearTicks, logTicks} from './labels.js';
import {page, showWords} from './page.js';
import {aloneIn, binsOf, drawNines, margin, needsLog, ninesCurve, scaleOf, Shape, widthOf, xTicks} from './shapes.js';
import {Table} from './table.js';
import {ink} from './view.js';

// The figure of a column for tags of a type; nothing: they have none there.
const comparedIn = ({word}, type) =>
    page.data.figures.find(({column, compared}) => column === word && compared.includes(type));

const changeOf = ({was, is, changes}, column) =>
    changes[comparedIn(column, (is || was).type)?.word] || {};

function formatOf({unit}, tag) {
  if (unit === 'percent') return (percent) => formatPercent(percent / 100);
  return unit === 'count' ? formatNumber : formatValue(tag);
}

export const comparison = {
  rows: [],
  table: null,

  // Follows the choice of a tag elsewhere in the page.
  follow(tag) {
    const row = this.rows.find(({is}) => is === tag);
    if (row) this.show(row);
  },

  show(row) {
    this.row = row;
    this.table.mark(new Map([[row, ink('accent')]]));
    showComparedTag(row);
  },
};

// All tags of both runs: {name, was, is, changes, lost}. A tag that a run does not have took no
// time in it.
function comparedRows({tags, base, comparison: {tags: both, only_before, only_now}}) {
  const keyOf = ({type, name}) => type + name;
  const [older, newer] =
      [base.tags, tags].map((all) => new Map(all.map((tag) => [keyOf(tag), tag])));
  const row = (tag, changes, lost) =>
      ({name: tag.name, was: older.get(keyOf(tag)), is: newer.get(keyOf(tag)), changes, lost});
  const alone = (side, sign) => (tag) => {
    const changes = Object.entries(tag.values).map(([figure, value]) => [figure, {[side]: value}]);
    return row(tag, Object.fromEntries(changes), sign * tag.values.total);
  };
  return [
    ...both.map((tag) => row(tag, tag.changes, tag.lost_s)), ...only_now.map(alone('now', 1)),
    ...only_before.map(alone('before', -1))
  ];
}

// The difference in words that need no colour.
function differenceCell(row, column) {
  const {was, is} = row;
  const figure = is && comparedIn(column, is.type);
  if (!was || !figure) return '';
  const {before, now, verdict} = changeOf(row, column);
  if (!isKnown(before) || !isKnown(now)) return unknown;
  if (before === now) return '=';
  const sign = now > before ? '+' : '−';
  const size = Math.abs(now - before);
  const text = sign +
      (before === 0          ? formatOf(figure, is)(size) :
           now > 10 * before ? `${significant(now / before, 2)}\u202f×` :
                               formatPercent(size / Math.abs(before)));
  // Any difference of counts is one of the runs.
  if (verdict === 'not judged' || (verdict === 'noise' && figure.is_count))
    return text.replace(/^\+(.*×)$/, '$1');
  if (verdict === 'noise')
    return element('span', {class: 'noise', title: 'May be noise'}, `≈\u202f${text}`);
  const isCost = is.type === 'transact' && !figure.is_count;
  return element(
      'span',
      {class: !isCost   ? 'beyond' :
           now > before ? 'worse' :
                          'better'},
      `${now > before ? '▲' : '▼'}\u202f${text}`);
}

const lines = (kind, ...all) =>
    element('span', {class: `lines ${kind}`}, ...all.map((each) => element('span', {}, each)));

// A column without any sign is dropped before those with signs.
function comparedColumn(figure, isFirst) {
  const {title, unit, compared_drop_rank: dropRank} = figure;
  const isTotal = figure.word === 'total';
  const hasSign = comparison.rows.some((row) => changeOf(row, figure).verdict === 'real');
  const valueOf = (tag, side, row) => {
    if (!tag) return isFirst ? element('span', {class: 'absent'}, 'absent') : '';
    const own = comparedIn(figure, tag.type);
    return own ? formatOf(own, tag)(changeOf(row, figure)[side]) : '';
  };
  const value = (row) => {
    if (isTotal) return row.lost;
    const {before, now} = changeOf(row, figure);
    if (!isKnown(before) || !isKnown(now)) return null;
    return unit !== 'value' || before === 0 ? now - before : now / before;
  };
  return {
    title,
    value,
    help: isTotal ?
        'Time of all calls together, or what was added to a counter. Sorted by the time lost' :
        'Sorted by the change',
    cell: (row) => lines(
        '', valueOf(row.was, 'before', row), valueOf(row.is, 'now', row),
        differenceCell(row, figure)),
    width: 96,
    dropRank: dropRank + (hasSign ? 0 : 10)
  };
}

// One run in a line.
function runElement(word, run) {
  const missing = run.incomplete.length ? 'calls may be missing' : '';
  const facts = element('span', {class: 'facts'});
  showWords(facts, [
    `${clock.date(run.begin)} ${clock.time(run.begin, false)}`, formatElapsed(run.elapsed_s),
    run.hosts.map(visibleName).join(', '), run.archives.map(visibleName).join(', '), missing
  ]);
  const command = run.command ? shortName(run.command, 'command') : '';
  return element(
      'p', {class: 'run'}, element('span', {class: `word ${word}`}, word), command, facts);
}

// The divisors of sums, in a line.
function divisorsElement({tag, before, now}) {
  if (tag === null && before === 1 && now === 1) return '';
  const per = tag === null ? ['run'] : ['call of ', nameElement(tag)];
  return element(
      'p', {class: 'hint'}, 'Calls, total time and added are per ', ...per,
      `: ${formatCount(before)} before, ${formatCount(now)} now`);
}

export function showComparison(data) {
  const {base, run} = data;
  byId('comparison').hidden = !base;
  if (!base) return;
  byId('compared-runs')
      .replaceChildren(
          runElement('was', base.run), runElement('now', run),
          divisorsElement(data.comparison.divisors));
  const figures = data.figures.filter(({compared_drop_rank: rank}) => rank !== null);
  const words =
      {title: '', value: () => null, cell: () => lines('words', 'was', 'now', 'change'), width: 66};
  comparison.rows = comparedRows(data);
  const columns = figures.map((figure) => comparedColumn(figure, figure.word === 'total'));
  comparison.table = new Table(byId('compared'), {
    label: 'Both runs, tag by tag',
    columns: [nameColumn, words, ...columns],
    rows: [...comparison.rows],
    sortedBy: columns[figures.findIndex(({word}) => word === 'total')],
    rowHeight: 66,
    mostRows: 6,
    onChoose: (row) => row.is ? page.choose([row.is]) : comparison.show(row)
  });
}

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
      ([word, {calls}]) => element(
          'span', {class: 'entry'}, lineSample({...styles[word], fill: word === 'now' ? .5 : null}),
          `${word}: ${plural(calls, 'call')}`)));
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
