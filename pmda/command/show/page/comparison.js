// SPDX-License-Identifier: LGPL-2.1-or-later
// Two runs side by side: both in a few words, and a table of all tags of both. compared_shapes.js
// has the charts of the chosen tag.
//
// A tag of the newer run may say whether its differences exceed noise: {beyond_noise: {p99: true}}.
// Only such a difference gets a sign. A quantity that is not there was not tested.

// `of` gives undefined if tags of this kind have no such quantity, null if it is unknown.
function comparedQuantities() {
  const measured = (key) => (tag) => isMeasured(tag) ? tag[key] : undefined;
  const timed = (key) => (tag) => tag.type === 'transact' ? tag[key] : undefined;
  const added = ({type, added}) => type === 'counter' ? added : undefined;
  const counts = {format: () => formatShort};
  const values = {format: formatValue};
  const percentile = (key, dropRank) =>
      ({...values, key, title: percentileStyles[key].short, of: measured(key), dropRank});
  return [
    {...counts, key: 'count', title: 'Calls', of: ({count}) => count, dropRank: 0},
    {...counts, key: 'failed', title: 'Failed', of: timed('failed'), dropRank: 5},
    {...values, key: 'sum', title: 'Total time', of: timed('sum'), dropRank: 0},
    {...values, key: 'mean', title: 'Mean', of: measured('mean'), dropRank: 6},
    percentile('p50', 4), percentile('p95', 7), percentile('p99', 0),
    {...values, key: 'max', title: 'Max', of: measured('max'), dropRank: 8},
    {...values, key: 'added', title: 'Added', of: added, dropRank: 9}
  ];
}

const comparison = {
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

// All tags of both runs: {name, was, is}. A tag that a run does not have took no time in it.
function comparedRows(tags, older) {
  const keyOf = ({type, name}) => type + name;
  const before = new Map(older.map((tag) => [keyOf(tag), tag]));
  const rows = tags.map((is) => ({name: is.name, is, was: before.get(keyOf(is))}));
  for (const {is} of rows) before.delete(keyOf(is));
  rows.push(...Array.from(before.values(), (was) => ({name: was.name, was})));
  const timeOf = (tag) => tag ? (tag.type === 'transact' ? tag.sum : null) : 0;
  for (const row of rows) {
    const [was, is] = [timeOf(row.was), timeOf(row.is)];
    row.lost = isKnown(was) && isKnown(is) ? is - was : null;
  }
  return rows;
}

// The difference in words that need no colour.
function differenceCell({was, is}, {key, of, format}) {
  const [before, now] = [was && of(was), is && of(is)];
  if (before === undefined || now === undefined) return '';
  if (!isKnown(before) || !isKnown(now)) return unknown;
  if (before === now) return '=';
  const sign = now > before ? '+' : '−';
  const size = Math.abs(now - before);
  const text = sign +
      (before === 0          ? format(is)(size) :
           now > 10 * before ? `${significant(now / before, 2)}\u202f×` :
                               formatPercent(size / Math.abs(before)));
  const isBeyond = is.beyond_noise?.[key];
  if (!isKnown(isBeyond)) return text.replace(/^\+(.*×)$/, '$1');
  if (!isBeyond)
    return element('span', {class: 'noise', title: 'No more than noise'}, `≈\u202f${text}`);
  const isCost = is.type === 'transact' && key !== 'count';
  return element(
      'span',
      {class: !isCost   ? 'beyond' :
           now > before ? 'worse' :
                          'better'},
      `${now > before ? '▲' : '▼'}\u202f${text}`);
}

const lines = (kind, ...all) =>
    element('span', {class: `lines ${kind}`}, ...all.map((each) => element('span', {}, each)));

function comparedColumn(quantity, isFirst) {
  const {title, of, format} = quantity;
  const valueOf = (tag) => {
    if (!tag) return isFirst ? element('span', {class: 'absent'}, 'absent') : '';
    const value = of(tag);
    return value === undefined ? '' : format(tag)(value);
  };
  const value = (row) => {
    const [before, now] = [row.was && of(row.was), row.is && of(row.is)];
    if (quantity.key === 'sum') return row.lost;
    if (!isKnown(before) || !isKnown(now)) return null;
    return ['count', 'failed', 'added'].includes(quantity.key) || before === 0 ? now - before :
                                                                                 now / before;
  };
  return {
    title,
    value,
    help: quantity.key === 'sum' ? 'Time of all calls together. Sorted by the time lost' :
                                   'Sorted by the change',
    cell: (row) => lines('', valueOf(row.was), valueOf(row.is), differenceCell(row, quantity)),
    width: 96,
    dropRank: quantity.dropRank
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

function showComparison({base, run, tags}) {
  byId('comparison').hidden = !base;
  if (!base) return;
  byId('compared-runs').replaceChildren(runElement('was', base.run), runElement('is', run));
  const isThere = ({key}) =>
      key !== 'added' || [...tags, ...base.tags].some(({type}) => type === 'counter');
  const quantities = comparedQuantities().filter(isThere);
  const words =
      {title: '', value: () => null, cell: () => lines('words', 'was', 'is', 'change'), width: 66};
  const columns = quantities.map((quantity) => comparedColumn(quantity, quantity.key === 'sum'));
  comparison.rows = comparedRows(tags, base.tags);
  comparison.table = new Table(byId('compared'), {
    label: 'Both runs, tag by tag',
    columns: [nameColumn, words, ...columns],
    rows: [...comparison.rows],
    sortedBy: columns[quantities.findIndex(({key}) => key === 'sum')],
    rowHeight: 66,
    mostRows: 6,
    onChoose: (row) => row.is ? page.choose([row.is]) : comparison.show(row)
  });
}
