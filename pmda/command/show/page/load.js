// SPDX-License-Identifier: LGPL-2.1-or-later
// How many transactions were in progress, stacked by tag.

import {TimeChart} from './chart.js';
import {rateLine, tagColor} from './detail.js';
import {byId, element, formatFew, plural} from './format.js';
import {page} from './page.js';
import {ink} from './view.js';

// Two ways to count. Both count a transaction and those inside it.
const loads = {
  busy: {
    title: 'Busy',
    help: 'calls at a time, on average, counted when they end; nested ones overlap',
    lineOf: ({name, series}, style) => rateLine(name, series.sum, series.grid, style),
    isKnown: ({series}) => series.sum
  },
  inFlight: {
    title: 'In flight',
    help: 'open transactions at each sample; nested ones overlap',
    lineOf: ({name, series}, style) =>
        ({label: name, values: series.inflight, merge: 'rate', ...style}),
    isKnown: ({series}) => series.inflight
  },
};

// A group of buttons, one of them pressed: {name: title}.
function showChoice(host, titles, chosen, onChoose) {
  host.replaceChildren(...Object.entries(titles).map(([name, title]) => {
    const button = element(
        'button', {type: 'button', 'data-name': name, 'aria-pressed': String(name === chosen)},
        title);
    button.onclick = () => onChoose(name);
    return button;
  }));
}

// Draws the load; the tags beyond the first eight are combined.
export function showLoad(data) {
  const timed = data.tags.filter(({type, series}) => type === 'transact' && series);
  const known = Object.keys(loads).filter((name) => timed.some(loads[name].isKnown));
  if (known.length === 0 || data.fine.count === 0) return;
  page.loadKind = known.includes(page.loadKind) ? page.loadKind : known[0];
  const kind = loads[page.loadKind];
  byId('load-title').textContent = kind.title;
  byId('load-help').textContent = kind.help;
  byId('load-kinds').hidden = known.length < 2;
  const titles = Object.fromEntries(known.map((name) => [name, loads[name].title]));
  showChoice(byId('load-kinds'), titles, page.loadKind, (name) => {
    page.loadKind = name;
    showLoad(data);
    byId('load-kinds').querySelector('[aria-pressed=true]').focus();
  });
  page.load?.remove();
  page.load = new TimeChart(byId('load'), {
    title: '',
    grid: data.fine,
    lines: layersOfLoad(timed.filter(kind.isKnown), kind, data.fine),
    stacked: true,
    height: 236,
    format: formatFew
  });
}

function layersOfLoad(timed, kind, fine) {
  const style = {width: 1, fill: 0.55};
  const onFine = timed.filter(({series}) => series.grid === fine);
  const shown = onFine.slice(0, onFine.length > 8 || timed.length > onFine.length ? 7 : 8);
  const lines = shown.map((tag, i) => kind.lineOf(tag, {color: tagColor(i), ...style}));
  const rest = onFine.slice(shown.length).map((tag) => kind.lineOf(tag, {}));
  if (rest.length === 0) return lines;
  const sum = new Float32Array(fine.count);
  for (const {values} of rest)
    values.forEach((value, i) => {
      sum[i] += value || 0;
    });
  const label = plural(rest.length, 'other');
  return [...lines, {...rest[0], label, values: sum, color: ink('others'), ...style}];
}
