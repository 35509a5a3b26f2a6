// SPDX-License-Identifier: LGPL-2.1-or-later
// The chosen tags: one tag in full detail, or several side by side.
'use strict';

const detail = {
  parts: []
};

const percentileStyles = {
  p50: {short: 'p50', width: 2.2},
  p90: {short: 'p90', width: 1.6},
  p95: {short: 'p95', width: 1.6, dash: [9, 3]},
  p99: {short: 'p99', width: 1.4, dash: [5, 2]},
  p999: {short: 'p99.9', width: 1.2, dash: [2, 2]},
  max: {short: 'max', width: 1, dash: [1, 3]},
};
const tagDashes = [null, [8, 3], [3, 2], [10, 3, 2, 3], [1, 3], [14, 4]];
const tagColor = (i) => ink(`tag${i % 8}`);

function percentileLine(name, values) {
  const style = percentileStyles[name];
  return {
    ...style,
    name,
    label: style.short,
    values,
    color: ink(name),
    merge: name === 'max' ? 'greatest' : 'middle'
  };
}

// Divides each value by the interval's length.
function perSecond(values, grid) {
  return Float32Array.from(values, (value, i) => value / grid.seconds[i]);
}

function spreadOf(series, names) {
  let [least, greatest] = [Infinity, -Infinity];
  for (const name of names)
    for (const value of series[name] || []) {
      if (value < least) least = value;
      if (value > greatest) greatest = value;
    }
  return [least, greatest];
}

function showDetail(tags) {
  for (const part of detail.parts) part.remove();
  detail.parts = [];
  detail.tags = tags;
  const host = document.getElementById('charts');
  host.replaceChildren();
  document.getElementById('detail').hidden = tags.length === 0;
  if (tags.length === 0) return;
  showTitle(tags);
  showFigures(tags);
  if (tags.length === 1)
    showOne(host, tags[0]);
  else
    showSeveral(host, tags);
  if (detail.parts.length % 2 === 1) host.lastElementChild.classList.add('wide');
  if (detail.parts.length === 0)
    host.append(element(
        'p', {class: 'notice'},
        tags[0].series ?
            'Nothing of it is known over time.' :
            'Its course over time is not in this page: it has the tags with the most total time. The table has all.'));
}

const kindNames = {
  transact: 'transaction',
  observe: 'observation',
  counter: 'counter',
  point: 'point'
};

const kindName = (kind) => kindNames[kind][0].toUpperCase() + kindNames[kind].slice(1) + 's';

const kindAndUnit = ({type, unit}) =>
    kindNames[type] + (unit && type !== 'transact' ? `, in ${visibleName(unit)}` : '');

function showTitle(tags) {
  const title = document.getElementById('detail-title');
  title.replaceChildren(
      ...tags.map(
          (tag, i) => element(
              'span', {class: 'chip'},
              tags.length > 1 ? lineSample({color: tagColor(i), dash: tagDashes[i], width: 2.4}) :
                                '',
              nameElement(tag))),
      element(
          'small', {},
          tags.length > 1 ? `${tags.length} tags side by side` : kindAndUnit(tags[0])));
  const text = tags.length > 1 ? '' : tags[0].description;
  document.getElementById('detail-text').textContent = text && visibleName(text);
}

function figure(name, value, why) {
  return element(
      'div', {title: value === unknown ? why : null}, element('dt', {}, name),
      element('dd', {}, value));
}

function formatExtreme(tag, which) {
  const value = formatValue(tag)(tag[which]);
  return isKnown(tag[which]) && !tag[which + 'Exact'] ?
      (which === 'max' ? '≥\u202f' : '≤\u202f') + value :
      value;
}

