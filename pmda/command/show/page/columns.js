// SPDX-License-Identifier: LGPL-2.1-or-later
// The table's columns for tags of each kind.

import {percentileStyles} from './detail.js';
import {formatExtreme} from './figures.js';
import {bar, element, formatFew, formatPercent, formatRate, formatShort, formatValue, isKnown, shortName, whyNoPercentile} from './format.js';
import {sparkline} from './shapes.js';

const notRecorded = {
  unknown: () => 'Unknown: it was not recorded'
};

// `value` and `cell` are those of table.js.
function numberColumn(title, help, value, cell, more) {
  return {title, help, value, cell, width: 86, ...more};
}

// A column for one member of the tag.
function memberColumn(title, help, key, formatOf, more) {
  return numberColumn(title, help, (tag) => tag[key], (tag) => formatOf(tag)(tag[key]), more);
}

function percentileColumn(key, more) {
  const {short} = percentileStyles[key];
  const help = `${short.slice(1)}% of the calls took no longer`;
  return memberColumn(short, help, key, formatValue, {unknown: whyNoPercentile, ...more});
}

export const nameColumn = {
  title: 'Tag',
  isText: true,
  value: ({name}) => name.toLowerCase(),
  cell: ({name}) => shortName(name)
};

const sparkColumn = numberColumn(
    'Over time', 'Calls per second over the run', ({rate}) => rate, ({series}) => sparkline(series),
    {width: 112, dropRank: 10});

const maxColumn = numberColumn(
    'Max', 'The slowest, or the greatest value', ({max}) => max, (tag) => formatExtreme(tag, 'max'),
    {dropRank: 5, ...notRecorded});

const failedColumn = numberColumn(
    'Failed', 'Share of the calls that failed', failedShare, failedCell,
    {dropRank: 4, ...notRecorded});

function busyColumn({tags}) {
  const most = tags.reduce((most, {busy}) => Math.max(most, busy || 0), 0);
  const help = 'How many were in progress at a time, on average: total time by elapsed time';
  return numberColumn(
      'Busy', help, ({busy}) => busy, (tag) => barCell(tag.busy, most),
      {width: 144, dropRank: 6, ...notRecorded});
}

function paceColumn({run}) {
  const value = ({added}) => isKnown(added) ? added / run.elapsed_s : null;
  return numberColumn(
      'Added/s', 'Added per second of the run', value, (tag) => formatValue(tag)(value(tag)),
      {width: 110, dropRank: 6, ...notRecorded});
}

// Gives the columns for a kind of tags, and the initial sorting column. `data.tags` are the rows of
// all kinds, which may be tags that were added up. A tag's members are written by model_json.cpp.
export function columnsOf(kind, data) {
  const title = kind === 'transact' ? 'Calls' : 'Count';
  const calls = memberColumn(title, 'How often, in all', 'calls', () => formatShort, {dropRank: 2});
  const rate = memberColumn(
      'Per second', 'Calls per second, over the run', 'rate', () => formatRate,
      {width: 96, dropRank: 7});
  const first = [nameColumn, sparkColumn, calls, rate];
  if (kind === 'point') return {columns: first, sortedBy: calls};
  const last = memberColumn('Last', 'The last value', 'last', formatValue, notRecorded);
  if (kind === 'counter') {
    const added = memberColumn(
        'Added', 'The sum of all additions in the run', 'added', formatValue, notRecorded);
    return {columns: [...first, added, paceColumn(data), last], sortedBy: added};
  }
  const measured = [
    memberColumn(
        'Mean', 'Sum divided by calls', 'mean', formatValue, {dropRank: 8, ...notRecorded}),
    percentileColumn('p50', {dropRank: 3}), percentileColumn('p95', {dropRank: 9}),
    percentileColumn('p99', {dropRank: 1}), maxColumn
  ];
  if (kind === 'observe') return {columns: [...first, ...measured, last], sortedBy: calls};
  const flight = busyColumn(data);
  return {columns: [...first, failedColumn, ...measured, flight], sortedBy: flight};
}

function failedShare({calls, failed}) {
  return isKnown(failed) && calls > 0 ? failed / calls : null;
}

function failedCell(tag) {
  const share = failedShare(tag);
  return element(
      'span', {class: share > 0 ? 'failed' : null}, share === 0 ? '0' : formatPercent(share));
}

function barCell(value, most) {
  const share = isKnown(value) && most > 0 ? Math.max(0.01, value / most) : 0;
  return element(
      'span', {class: 'meter'}, bar(share), element('span', {class: 'value'}, formatFew(value)));
}
