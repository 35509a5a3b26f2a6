// SPDX-License-Identifier: LGPL-2.1-or-later
// The table's columns for tags of each kind: those of figures, which run/figures.cpp describes, and
// some that are of no figure.

import {figuresOf, formatFigure, valueIn, whyUnknown} from './figures.js';
import {bar, element, formatFew, formatPercent, formatShort, formatValue, isKnown, shortName} from './format.js';
import {sparkline} from './shapes.js';

export const nameColumn = {
  title: 'Tag',
  isText: true,
  value: ({name}) => name.toLowerCase(),
  cell: ({name}) => shortName(name)
};

// `value` and `cell` are those of table.js.
const sparkColumn = {
  title: 'Over time',
  help: 'Calls per second over the run',
  value: ({rate}) => rate,
  cell: ({series}) => sparkline(series),
  width: 112,
  dropRank: 10
};

const widths = {
  rate: 96,
  number: 144
};

function figureColumn(figure, tags) {
  const {unit, title, help, drop_rank: dropRank} = figure;
  const value = (tag) => valueIn(tag, figure);
  const most = tags.reduce((most, tag) => Math.max(most, value(tag) || 0), 0);
  const cells = {
    count: (tag) => formatShort(value(tag)),
    number: (tag) => barCell(value(tag), most),
    percent: (tag) => failedCell(value(tag))
  };
  const cell = cells[unit] || ((tag) => formatFigure(tag, figure));
  const unknown = (tag) => whyUnknown(tag, figure);
  return {title, help, value, cell, unknown, width: widths[unit] || 86, dropRank};
}

function paceColumn({elapsed_s: elapsed}) {
  const value = ({added}) => isKnown(added) ? added / elapsed : null;
  return {
    title: 'Added/s',
    help: 'Added per second of the run',
    value,
    cell: (tag) => formatValue(tag)(value(tag)),
    unknown: () => 'Unknown: it was not recorded',
    width: 110,
    dropRank: 6
  };
}

// Gives the columns for a kind of tags, and the initial sorting column. `tags` are the rows of all
// kinds, which may be tags that were added up.
export function columnsOf(kind, {run, tags}) {
  const figures = figuresOf(kind).filter(({drop_rank: rank}) => rank !== null);
  const columns = figures.map((figure) => figureColumn(figure, tags));
  const indexOf = (wanted) => figures.findIndex(({member}) => member === wanted);
  const sortedBy = columns[indexOf({transact: 'busy', counter: 'added'}[kind] || 'calls')];
  if (kind === 'counter') columns.splice(indexOf('added') + 1, 0, paceColumn(run));
  return {columns: [nameColumn, sparkColumn, ...columns], sortedBy};
}

function failedCell(share) {
  return element(
      'span', {class: share > 0 ? 'failed' : null}, share === 0 ? '0' : formatPercent(share));
}

function barCell(value, most) {
  const share = isKnown(value) && most > 0 ? Math.max(0.01, value / most) : 0;
  return element(
      'span', {class: 'meter'}, bar(share), element('span', {class: 'value'}, formatFew(value)));
}
