// SPDX-License-Identifier: LGPL-2.1-or-later
// One trace as a waterfall: a row per span, with a bar for its time. Spans are in the order of
// model_json.cpp: from the root down, each before its children.

import {element, formatCount, formatPlain, formatSeconds, plural, shortName, visibleName} from './format.js';

export const formatNanoseconds = (ns) => formatSeconds(ns / 1e9);

// Each span with its parent.
function withParents(spans) {
  const above = [];
  return spans.map((span) => {
    above.length = span.depth;
    above.push(span);
    return {span, parent: above[span.depth - 1]};
  });
}

export const isEvent = ({kind}) => ['point', 'observe', 'counter', 'add'].includes(kind);

// The span's place, if it differs from the parent's.
function whereOf({span, parent}, hasHosts) {
  const isElsewhere = !parent || parent.host !== span.host;
  if (!isElsewhere && parent.pid === span.pid) return '';
  const process = [span.service || span.process, span.pid || ''].join(' ').trim();
  return visibleName(process + (hasHosts && isElsewhere ? ` @ ${span.host}` : ''));
}

const valueOf = (span) =>
    span.kind === 'point' ? '' : ` ${span.kind === 'add' ? '+' : '='} ${formatPlain(span.value)}`;

function spanLabel(span) {
  const name = shortName(span.tag);
  return isEvent(span) ?
      [element('span', {class: 'dot', 'aria-hidden': 'true'}), name, valueOf(span)] :
      [name];
}

function barOf(span, length) {
  const left = `left:${100 * span.offset_ns / length}%`;
  if (isEvent(span)) return element('i', {class: 'event', style: left});
  const style = `${left};width:${100 * span.duration_ns / length}%`;
  const ending = span.was_open ? ' open' : span.aborted ? ' aborted' : '';
  return element('i', {class: `span${ending}`, style});
}

// The program's notes about a span, the reason of an abort, and parts that were not captured.
function notesOf(span) {
  const note = (name, ...words) =>
      element('span', {class: 'note'}, element('b', {}, name), ...words);
  const notes = [];
  if (span.was_open) notes.push(element('span', {class: 'failed'}, 'open when its process died'));
  if (span.aborted) {
    const why = span.reason ? `: ${visibleName(span.reason)}` : '';
    notes.push(element('span', {class: 'failed'}, 'aborted' + why));
  }
  if ('torn_from' in span) {
    const part = span.torn_from ? `its part in ${visibleName(span.torn_from)}` : 'what called it';
    notes.push(element('span', {class: 'torn'}, `${part} was not captured`));
  }
  if ('lacks_part_in' in span) {
    const where = span.lacks_part_in ? ` in ${visibleName(span.lacks_part_in)}` : '';
    notes.push(element('span', {class: 'torn'}, `no part${where} has come, as in other traces`));
  }
  for (const [key, value] of Object.entries(span.attributes || {}))
    notes.push(note(visibleName(key), ' ', element('bdi', {}, visibleName(String(value)))));
  for (const link of span.links || []) notes.push(note('see also', ` ${visibleName(link)}`));
  if (span.left_out)
    notes.push(note(
        span.was_open ?
            'its notes are missing: they were lost with the process' :
            `${plural(span.left_out, 'note')} ${span.left_out === 1 ? 'is' : 'are'} missing`));
  return notes;
}

const cellOf = (role) => (attributes, ...children) =>
    element('span', {role, ...attributes}, ...children);