function showFigures(tags) {
  const host = document.getElementById('figures');
  if (tags.length > 1) return host.replaceChildren();
  const [tag] = tags;
  const format = formatValue(tag);
  const isTime = tag.type === 'transact';
  const unrecorded = 'Unknown: it was not recorded';
  const figures = [
    figure(isTime ? 'calls' : 'count', formatCount(tag.calls)),
    figure('rate', formatRate(tag.rate), 'Unknown: no time has passed')
  ];
  if (isTime) {
    figures.push(
        figure('failed', isKnown(tag.failed) ? formatCount(tag.failed) : unknown, unrecorded),
        figure('in flight', formatFew(tag.concurrency), unrecorded),
        ...(tag.vanished > 0 ? [figure('not ended', formatCount(tag.vanished))] : []),
        figure('total time', formatSeconds(tag.sum), unrecorded));
  }
  if (tag.type === 'counter')
    figures.push(
        figure('added', format(tag.counted), 'Unknown: nothing was added, or it was not recorded'));
  if (tag.type === 'counter' || tag.type === 'observe')
    figures.push(figure('last value', format(tag.last), unrecorded));
  if (isTime || tag.type === 'observe') {
    figures.push(
        ...(tag.nonfinite > 0 ? [figure('not finite', formatCount(tag.nonfinite))] : []),
        figure('min', formatExtreme(tag, 'min'), unrecorded),
        figure('mean', format(tag.mean), unrecorded));
    for (const name of percentileNames)
      figures.push(figure(percentileStyles[name].short, format(tag[name]), whyNoPercentile(tag)));
    figures.push(figure('max', formatExtreme(tag, 'max'), unrecorded));
  }
  if (view.run.hosts.length > 1)
    figures.push(figure('hosts', tag.hosts.map((host) => view.run.hosts[host]).join(', ')));
  host.replaceChildren(...figures);
}

function add(part) { detail.parts.push(part); }

// A heat map with few columns shows no more than the distribution.
const hasHeatMap = ({heat}) => heat && heat.length >= 8;

function showOne(host, tag) {
  const {series, distribution} = tag;
  const measures = tag.type === 'transact' || tag.type === 'observe';
  if (series && measures) showPercentiles(host, tag);
  if (series && hasHeatMap(series)) showHeat(host, tag);
  if (series && series.calls) showRate(host, tag);
  if (series && series.counted) showCounted(host, tag);
  if (series && series.value) showValue(host, tag);
  if (measures && distribution && distribution.bins.length) showDistribution(host, tag);
  if (measures && ninesCurve(tag).length > 1) showNines(host, [tag]);
  if (series && measures) showMoments(host, tag);
}

function showPercentiles(host, tag) {
  const {series} = tag;
  const names = ['p50', 'p90', 'p95', 'p99', 'p999', 'max'].filter((name) => series[name]);
  if (names.length === 0) return;
  const options = {
    grid: series.grid,
    format: formatValue(tag),
    title: tag.type === 'transact' ? 'Latency' : 'Values',
    help: 'Percentiles of each interval',
    lines: names.map((name) => percentileLine(name, series[name])),
    log: tag.type === 'transact' || needsLog(...spreadOf(series, names)),
  };
  if (!hasHeatMap(series)) {
    options.paint = paintBands(ink('p90'));
    if (series.min)
      options.lines.unshift(
          {label: '', name: 'min', values: series.min, merge: 'least', isHidden: true});
  }
  add(new TimeChart(host, options));
}

function showHeat(host, tag) {
  const {series} = tag;
  const heat = new HeatMap(series.heat);
  const lines =
      ['p50', 'p99'].filter((name) => series[name]).map((name) => ({
                                                          ...percentileLine(name, series[name]),
                                                          color: ink('over-heat'),
                                                          width: 1.2
                                                        }));
  const emptyLine = {
    label: '',
    values: new Float32Array(series.grid.count).fill(NaN),
    color: 'transparent'
  };
  add(new TimeChart(host, {
    title: 'Heat map',
    help: 'How many calls took how long, over time',
    grid: series.grid,
    lines: lines.length ? lines : [emptyLine],
    log: heat.log,
    valueRange: heat.range,
    format: formatValue(tag),
    paint: (...how) => heat.paint(...how),
    extraKey: () => heat.key()
  }));
}

function showRate(host, tag) {
  const {series} = tag;
  const lines = [{
    label: tag.type === 'transact' ? 'ok' : 'calls',
    values: perSecond(series.calls, series.grid),
    color: ink('ok'),
    width: 1.8,
    fill: 0.16,
    merge: 'rate'
  }];
  if (series.failed && tag.failed > 0)
    lines.push({
      label: 'failed',
      values: perSecond(series.failed, series.grid),
      color: ink('failed'),
      width: 1.8,
      dash: [4, 2],
      merge: 'rate'
    });
  add(new TimeChart(
      host,
      {title: 'Rate', help: 'Calls per second', grid: series.grid, lines, format: formatRate}));
}

function showCounted(host, tag) {
  const {series} = tag;
  const lines = [{
    label: 'added',
    values: perSecond(series.counted, series.grid),
    color: ink('tag1'),
    fill: 0.16,
    merge: 'rate'
  }];
  const format = (value) => isKnown(value) ? formatValue(tag)(value) + '/s' : unknown;
  add(new TimeChart(host, {title: 'Added per second', grid: series.grid, lines, format}));
}

