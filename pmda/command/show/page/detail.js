// SPDX-License-Identifier: LGPL-2.1-or-later
// The chosen tags: one tag in full detail, or several side by side.

import {lineSample, TimeChart} from './chart.js';
import {percentileNames} from './data.js';
import {figureNamed, showFigures} from './figures.js';
import {bar, byId, clock, element, formatCount, formatFew, formatRate, formatSeconds, formatValue, ifKnown, isKnown, nameElement, plural, shortName, visibleName} from './format.js';
import {HeatMap, paintBands} from './heat.js';
import {page} from './page.js';
import {binsOf, drawDistribution, drawNines, needsLog, ninesCurve, Shape} from './shapes.js';
import {rangeText, say, showMoment} from './spans.js';
import {ink, view} from './view.js';

const detail = {
  parts: []
};

const percentileStyles = {
  p50: {width: 2.2},
  p90: {width: 1.6},
  p95: {width: 1.6, dash: [9, 3]},
  p99: {width: 1.4, dash: [5, 2]},
  p999: {width: 1.2, dash: [2, 2]},
  max: {width: 1, dash: [1, 3]},
};
const tagDashes = [null, [8, 3], [3, 2], [10, 3, 2, 3], [1, 3], [14, 4]];
export const tagColor = (i) => ink(`tag${i % 8}`);

function percentileLine(name, values) {
  const style = percentileStyles[name];
  return {
    ...style,
    name,
    label: figureNamed(name).label,
    values,
    color: ink(name),
    merge: name === 'max' ? 'greatest' : 'middle'
  };
}

// A line of what was counted in each interval, per second.
export function rateLine(label, values, grid, style) {
  const rates = Float32Array.from(values, (value, i) => value / grid.seconds[i]);
  return {label, values: rates, merge: 'rate', ...style};
}

export const isMeasured = ({type}) => type === 'transact' || type === 'observe';

// Percentiles of intervals are of completed calls only.
const lacksFailed = ({failed}) => failed > 0 && view.run.times_of === 'all';
const keyOfCompleted = () => element('span', {class: 'entry'}, 'percentiles of completed calls');

function spreadOf(series, names) {
  let [least, greatest] = [Infinity, -Infinity];
  for (const name of names)
    for (const value of series[name] || []) {
      if (value < least) least = value;
      if (value > greatest) greatest = value;
    }
  return [least, greatest];
}

export function showDetail(tags) {
  for (const part of detail.parts) part.remove();
  detail.parts = [];
  detail.tags = tags;
  const host = byId('charts');
  host.replaceChildren();
  byId('detail').hidden = tags.length === 0;
  if (tags.length === 0) return;
  showTitle(tags);
  showFigures(tags);
  if (tags.length === 1)
    showOne(host, tags[0]);
  else
    showSeveral(host, tags);
  if (detail.parts.length % 2 === 1) host.firstElementChild.classList.add('wide');
  if (detail.parts.length > 0) return;
  const why = tags[0].series ?
      'Nothing of it is known over time.' :
      'Its course over time is not in this page: it has the tags with the most total time. The table has all.';
  host.append(element('p', {class: 'notice'}, why));
}

export const kindNames = {
  transact: 'transaction',
  observe: 'observation',
  counter: 'counter',
  point: 'point'
};

export const kindName = (kind) => kindNames[kind][0].toUpperCase() + kindNames[kind].slice(1) + 's';

const kindAndUnit = ({type, unit}) =>
    kindNames[type] + (unit && type !== 'transact' ? `, in ${visibleName(unit)}` : '');

function showTitle(tags) {
  const areSeveral = tags.length > 1;
  const chip = (tag, i) => element(
      'span', {class: 'chip'},
      areSeveral ? lineSample({color: tagColor(i), dash: tagDashes[i], width: 2.4}) : '',
      nameElement(tag.name));
  const what = areSeveral ? `${tags.length} tags side by side` : kindAndUnit(tags[0]);
  byId('detail-title').replaceChildren(...tags.map(chip), element('small', {}, what));
  const text = areSeveral ? '' : tags[0].description;
  byId('detail-text').textContent = text && visibleName(text);
}

