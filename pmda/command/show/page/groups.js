// SPDX-License-Identifier: LGPL-2.1-or-later
// Tags that are added up by a label, and how evenly a label's values share a total.

import {addDistributions, tagsOf} from './data.js';
import {bar, byId, element, formatCount, formatValue, isKnown, shortName, significant, visibleName} from './format.js';
import {page} from './page.js';

const mostBars = 12;

// Columns of series that are added up. A sum of others would mean nothing.
const addedColumns = ['calls', 'failed', 'sum', 'vanished', 'counted', 'inflight'];

// Only if all members have series of the same grid.
function seriesOfGroup(members) {
  if (members.length === 1) return members[0].series;
  const all = members.map(({series}) => series);
  const grid = all[0]?.grid;
  if (!grid || all.some((series) => series?.grid !== grid)) return undefined;
  const joined = (key, join) => {
    const columns = all.map((series) => series[key]).filter(Boolean);
    if (columns.length === 0) return undefined;
    return columns[0].map(
        (_, i) => columns.map((column) => column[i])
                      .reduce(
                          (a, b) => isKnown(a) && isKnown(b) ? join(a, b) :
                              isKnown(a)                     ? a :
                                                               b));
  };
  const series = {grid};
  for (const key of addedColumns) series[key] = joined(key, (a, b) => a + b);
  series.min = joined('min', Math.min);
  series.max = joined('max', Math.max);
  return series;
}

// The tags of one choice of page_data.cpp, which has the sums.
function tagsOfGroups(packed, tags) {
  const groups = tagsOf(packed.tags);
  addDistributions(groups, packed.distributions);
  return groups.map(
      (group, i) => ({...group, series: seriesOfGroup(packed.members[i].map((at) => tags[at]))}));
}

const namesOfGroups = (packed, tags) => packed.members.flatMap(
    (members, i) => members.map((at) => [tags[at].name, packed.tags[i].name]));

export function showGroupings({groupings, tags}) {
  byId('groups').hidden = groupings.length === 0;
  const option = (value, text) => element('option', {value}, text);
  byId('group-by')
      .replaceChildren(
          option(-1, 'nothing'),
          ...groupings.map(
              ({label}, i) => option(i, label === null ? 'name' : `name and ${label}`)));
  byId('group-by').onchange = ({target}) => {
    const chosen = groupings[Number(target.value)];
    page.showTags(...(chosen ? [tagsOfGroups(chosen, tags), namesOfGroups(chosen, tags)] : [tags]));
  };
}

export const bareName = (name) =>
    name.endsWith('}') && name.lastIndexOf('{') > 0 ? name.slice(0, name.lastIndexOf('{')) : name;

// The page of a job whose processes differ begins with the process that has most.
export function showUneven({imbalances}) {
  const mostLines = 3;
  const found = imbalances.filter(({uneven}) => uneven).slice(0, mostLines);
  byId('uneven').hidden = found.length === 0;
  byId('uneven').replaceChildren(...found.map((each) => {
    const format = each.type === 'point' ? formatCount : formatValue({type: each.type});
    const of = (value) => `${visibleName(each.label)}=${visibleName(value)}`;
    const most = `${of(each.greatest[0].value)} takes ${significant(each.ratio)} × the mean`;
    return element(
        'div', {},
        `${visibleName(each.name)}: ${most} of ${formatCount(each.values)} ` +
            `(${format(each.max)}; ${of(each.least)}: ${format(each.min)})`);
  }));
}

// A bar for each value of each label of the tag's name.
export function showShares([tag = null, ...others]) {
  const found = others.length || !tag ?
      [] :
      page.data.imbalances.filter(
          ({name, type}) => type === tag.type && name === bareName(tag.name));
  byId('shares').hidden = found.length === 0;
  byId('shares').replaceChildren(...found.map((each) => shareFigure(each, tag)));
}

function shareFigure({label, values, mean, max, ratio, greatest}, tag) {
  const format = tag.type === 'point' ? formatCount : formatValue(tag);
  const shown = greatest.slice(0, mostBars);
  const rows = shown.map(
      ({value, total}) => element(
          'li', {}, shortName(value), element('span', {class: 'meter'}, bar(total / max)),
          element('b', {}, format(total))));
  const rest = values - shown.length;
  return element(
      'figure', {class: 'chart'},
      element(
          'figcaption', {}, element('h3', {}, `By ${visibleName(label)}`),
          element(
              'span', {class: 'key'},
              `${formatCount(values)} values, ${format(mean)} on average; ` +
                  `the greatest is ${significant(ratio)} × that`)),
      element('ol', {class: 'moments shares'}, ...rows),
      ...(rest > 0 ? [element('p', {class: 'hint'}, `and ${formatCount(rest)} more`)] : []));
}