function showValue(host, tag) {
  const {series} = tag;
  const lines =
      [{label: 'last value', values: series.value, color: ink('tag0'), width: 1.8, merge: 'last'}];
  add(new TimeChart(host, {
    title: 'Value',
    help: 'The last value of each interval',
    grid: series.grid,
    lines,
    format: formatValue(tag)
  }));
}

function showDistribution(host, tag) {
  const counted = tag.distribution.counts.reduce((sum, count) => sum + count, 0);
  const key = tag.source === 'incomplete histogram' ?
      [element(
          'span', {class: 'entry'},
          `of ${formatCount(counted)} of ${formatCount(tag.calls)} calls`)] :
      [];
  add(new Shape(host, {
    title: 'Distribution',
    help: 'How many calls took how long',
    key,
    draw: (...size) => drawDistribution(
        tag.distribution,
        ['p50', 'p90', 'p99', 'p999'].map((name) => ({...percentileLine(name), value: tag[name]})),
        formatValue(tag), ...size)
  }));
}

function showNines(host, tags) {
  const curves = tags.map((tag, i) => ({
                            points: ninesCurve(tag),
                            isSparse: !tag.distribution,
                            color: tags.length > 1 ? tagColor(i) : ink('p99'),
                            dash: tags.length > 1 ? tagDashes[i] : null
                          }))
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
  if (!values || tag.type !== 'transact') return;
  const order =
      Array.from(values.keys()).filter((i) => values[i] > 0).sort((a, b) => values[b] - values[a]);
  const distance = Math.max(1, Math.floor(values.length / 40));
  const found = [];
  for (const i of order) {
    if (found.length === 6) break;
    if (found.every((other) => Math.abs(other - i) >= distance)) found.push(i);
  }
  const moments = found.map((i) => [tag.series.grid.edges[i + 1], values[i]]);
  // Windows do not cover all calls.
  if (tag.series.max && tag.slowestValue > (moments[0]?.[1] ?? 0) * (1 + 1e-6))
    moments.unshift([tag.slowestAt, tag.slowestValue]);
  const list = element(
      'ol', {class: 'moments'},
      ...moments.slice(0, 6).map(
          ([at, value]) => momentElement(tag, at, value, false, moments[0][1])));
  const frame = element(
      'figure', {class: 'chart'}, element('figcaption', {}, element('h3', {}, 'Slowest moments')),
      list);
  host.append(frame);
  add({remove: () => frame.remove()});
}

// A button for a moment, which zooms the charts there.
function momentElement(tag, at, value, isNamed, most = value) {
  const button = element(
      'button', {type: 'button'}, element('time', {}, isKnown(at) ? clock.time(at) : ''),
      isNamed ?
          nameElement(tag) :
          element('span', {class: 'meter'}, element('i', {style: `width:${100 * value / most}%`})),
      element('b', {}, (isKnown(at) ? '' : '≥\u202f') + formatSeconds(value)));
  button.addEventListener('click', () => {
    if (isNamed) page.choose([tag]);
    const half = Math.max((view.run.end - view.run.begin) / 40, view.shortest);
    if (isKnown(at)) view.zoom([at - half, at + half]);
    if (isNamed)
      document.getElementById('detail').scrollIntoView({behavior: 'smooth', block: 'start'});
  });
  return element('li', {}, button);
}

function showSeveral(host, tags) {
  const withSeries = tags.filter(({series}) => series);
  const charts = [['p50', 'Median latency'], ['p99', 'p99 latency'], ['max', 'Greatest latency']];
  const fine = withSeries.filter(({series}) => series.grid === withSeries[0].series.grid);
  const line = (tag, values, merge) => ({
    label: tag.name,
    values,
    merge,
    color: tagColor(tags.indexOf(tag)),
    dash: tagDashes[tags.indexOf(tag)],
    width: 1.8
  });
  const draw = (title, values, merge, options) => {
    const shown = fine.filter((tag) => values(tag));
    if (shown.length)
      add(new TimeChart(host, {
        title,
        grid: shown[0].series.grid,
        lines: shown.map((tag) => line(tag, values(tag), merge)),
        ...options
      }));
  };
  if (tags[0].type === 'transact' || tags[0].type === 'observe')
    for (const [name, title] of charts)
      draw(
          title, ({series}) => series[name], name === 'max' ? 'greatest' : 'middle',
          {log: tags[0].type === 'transact', format: formatValue(tags[0])});
  draw(
      'Rate', ({series}) => series.calls && perSecond(series.calls, series.grid), 'rate',
      {format: formatRate});
  showNines(host, tags);
}