function spanRow(node, {length, hasHosts, colors}) {
  const {span} = node;
  const where = whereOf(node, hasHosts);
  const duration =
      isEvent(span) ? '' : (span.was_open ? '≥ ' : '') + formatNanoseconds(span.duration_ns);
  const notes = notesOf(span);
  const cell = cellOf('gridcell');
  const row = element(
      'div', {
        class: 'row',
        role: 'row',
        tabindex: -1,
        'aria-level': span.depth + 1,
        title: `${formatNanoseconds(span.offset_ns)} from the start` +
            (isEvent(span) ? '' : `, for ${duration}`),
        style: `--depth:${span.depth};--bar:var(--tag${colors.get(processOf(span)) % 8})`
      },
      cell({class: 'what'}, ...spanLabel(span)),
      cell({class: 'where', title: where || null}, element('bdi', {}, where)),
      cell({class: 'took'}, duration), cell({class: 'track'}, barOf(span, length)));
  if (notes.length) row.append(cell({class: 'notes'}, ...notes));
  return row;
}

const processOf = ({host, service, pid}) => JSON.stringify([host, service, pid]);

function timeAxis(ns) {
  const marks = [0, 0.25, 0.5, 0.75, 1].map(
      (share) => element('span', {style: `left:${100 * share}%`}, formatNanoseconds(share * ns)));
  const head = cellOf('columnheader');
  return element(
      'div', {class: 'row axis', role: 'row'}, head({}, 'Transaction'),
      head({class: 'where'}, 'Process'), head({class: 'took'}, 'Took'),
      head({class: 'track', 'aria-label': 'Time'}, ...marks));
}

// Remarks about an incomplete trace.
export function remarksOf(trace) {
  const missing =
      trace.spans
          .filter(
              (span) => span.depth === 0 && span.parent && !isEvent(span) && !('torn_from' in span))
          .length;
  return [
    trace.left_out ? `${plural(trace.left_out, 'span')} left out` : '',
    trace.is_late ? 'a part of a longer trace' : '',
    trace.is_torn ? 'some of its parts were not captured' : '',
    !trace.is_late && missing ?
        `${plural(missing, 'parent')} not recorded: still open, traced elsewhere, or not captured` :
        ''
  ].filter(Boolean);
}

// Moves the focus by keys among elements; Tab reaches only one of them.
export function moveByKeys(host, all, onMove, first) {
  const focus = (to) => {
    for (const each of all) each.tabIndex = each === to ? 0 : -1;
    to.focus();
    onMove?.(to);
  };
  if (all.length) (first || all[0]).tabIndex = 0;
  host.onkeydown = (event) => {
    const at = all.indexOf(document.activeElement);
    const to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1}[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    focus(all[Math.min(Math.max(to, 0), all.length - 1)]);
  };
}

// Shows how many rows are below the visible ones.
function moreBelow(scrolled, rows) {
  const more = element('p', {class: 'more'});
  const count = () => {
    const {bottom} = scrolled.getBoundingClientRect();
    const below = rows.filter((row) => row.getBoundingClientRect().bottom > bottom + 2).length;
    more.textContent = below ? `↓ ${formatCount(below)} more below` : '';
  };
  scrolled.addEventListener('scroll', count);
  new ResizeObserver(count).observe(scrolled);
  return more;
}

// Gives the elements to show, from top to bottom.
// `sought`: the span to mark; it is scrolled into view.
export function waterfall(trace, sought) {
  const nodes = withParents(trace.spans);
  const colors = new Map();
  for (const {span} of nodes)
    if (!colors.has(processOf(span))) colors.set(processOf(span), colors.size);
  const shown = {
    length: Math.max(trace.duration_ns, 1),
    hasHosts: new Set(trace.spans.map(({host}) => host)).size > 1,
    colors
  };
  const rows = nodes.map((node) => spanRow(node, shown));
  const mark = sought ? rows[trace.spans.indexOf(sought)] : null;
  mark?.setAttribute('aria-selected', 'true');
  const made = element(
      'div', {class: 'waterfall', role: 'treegrid', 'aria-label': 'Spans of the chosen trace'},
      timeAxis(trace.duration_ns), ...rows);
  moveByKeys(made, rows, null, mark);
  if (mark)
    requestAnimationFrame(() => made.scrollTo({top: mark.offsetTop - made.clientHeight / 2}));
  return [made, moreBelow(made, rows)];
}