function add(part) { detail.parts.push(part); }

// Adds a chart of the tag's course.
function addCourse(host, tag, title, lines, options) {
  add(new TimeChart(
      host, {title, lines, grid: tag.series.grid, format: formatValue(tag), ...options}));
}

// A heat map with few columns shows no more than the distribution.
const hasHeatMap = ({heat}) => heat && heat.length >= 8;

function showOne(host, tag) {
  const {series = {}, distribution} = tag;
  if (tag.series && isMeasured(tag)) showPercentiles(host, tag);
  if (hasHeatMap(series)) showHeat(host, tag);
  if (series.calls) showRate(host, tag);
  if (tag.type === 'transact' && (series.sum || series.inflight)) showOpen(host, tag);
  if (series.counted) showCounted(host, tag);
  if (series.value) showValue(host, tag);
  if (isMeasured(tag) && distribution?.bins.length) showDistribution(host, tag);
  if (isMeasured(tag)) showNines(host, [tag]);
  if (tag.series && tag.type === 'transact') showMoments(host, tag);
}

function showPercentiles(host, tag) {
  const {series} = tag;
  const names = [...percentileNames, 'max'].filter((name) => series[name]);
  if (names.length === 0) return;
  const isTime = tag.type === 'transact';
  const options = {
    help: 'Percentiles of each interval',
    extraKey: lacksFailed(tag) ? keyOfCompleted : undefined,
    log: isTime || needsLog(...spreadOf(series, names)),
  };
  const lines = names.map((name) => percentileLine(name, series[name]));
  if (!hasHeatMap(series)) {
    options.paint = paintBands(ink('p90'));
    if (series.min)
      lines.unshift({label: '', name: 'min', values: series.min, merge: 'least', isHidden: true});
  }
  addCourse(host, tag, isTime ? 'Latency' : 'Values', lines, options);
}

function showHeat(host, tag) {
  const {series} = tag;
  const heat = new HeatMap(series.heat);
  const style = {color: ink('over-heat'), width: 1.2};
  const lines = ['p50', 'p99']
                    .filter((name) => series[name] && !lacksFailed(tag))
                    .map((name) => ({...percentileLine(name, series[name]), ...style}));
  if (lines.length === 0) {
    const values = new Float32Array(series.grid.count).fill(NaN);
    lines.push({label: '', values, color: 'transparent'});
  }
  addCourse(host, tag, 'Heat map', lines, {
    help: 'How many calls took how long, over time',
    log: heat.log,
    valueRange: heat.range,
    paint: (...how) => heat.paint(...how),
    extraKey: () => heat.key(),
    ...(tag.type === 'transact' ? cellsOf(tag, heat) : {})
  });
}

// A cell of the heat map, or with Enter the shown time, leads to captured transactions.
function cellsOf(tag, heat) {
  return {
    keyHelp: 'Enter lists captured requests of the shown time.',
    readPlace(time, value) {
      const cell = heat.cellAt(time, value, this);
      if (!cell) return [];
      const size = rangeText([cell.low, cell.high], formatValue(tag));
      const hint = page.data.spans ? 'Click: captured ones' : '';
      return [`${plural(cell.count, 'call')} of ${size}`, hint].filter(Boolean).map(
          (text) => element('span', {class: 'cell'}, text));
    },
    onPick(time, value) {
      const cell = heat.cellAt(time, value, this);
      const column = cell || heat.columnAt(time);
      say(this.frame,
          column && showMoment(tag, [column.begin, column.end], cell && [cell.low, cell.high]));
    },
    onEnter() { say(this.frame, showMoment(tag, view.range())); },
  };
}

