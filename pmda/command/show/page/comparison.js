// SPDX-License-Identifier: LGPL-2.1-or-later
// Two runs side by side: both in a few words, and a table of all tags of both. compared_shapes.js
// has the charts of the chosen tag.
//
// All values are those of report --json: page_data.cpp writes them, with sums divided. A difference
// that was judged is real or noise; only a real one gets a sign.

function comparedQuantities() {
  const isTimed = ({type}) => type === 'transact';
  const isTotalled = ({type}) => type === 'transact' || type === 'counter';
  const shares = {format: () => (percent) => formatPercent(percent / 100)};
  const values = {format: formatValue, isOf: isMeasured};
  const percentile = (key, dropRank) =>
      ({...values, key, title: percentileStyles[key].short, dropRank});
  return [
    {format: () => formatNumber, key: 'count', title: 'Calls', isOf: () => true, dropRank: 3},
    {...shares, key: 'failed%', title: 'Failed', isOf: isTimed, dropRank: 5},
    {...values, key: 'total', title: 'Total', isOf: isTotalled, dropRank: 1},
    {...values, key: 'mean', title: 'Mean', dropRank: 6}, percentile('p50', 4),
    percentile('p95', 7), percentile('p99', 2), {...values, key: 'max', title: 'Max', dropRank: 8}
  ];
}

// A counter has the added amount where others have the total time.
const changeOf = ({was, is, changes}, key) =>
    changes[key === 'total' && (is || was).type === 'counter' ? 'added' : key] || {};

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

// Any difference of counts is one of the runs.
const isExact = ({is}, key) => key === 'count' || (key === 'total' && is.type === 'counter');

// The difference in words that need no colour.
function differenceCell(row, {key, isOf, format}) {
  const {was, is} = row;
  if (!was || !is || !isOf(is)) return '';
  const {before, now, verdict} = changeOf(row, key);
  if (!isKnown(before) || !isKnown(now)) return unknown;
  if (before === now) return '=';
  const sign = now > before ? '+' : '−';
  const size = Math.abs(now - before);
  const text = sign +
      (before === 0          ? format(is)(size) :
           now > 10 * before ? `${significant(now / before, 2)}\u202f×` :
                               formatPercent(size / Math.abs(before)));
  if (verdict === 'not judged' || (verdict === 'noise' && isExact(row, key)))
    return text.replace(/^\+(.*×)$/, '$1');
  if (verdict === 'noise')
    return element('span', {class: 'noise', title: 'May be noise'}, `≈\u202f${text}`);
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

// A column without any sign is dropped before those with signs.
function comparedColumn(quantity, isFirst) {
  const {key, title, isOf, format} = quantity;
  const hasSign = comparison.rows.some((row) => changeOf(row, key).verdict === 'real');
  const valueOf = (tag, side, row) => {
    if (!tag) return isFirst ? element('span', {class: 'absent'}, 'absent') : '';
    return isOf(tag) ? format(tag)(changeOf(row, key)[side]) : '';
  };
  const value = (row) => {
    if (key === 'total') return row.lost;
    const {before, now} = changeOf(row, key);
    if (!isKnown(before) || !isKnown(now)) return null;
    return ['count', 'failed%'].includes(key) || before === 0 ? now - before : now / before;
  };
  return {
    title,
    value,
    help: key === 'total' ?
        'Time of all calls together, or what was added to a counter. Sorted by the time lost' :
        'Sorted by the change',
    cell: (row) => lines(
        '', valueOf(row.was, 'before', row), valueOf(row.is, 'now', row),
        differenceCell(row, quantity)),
    width: 96,
    dropRank: quantity.dropRank + (hasSign ? 0 : 10)
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

function showComparison(data) {
  const {base, run} = data;
  byId('comparison').hidden = !base;
  if (!base) return;
  byId('compared-runs')
      .replaceChildren(
          runElement('was', base.run), runElement('now', run),
          divisorsElement(data.comparison.divisors));
  const quantities = comparedQuantities();
  const words =
      {title: '', value: () => null, cell: () => lines('words', 'was', 'now', 'change'), width: 66};
  comparison.rows = comparedRows(data);
  const columns = quantities.map((quantity) => comparedColumn(quantity, quantity.key === 'total'));
  comparison.table = new Table(byId('compared'), {
    label: 'Both runs, tag by tag',
    columns: [nameColumn, words, ...columns],
    rows: [...comparison.rows],
    sortedBy: columns[quantities.findIndex(({key}) => key === 'total')],
    rowHeight: 66,
    mostRows: 6,
    onChoose: (row) => row.is ? page.choose([row.is]) : comparison.show(row)
  });
}
