// SPDX-License-Identifier: LGPL-2.1-or-later
// The table's columns for tags of each kind.
'use strict';

const notRecorded = {
  unknown: () => 'Unknown: it was not recorded'
};

// A column for one member of the tag.
function numberColumn(title, key, help, formatOf, extra = {}) {
  const shown = {value: (tag) => tag[key], cell: (tag) => formatOf(tag)(tag[key])};
  return {title, help, width: 92, ...shown, ...extra};
}

const countOf = () => formatCount;

function percentileColumn(key, extra = {}) {
  const {short} = percentileStyles[key];
  const help = `${short.slice(1)}% of the calls took no longer`;
  return numberColumn(short, key, help, formatValue, {unknown: whyNoPercentile, ...extra});
}

const nameColumn = {
  title: 'Tag',
  isText: true,
  value: ({name}) => name.toLowerCase(),
  cell: nameElement
};

const sparkColumn = {
  title: 'Over time',
  help: 'Calls per second over the run',
  width: 116,
  wide: 9,
  value: ({rate}) => rate,
  cell: ({series}) => sparkline(series)
};

const maxColumn = {
  title: 'Max',
  help: 'The slowest, or the greatest value',
  width: 92,
  wide: 3,
  value: ({max}) => max,
  cell: (tag) => formatExtreme(tag, 'max'),
  ...notRecorded
};

const failedColumn = {
  title: 'Failed',
  help: 'Share of the calls that were aborted',
  width: 80,
  wide: 2,
  value: failedShare,
  cell: failedCell,
  ...notRecorded
};

function flightColumn({tags}) {
  const most = tags.reduce((most, {concurrency}) => Math.max(most, concurrency || 0), 0);
  const help = 'How many were under way at a time, on average: total time by elapsed time';
  const value = ({concurrency}) => concurrency;
  const cell = (tag) => barCell(tag.concurrency, most);
  return {title: 'In flight', help, width: 128, wide: 4, value, cell, ...notRecorded};
}

function paceColumn({run}) {
  const value = ({counted}) => isKnown(counted) ? counted / run.elapsed : null;
  const cell = (tag) => formatValue(tag)(value(tag));
  const help = 'Added per second of the run';
  return {title: 'Added/s', help, width: 110, wide: 4, value, cell, ...notRecorded};
}

// Gives the columns for a kind of tags, and the initial sorting column.
function columnsOf(kind, data) {
  const title = kind === 'transact' ? 'Calls' : 'Count';
  const calls = numberColumn(title, 'calls', 'How often, in all', countOf);
  const rateHelp = 'Calls per second, over the run';
  const rate =
      numberColumn('Per second', 'rate', rateHelp, () => formatRate, {width: 100, wide: 5});
  const first = [nameColumn, sparkColumn, calls, rate];
  if (kind === 'point') return {columns: first, sortedBy: calls};
  const last = numberColumn('Last', 'last', 'The last value', formatValue, notRecorded);
  const addedHelp = 'The sum of all additions in the run';
  const added = numberColumn('Added', 'counted', addedHelp, formatValue, notRecorded);
  if (kind === 'counter')
    return {columns: [...first, added, paceColumn(data), last], sortedBy: added};
  const meanHelp = 'Sum divided by calls';
  const mean = numberColumn('Mean', 'mean', meanHelp, formatValue, {wide: 7, ...notRecorded});
  const percentiles = [
    percentileColumn('p50', {wide: 1}), percentileColumn('p95', {wide: 8}), percentileColumn('p99')
  ];
  const measured = [mean, ...percentiles, maxColumn];
  if (kind === 'observe') return {columns: [...first, ...measured, last], sortedBy: calls};
  const flight = flightColumn(data);
  return {columns: [...first, failedColumn, ...measured, flight], sortedBy: flight};
}

// The share of failed calls among all ended ones.
function failedShare({calls, failed}) {
  return isKnown(failed) && calls + failed > 0 ? failed / (calls + failed) : null;
}

function failedCell(tag) {
  const share = failedShare(tag);
  return element(
      'span', {class: share > 0 ? 'failed' : null}, share === 0 ? '0' : formatPercent(share));
}

function barCell(value, most) {
  const width = isKnown(value) && most > 0 ? Math.max(1, 100 * value / most) : 0;
  return element(
      'span', {class: 'meter'}, element('i', {style: `width:${width}%`}),
      element('span', {}, formatFew(value)));
}