function showRate(host, tag) {
  const {grid, calls, failed} = tag.series;
  const label = tag.type === 'transact' ? 'ok' : 'calls';
  const completed = failed ? calls.map((all, i) => all - failed[i]) : calls;
  const lines = [rateLine(label, completed, grid, {color: ink('ok'), width: 1.8, fill: 0.16})];
  if (failed && tag.failed > 0)
    lines.push(rateLine('failed', failed, grid, {color: ink('failed'), width: 1.8, dash: [4, 2]}));
  addCourse(host, tag, 'Rate', lines, {help: 'Calls per second', format: formatRate});
}

// Open transactions at each sample, over the average of those that ended.
function showOpen(host, tag) {
  const {grid, sum, inflight} = tag.series;
  const lines = [];
  if (sum) lines.push(rateLine('busy', sum, grid, {color: ink('tag0'), fill: 0.16}));
  if (inflight)
    lines.push({
      label: 'in flight',
      values: inflight,
      merge: 'greatest',
      color: ink('tag1'),
      width: 1.8,
      dash: sum ? [4, 2] : null
    });
  addCourse(host, tag, inflight ? 'In flight' : 'Busy', lines, {
    help: 'In flight: open transactions at each sample, the greatest number of joined samples. ' +
        'Busy: the time of the calls that ended, by elapsed time',
    format: formatFew
  });
}

function showCounted(host, tag) {
  const {grid, counted} = tag.series;
  const lines = [rateLine('added', counted, grid, {color: ink('tag1'), fill: 0.16})];
  const format = ifKnown((value) => formatValue(tag)(value) + '/s');
  addCourse(host, tag, 'Added per second', lines, {format});
}

function showValue(host, tag) {
  const {value: values} = tag.series;
  const lines = [{label: 'last value', values, color: ink('tag0'), width: 1.8, merge: 'last'}];
  addCourse(host, tag, 'Value', lines, {help: 'The last value of each interval'});
}

function showDistribution(host, tag) {
  const marks =
      ['p50', 'p90', 'p99', 'p999'].map((name) => ({...percentileLine(name), value: tag[name]}));
  const chart = new Shape(host, {
    title: 'Distribution',
    help: 'How many calls took how long',
    draw: (...size) => drawDistribution(tag.distribution, marks, formatValue(tag), ...size)
  });
  add(chart);
  if (tag.distribution.bins.length === 1) {
    const [{low, high, count}] = binsOf(tag.distribution);
    const isExact = tag.min_is_exact && tag.max_is_exact && tag.min === tag.max;
    const value = formatValue(tag)(isExact ? tag.min : (low + high) / 2);
    chart.key.append(element(
        'span', {class: 'entry'},
        count === 1 ? `one, of ${value}` :
                      `all ${formatCount(count)} ${isExact ? 'of' : 'near'} ${value}`));
  }
  const isNearby = tag.percentiles_from === 'histogram of nearby times';
  const lacksCalls = ['histogram of whole intervals', 'incomplete histogram'];
  if (!isNearby && !lacksCalls.includes(tag.percentiles_from)) return;
  const counted = tag.distribution.counts.reduce((sum, count) => sum + count, 0);
  const calls = `of ${formatCount(counted)} of ${formatCount(tag.calls)} calls`;
  const atNearbyTimes = `of ${formatCount(counted)} calls at nearby times`;
  chart.key.append(element('span', {class: 'entry'}, isNearby ? atNearbyTimes : calls));
}

function showNines(host, tags) {
  const styleOf = (i) =>
      tags.length > 1 ? {color: tagColor(i), dash: tagDashes[i]} : {color: ink('p99')};
  const curves =
      tags.map((tag, i) => ({points: ninesCurve(tag), isSparse: !tag.distribution, ...styleOf(i)}))
          .filter(({points}) => points.length > 1);
  if (curves.length === 0) return;
  add(new Shape(host, {
    title: tags[0].type === 'transact' ? 'Latency by percentile' : 'Value by percentile',
    help: 'The share of the calls that took no longer',
    draw: (...size) => drawNines(curves, formatValue(tags[0]), ...size)
  }));
}

