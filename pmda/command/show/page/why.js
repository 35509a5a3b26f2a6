// SPDX-License-Identifier: LGPL-2.1-or-later
// The table of the slowest and the failed requests: where their time goes, and which notes and
// labels are frequent, beside all others. See requests.hpp.

import {bar, byId, element, formatCount, formatPercent, formatSeconds, plural, shortName, visibleName} from './format.js';
import {Table} from './table.js';

const mostSteps = 50;

const share = (part, whole) => whole > 0 ? part / whole : null;

function shareCell(value) {
  return element(
      'span', {class: 'meter'}, bar(value || 0),
      element('span', {class: 'value'}, formatPercent(value)));
}

// Two columns: the group, and all others.
function groupColumns(requests, group, about, dropRank = 0) {
  const {requests: count} = requests;
  if (!count[group] || count[group] === count.all) return [];
  const column = (title, help, value, rank) =>
      ({title, help, value, cell: (row) => shareCell(value(row)), width: 150, dropRank: rank});
  const own = ({part, whole}) => share(part[group], whole[group]);
  const others = ({part, whole}) => share(part.all - part[group], whole.all - whole[group]);
  return [
    column(`${group} ${formatCount(count[group])}`, about, own, dropRank),
    column('others', `The ${formatCount(count.all - count[group])} others`, others, 2)
  ];
}

function rowsOf({requests, time_s: time, steps, common}) {
  const named = (before, name) => element('span', {}, `${before} `, shortName(name));
  return [
    ...steps.slice(0, mostSteps).map(({step, self_s: part}) => ({
                                       name: step ?? '',
                                       label: step === null ? 'time in no step' :
                                                              named('time in', step),
                                       part,
                                       whole: time,
                                       size: formatSeconds(part.all),
                                     })),
    ...common.map(({key, value, requests: part}) => ({
                    name: `${key}=${value}`,
                    label: named('with', `${key}=${value}`),
                    part,
                    whole: requests,
                    size: formatCount(part.all),
                  }))
  ];
}

let table = null;

// '' if usual requests were recorded, too, or that is not known.
export function onlyChosen(
    {slower_s: slower, only_failed: failed, only_wanted: wanted, only_died: died}) {
  const had =
      [
        slower && `took ${formatSeconds(slower)} or more`, failed && 'failed',
        wanted && 'was wanted by its program', died && 'was open when its process died'
      ].filter(Boolean)
          .join(' and ');
  const which = failed || wanted || died ? 'chosen' : 'slow';
  return had ? `only ${which} requests were recorded: in each, a transaction ${had}` : '';
}

function showRequests(requests) {
  const {requests: count, slowest_from_s: from} = requests;
  table?.retire();
  const columns = [
    {
      title: plural(count.all, 'captured request'),
      help:
          'The self time of steps, while nothing inside of them ran; notes and labels that are frequent',
      value: ({name}) => name,
      cell: ({label}) => label,
      isText: true,
    },
    ...groupColumns(requests, 'slowest', `From ${formatSeconds(from)}`),
    ...groupColumns(requests, 'failed', 'Those that were aborted', 1), {
      title: 'all',
      help: 'The self time, or the requests, of all',
      value: ({part}) => part.all,
      cell: ({size}) => size,
      width: 100,
      dropRank: 3,
    }
  ];
  table = new Table(byId('why'), {
    label: 'The slowest and the failed requests, beside all others',
    columns,
    rows: rowsOf(requests),
    sortedBy: columns[1],
    mostRows: 12,
    rowHeight: 30,
  });
}

export function showWhy(spans) {
  const {requests: all} = spans;
  byId('why-tools').hidden = byId('why').hidden = all.length === 0;
  if (all.length === 0) return;
  byId('why-note').textContent = 'what these requests have in common, beside all others' +
      (onlyChosen(spans) ? ', which were chosen in the same way' : '');
  byId('why-tag').replaceChildren(
      ...all.map(({tag}, i) => element('option', {value: i}, visibleName(tag))));
  byId('why-tag').onchange = ({target}) => showRequests(all[Number(target.value)]);
  showRequests(all[0]);
}
