// SPDX-License-Identifier: LGPL-2.1-or-later
// The page as a whole. `pcpTrace` is for tests and other scripts: after `pcpTrace.ready`,
// `pcpTrace.data` has the data from data.js, `pcpTrace.view` the shown part of the run, and
// `pcpTrace.page` the chosen tags.

import {showCards} from './cards.js';
import {columnsOf} from './columns.js';
import {comparison, showComparison} from './comparison.js';
import {readData} from './data.js';
import {kindName, kindNames, momentElement, showDetail, tagColor} from './detail.js';
import {byId, clock, element, formatCount, formatSeconds, isKnown, plural, unknown, visibleName} from './format.js';
import {showGroupings, showShares, showUneven} from './groups.js';
import {showHost} from './host.js';
import {showLoad} from './load.js';
import {showSpans} from './spans.js';
import {Table} from './table.js';
import {ink, view} from './view.js';

const mostChosen = 6;

export const page = {
  data: null,
  tags: [],  // of the table: those of the data, or added up
  groups: [],
  chosen: [],
  kind: null,
  hostCharts: [],
  showsAllOfHost: false,

  // `groups`: pairs of a tag's name and the name of the sum that it is a part of.
  showTags(tags, groups = []) {
    const kind = this.kind;
    Object.assign(this, {tags, groups, captured: null});
    this.kind = null;
    showKinds(tags);
    this.choose([firstOf(tags, kind) || tags[0]]);
  },

  choose(tags) {
    this.chosen = tags.filter(({type}) => type === tags[0].type);
    if (tags.length && this.kind !== tags[0].type) this.showKind(tags[0].type);
    this.table.mark(new Map(
        this.chosen.map((tag, i) => [tag, this.chosen.length > 1 ? tagColor(i) : ink('accent')])));
    showDetail(this.chosen);
    showShares(this.chosen);
    comparison.follow(this.chosen[0]);
  },

  add(tag) {
    const others = this.chosen.filter((each) => each !== tag);
    const isNew = others.length === this.chosen.length;
    this.choose(isNew ? [...others, tag].slice(-mostChosen) : others.length ? others : [tag]);
  },

  showKind(kind) {
    this.kind = kind;
    for (const button of byId('kinds').children)
      button.setAttribute('aria-pressed', String(button.dataset.kind === kind));
    const {columns, sortedBy} = columnsOf(kind, {run: this.data.run, tags: this.tags});
    this.table?.retire();
    this.table = new Table(byId('tags'), {
      label: `All tags: ${kindNames[kind]}s`,
      columns,
      sortedBy,
      rows: this.tags.filter(({type}) => type === kind),
      onChoose: (tag, isMore) => isMore ? this.add(tag) : this.choose([tag])
    });
    this.search();
  },

  search() {
    const wanted = byId('search').value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = ({name}) => wanted.every((word) => name.toLowerCase().includes(word));
    this.table.filter(matches);
    for (const button of byId('kinds').children) {
      const tags = this.tags.filter(({type}) => type === button.dataset.kind);
      const shown = wanted.length ? `${formatCount(tags.filter(matches).length)} of ` : '';
      button.querySelector('span').textContent = shown + formatCount(tags.length);
    }
  },
};

// Shows each text that is not empty as one item.
export function showWords(host, texts) {
  host.replaceChildren(...texts.filter(Boolean).map((text) => element('span', {}, text)));
}

function showFacts({run, tags}) {
  const title =
      run.command || (run.hosts.length ? `Traced on ${run.hosts.join(', ')}` : 'A traced run');
  document.title = `${visibleName(title)} · pcp trace`;
  byId('title').replaceChildren(element('bdi', {}, visibleName(title)));
  const day = clock.date(run.begin);
  const endDay = clock.date(run.end) === day ? '' : clock.date(run.end) + ' ';
  const [begin, end] = [run.begin, run.end].map((at) => clock.time(at, false));
  const facts = [
    run.hosts.join(', '), `${day} ${begin} – ${endDay}${end} ${run.zone.name}`,
    plural(tags.length, 'tag'),
    isKnown(run.interval_s) ? `every ${formatSeconds(run.interval_s)}` : ''
  ];
  showWords(byId('facts'), facts.map((fact) => fact && visibleName(fact)));
  const areOfPrograms = run.command && run.archives.length > 1;
  const what = areOfPrograms ? 'The time between the recordings is' :
                               `${plural(run.gaps.length, 'gap')} in the recording,`;
  const gaps = run.gaps.length ? ` ${what} shaded in the charts.` : '';
  byId('foot').textContent = `${run.archives.map(visibleName).join(', ')}. ` +
      `Times are of ${run.zone.name} (${clock.distance()}).${gaps} ` +
      `A ${unknown} is a value that is not known: its tooltip says why. ` +
      'Percentiles out of histograms are at most 2% off. ' +
      `Drag over a chart to zoom, double-click for the whole run. ${run.generator}`;
}

function showSlowest({tags}) {
  const known = tags.filter(({type, slowest}) => type === 'transact' && slowest);
  known.sort((a, b) => b.slowest.value - a.slowest.value);
  byId('slowest').parentElement.hidden = known.length === 0;
  byId('slowest').replaceChildren(
      ...known.slice(0, 7).map((tag) => momentElement(tag, tag.slowest, true)));
}

function showKinds(tags) {
  const kinds = Object.keys(kindNames).filter((kind) => tags.some(({type}) => type === kind));
  byId('kinds').replaceChildren(...kinds.map((kind) => {
    const button = element(
        'button', {type: 'button', 'data-kind': kind}, kindName(kind) + ' ', element('span'));
    button.onclick = () => page.choose([firstOf(tags, kind)]);
    return button;
  }));
  return kinds;
}

