// SPDX-License-Identifier: LGPL-2.1-or-later
// The run in a few numbers.

import {kindName, kindNames} from './detail.js';
import {formatExtreme} from './figures.js';
import {byId, element, formatElapsed, formatRate, formatSeconds, formatShort, isKnown, plural, shortName, unknown, visibleName, whyNoPercentile} from './format.js';
import {page} from './page.js';

function card(label, value, note, {why = null, kind = '', help = null} = {}) {
  return element(
      'div', {class: `card ${kind}`, title: value === unknown ? why : help},
      element('span', {class: 'label'}, label), element('strong', {}, value),
      element('span', {class: Array.isArray(note) ? 'note named' : 'note'}, ...[note].flat()));
}

export function showCards({run, whole, tags}) {
  const elapsed = card('Elapsed', formatElapsed(run.elapsed_s), plural(run.samples, 'sample'));
  const cards = whole.tags === 0 ? otherCards(tags) : [
    callsCard(run, whole), failedCard(whole, tags), ...percentileCards(whole, tags),
    slowestCard(tags)
  ];
  byId('cards').replaceChildren(...cards.filter(Boolean), elapsed);
}

const inside = 'One inside another counts as well: only captured ones tell which are inside.';

function callsCard(run, whole) {
  const rate = run.elapsed_s > 0 ? `${formatRate(whole.calls / run.elapsed_s)}, ` : '';
  const [title, what, help] = whole.outermost.length && page.data.spans ?
      [
        'Requests', 'outermost tag',
        'Transactions that are in no other one, of the tags that were captured'
      ] :
      ['Calls', 'tag', `Transactions of all tags. ${inside}`];
  return card(title, formatShort(whole.calls), `${rate}${plural(whole.tags, what)}`, {help});
}

function failedCard(whole, tags) {
  const options = {why: 'Unknown: aborts were not recorded'};
  if (!(whole.failed > 0)) return card('Failed', formatShort(whole.failed), '\u00a0', options);
  const counted = whole.outermost.length ? whole.outermost.map((at) => tags[at]) : tags;
  const most =
      counted.filter(({failed}) => failed > 0).reduce((a, b) => b.failed > a.failed ? b : a);
  const help = whole.outermost.length ? 'Those of them that were aborted' :
                                        `Transactions of all tags that were aborted. ${inside}`;
  return card(
      'Failed', formatShort(whole.failed),
      [most.failed === whole.failed ? 'all in ' : 'most in ', shortName(most.name)],
      {...options, help, kind: 'bad'});
}

// Percentiles of transactions together with those inside them would describe neither. So these are
// of the outermost transactions, if captured transactions tell which ones are outermost.
function percentileCards(whole, tags) {
  if (whole.outermost.length === 0) return [];
  const names = whole.outermost.map((tag) => tags[tag].name);
  const note = () => names.length === 1 ? ['of ', shortName(names[0])] :
                                          `of ${plural(names.length, 'outermost tag')}`;
  const some = names.slice(0, 20).map(visibleName).join(', ');
  const help = `The tags: ${some}${names.length > 20 ? ', …' : ''}`;
  return ['p50', 'p95', 'p99'].map(
      (name) =>
          card(name, formatSeconds(whole[name]), note(), {why: whyNoPercentile(whole), help}));
}

function slowestCard(tags) {
  const known = tags.filter(({type, max}) => type === 'transact' && isKnown(max));
  if (known.length === 0) return null;
  const slowest = known.reduce((a, b) => b.max > a.max ? b : a);
  return card('Slowest', formatExtreme(slowest, 'max'), ['in ', shortName(slowest.name)]);
}

// For a run without transactions.
function otherCards(tags) {
  return Object.keys(kindNames).flatMap((kind) => {
    const all = tags.filter(({type}) => type === kind);
    if (all.length === 0) return [];
    const total = all.reduce((sum, {calls}) => sum + calls, 0);
    return [card(kindName(kind), formatShort(total), `of ${plural(all.length, 'tag')}`)];
  });
}
