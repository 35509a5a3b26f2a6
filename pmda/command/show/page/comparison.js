// SPDX-License-Identifier: LGPL-2.1-or-later
// Two runs side by side.

// The relative change, in words that need no colour.
function changeCell(now, before, worseIfMore) {
  if (!isKnown(now) || !isKnown(before) || before === 0) return unknown;
  const change = now / before - 1;
  if (Math.abs(change) < 0.005) return '=';
  const kind = Math.abs(change) < 0.05 || !worseIfMore ? '' : change > 0 ? 'worse' : 'better';
  return element(
      'span', {class: kind},
      `${change > 0 ? '▲\u202f+' : '▼\u202f−'}${significant(Math.abs(change) * 100, 2)}%`);
}

// Columns for one number of both runs: before, now, change.
function comparedColumns(title, key, formatOf, worseIfMore, wide) {
  const cell = (tag) =>
      tag ? formatOf(tag)(tag[key]) : element('span', {class: 'absent'}, 'absent');
  const before = {value: ({before}) => before?.[key], cell: ({before}) => cell(before)};
  const now = {value: ({now}) => now?.[key], cell: ({now}) => cell(now)};
  const change = {
    value: ({now, before}) => now && before?.[key] ? now[key] / before[key] : null,
    cell: ({now, before}) =>
        changeCell(now?.[key], before?.[key], worseIfMore && now?.type === 'transact')
  };
  return [
    {title: `${title} before`, width: 118, wide: wide + 1, ...before},
    {title: `${title} now`, width: 106, wide, ...now}, {title: 'Change', width: 92, wide, ...change}
  ];
}

// All tags of both runs.
function comparedRows(tags, older) {
  const keyOf = ({type, name}) => type + name;
  const before = new Map(older.map((tag) => [keyOf(tag), tag]));
  const rows = tags.map((now) => ({name: now.name, now, before: before.get(keyOf(now))}));
  for (const {now} of rows) before.delete(keyOf(now));
  return [...rows, ...Array.from(before.values(), (tag) => ({name: tag.name, before: tag}))];
}

function showComparison({base, tags}) {
  byId('comparison').hidden = !base;
  if (!base) return;
  const columns = [
    nameColumn, ...comparedColumns('Rate', 'rate', () => formatRate, false, 4),
    ...comparedColumns('p50', 'p50', formatValue, true, 2),
    ...comparedColumns('p99', 'p99', formatValue, true, 0)
  ];
  byId('compared-with').textContent =
      `with ${base.run.archives.map(visibleName).join(', ')}, the older run`;
  new Table(byId('compared'), {
    label: 'Both runs, tag by tag',
    columns,
    rows: comparedRows(tags, base.tags),
    sortedBy: columns[columns.length - 1]
  });
}