const firstOf = (tags, kind) => tags.find(({type}) => type === kind);

export function showZoom() {
  byId('zoomed').hidden = view.window === null;
  if (view.window)
    byId('zoom-range').textContent = view.window.map((at) => clock.time(at)).join(' – ');
}

function showTheme(theme) {
  document.documentElement.dataset.theme = theme;
  if (page.data) drawAll();
}

function drawAll() {
  showLoad(page.data);
  showHost(page.data);
  if (page.chosen.length) page.choose(page.chosen);
  showZoom();
}

function showNotices(texts) {
  byId('notice').hidden = false;
  byId('notice').replaceChildren(...texts.map((text) => element('li', {}, text)));
}

// Requests that were open when a process died.
function diedNotices(died, hasHosts) {
  if (!died) return [];
  const {requests, longest} = died;
  const more = requests - longest.length;
  const openFor = ({open_s: open}) => `for ${formatSeconds(open)}`;
  return [
    ...longest.map((outermost) => {
      const {tag, service, pid, host, last} = outermost;
      return `${visibleName(tag)} was open ${openFor(outermost)} in ${visibleName(service)} ` +
          `(pid ${pid})${hasHosts ? ` on ${visibleName(host)}` : ''}` +
          (last ? `, at last in ${visibleName(last.tag)} ${openFor(last)},` : '') +
          ' when the process died.';
    }),
    ...(more ? [`${plural(more, 'more request')} ${more === 1 ? 'was' : 'were'} open.`] : [])
  ];
}

// The facts to know before the numbers.
function noticesOf(
    {run: {hosts, incomplete, no_room: why, folded = [], times_of}, tags, spans}, where = '') {
  const mostNames = 3;
  const missing = incomplete.map(({archive, why}) => visibleName(`${archive}: ${why}`));
  const names = folded.slice(0, mostNames)
                    .map(({name, calls}) => `${plural(calls, 'call')} of ${visibleName(name)}`);
  const nonfinite = tags.reduce((sum, tag) => sum + (tag.nonfinite || 0), 0);
  if (folded.length > mostNames)
    names.push(`and of ${plural(folded.length - mostNames, 'more tag')}`);
  const untimed = tags.filter(({lacks_times}) => lacks_times).length;
  return [
    ...diedNotices(spans?.died, hosts.length > 1),
    ...(times_of === 'all' ? [] : [`Times are of ${times_of} calls only.`]),
    ...(untimed ?
            [`Failed calls of ${plural(untimed, 'tag')}${where} have no duration: ` +
             'pcp-trace report --completed shows the times of the others.'] :
            []),
    ...missing.map((what) => `Calls may be missing. ${what}.`),
    ...(why ? [`Folded${where}: ${visibleName(why)}.`] : []),
    ...(names.length ? [`Folded${where}: up to ${
                           names.join(', ')} may be of tags or label sets that had no room.`] :
                       []),
    ...(nonfinite ?
            [`${plural(nonfinite, 'value')}${where} ${
                 nonfinite === 1 ? 'is' : 'are'} not finite (NaN, inf): ` +
             'counted as calls, in no other number.'] :
            [])
  ];
}

function showRun(data) {
  Object.assign(view, {
    run: data.run,
    shortest: Math.max(2, (isKnown(data.run.interval_s) ? data.run.interval_s : 1) * 2000)
  });
  clock.offset = data.run.zone.offset;
  clock.isFine = data.run.interval_s < 0.95;
  page.data = data;
  page.tags = data.tags;
  showFacts(data);
  showCards(data);
  const notices = data.base ?
      [...noticesOf(data.base, ' in the older run'), ...noticesOf(data, ' in the newer run')] :
      noticesOf(data);
  if (notices.length)
    showNotices(notices);
  else if (data.tags.length === 0)
    showNotices([
      'Nothing was traced in this run: no program that uses the library made a call. ' +
      'Programs that are linked with libpcp_trace, or use pmtrace, show here. To see what becomes of a program\'s calls, ' +
      'start it with PCP_TRACE_DEBUG=api,comms in its environment.'
    ]);
  byId('overview').hidden =
      data.host.values.length === 0 && !data.tags.some(({type}) => type === 'transact');
  showSlowest(data);
  showHost(data);
  if (data.tags.length === 0) return;
  byId('tags-panel').hidden = false;
  const kinds = showKinds(data.tags);
  showGroupings(data);
  showUneven(data);
  showSpans(data);
  showComparison(data);
  page.choose([comparison.table?.rows.find(({is}) => is)?.is || firstOf(data.tags, kinds[0])]);
  showLoad(data);
}

function listen() {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const follow = () => showTheme(dark.matches ? 'dark' : 'light');
  follow();
  dark.onchange = follow;
  // Charts follow their own frames. dygraphs follows the window, and then draws too early: what it
  // draws beyond the next drawing's area stays.
  addEventListener('resize', (event) => event.stopImmediatePropagation(), true);
  const theme = () => document.documentElement.dataset.theme;
  byId('theme').onclick = () => showTheme(theme() === 'dark' ? 'light' : 'dark');
  byId('search').oninput = () => page.search();
  byId('whole-run').onclick = () => view.zoom(null);
  let themeBefore = null;
  addEventListener('beforeprint', () => {
    themeBefore = theme();
    showTheme('light');
  });
  addEventListener('afterprint', () => showTheme(themeBefore));
}

async function start() {
  listen();
  showRun(await readData());
  window['pcpTrace'].data = page.data;
}

window['pcpTrace'] = {
  data: null,
  view,
  page,
  clock
};
window['pcpTrace'].ready = start().catch((error) => {
  showNotices([
    `This page cannot be shown: ${error.message}. It needs a browser of 2023 or later.`,
  ]);
  throw error;
});