// The tag's slowest moments, with a distance between each other.
function showMoments(host, tag) {
  const values = tag.series.max || tag.series.p99;
  if (!values) return;
  const order =
      Array.from(values.keys()).filter((i) => values[i] > 0).sort((a, b) => values[b] - values[a]);
  const distance = Math.max(1, Math.floor(values.length / 40));
  const found = [];
  for (const i of order) {
    if (found.length === 6) break;
    if (found.every((other) => Math.abs(other - i) >= distance)) found.push(i);
  }
  const moments = found.map((i) => ({at: tag.series.grid.edges[i + 1], value: values[i]}));
  // Windows do not cover all calls.
  if (tag.series.max && tag.slowest?.value > (moments[0]?.value ?? 0) * (1 + 1e-6))
    moments.unshift(tag.slowest);
  const list = element(
      'ol', {class: 'moments'},
      ...moments.slice(0, 6).map((moment) => momentElement(tag, moment, false, moments[0].value)));
  const frame = element(
      'figure', {class: 'chart'}, element('figcaption', {}, element('h3', {}, 'Slowest moments')),
      list);
  host.append(frame);
  add({remove: () => frame.remove()});
}

// As the terminal says it: the begin of a call, or the time in which it ended.
function momentText({at, is_begin, within_s}) {
  if (!isKnown(at)) return '';
  if (is_begin) return `began at ${clock.time(at, true)}`;
  const within = within_s === 1 ? 'second' : formatSeconds(within_s);
  return (within_s > 0 ? `in the ${within} before ` : 'before ') +
      clock.time(at, clock.isFine || (within_s > 0 && within_s < 1));
}

// A button for a moment, which zooms the charts there.
export function momentElement(tag, moment, isNamed, most = moment.value) {
  const {at, value} = moment;
  const button = element(
      'button', {type: 'button'}, element('time', {}, momentText(moment)),
      isNamed ? shortName(tag.name) : element('span', {class: 'meter'}, bar(value / most)),
      element('b', {}, (isKnown(at) ? '' : '≥\u202f') + formatSeconds(value)));
  button.addEventListener('click', () => {
    if (isNamed) page.choose([tag]);
    const half = Math.max((view.run.end - view.run.begin) / 40, view.shortest);
    if (isKnown(at)) view.zoom([at - half, at + half]);
    if (isNamed) byId('detail').scrollIntoView({behavior: 'smooth', block: 'start'});
  });
  return element('li', {}, button);
}

function showSeveral(host, tags) {
  const withSeries = tags.filter(({series}) => series);
  const fine = withSeries.filter(({series}) => series.grid === withSeries[0].series.grid);
  const draw = (title, key, lineOf, options) => {
    const shown = fine.filter(({series}) => series[key]);
    if (shown.length === 0) return;
    const lines = shown.map((tag) => {
      const i = tags.indexOf(tag);
      return {...lineOf(tag), color: tagColor(i), dash: tagDashes[i], width: 1.8};
    });
    addCourse(host, shown[0], title, lines, options);
  };
  const charts = [['p50', 'Median latency'], ['p99', 'p99 latency'], ['max', 'Greatest latency']];
  if (isMeasured(tags[0]))
    for (const [key, title] of charts) {
      const merge = key === 'max' ? 'greatest' : 'middle';
      const lineOf = ({name, series}) => ({label: name, values: series[key], merge});
      const options = {
        log: tags[0].type === 'transact',
        format: formatValue(tags[0]),
        extraKey: key !== 'max' && fine.some(lacksFailed) ? keyOfCompleted : undefined,
      };
      draw(title, key, lineOf, options);
    }
  const rateOf = ({name, series}) => rateLine(name, series.calls, series.grid);
  draw('Rate', 'calls', rateOf, {format: formatRate});
  showNines(host, tags);
}
