// SPDX-License-Identifier: LGPL-2.1-or-later
// Captured single transactions: the slowest traces, one trace as a waterfall, and the way to them
// from a chart or a percentile.

import {percentileNames, timeOf} from './data.js';
import {figureNamed} from './figures.js';
import {byId, clock, element, formatCount, formatSeconds, formatValue, isKnown, plural, shortName, visibleName} from './format.js';
import {page, showWords} from './page.js';
import {traceFilter} from './trace_filter.js';
import {view} from './view.js';
import {formatNanoseconds, isEvent, moveByKeys, remarksOf, waterfall} from './waterfall.js';
import {onlyChosen, showWhy} from './why.js';

const mostNamedHosts = 3;

const beginOf = (trace) => timeOf(trace.begin);

const titleOf = (trace) => trace.spans[0].tag;

const hasFailed = (trace) => trace.spans.some(({aborted, was_open: wasOpen}) => aborted || wasOpen);

// '' if nothing was missed.
function missedText({missed, has_gap: hasGap}) {
  const counted = missed ? plural(missed, 'span') : '';
  const unknown = hasGap ? 'an unknown number' : '';
  return [counted, unknown].filter(Boolean).join(' and ') + (missed || hasGap ? ' missed' : '');
}

function spansNote(all, filter) {
  const [missed, which] = [missedText(all), onlyChosen(all)];
  return `of ${plural(all.traces, 'trace')} with ${plural(all.spans, 'span')}` +
      (missed ? `; ${missed}` : '') + (filter ? `; captured by ${visibleName(filter)}` : '') +
      (which ? `; ${which}` : '');
}

// A button in the list, with a bar to compare durations. `span`: of the trace, that is looked for.
function traceChoice({trace, span}, longest) {
  const style = `width:${100 * span.duration_ns / longest}%`;
  const meter = element('i', {'aria-hidden': 'true', style});
  const begin = beginOf(trace) + span.offset_ns / 1e6;
  return element(
      'button', {type: 'button', class: hasFailed(trace) ? 'has-failed' : null, tabindex: -1},
      element('time', {}, clock.time(begin, true)), shortName(span.tag),
      element('b', {}, formatNanoseconds(span.duration_ns)), meter);
}

function showTrace(trace, span) {
  const hosts = [...new Set(trace.spans.map(({host}) => host))];
  const facts = [
    plural(trace.spans.length + trace.left_out, 'span'),
    hosts.length > mostNamedHosts ? plural(hosts.length, 'host') :
                                    hosts.map(visibleName).join(', '),
    `${clock.date(beginOf(trace))} ${clock.time(beginOf(trace), true)}`,
    trace.trace ? `trace ${trace.trace}` : '', ...remarksOf(trace)
  ];
  byId('trace-title')
      .replaceChildren(shortName(titleOf(trace)), ' ', formatNanoseconds(requestNs(trace)));
  showWords(byId('trace-facts'), facts);
  byId('trace').replaceChildren(...waterfall(trace, span));
}

export function showSpans({spans, exemplars = [], run: {filter}}) {
  byId('spans').hidden = !spans;
  if (!spans) return;
  const {slowest} = spans;
  byId('spans-note').textContent = slowest.length ? spansNote(spans, filter) : '';
  byId('spans-none').hidden = slowest.length > 0;
  byId('spans-split').hidden = slowest.length === 0;
  byId('spans-none').textContent = 'No transaction that the filter ' +
      (filter ? `${visibleName(filter)} ` : '') + 'asks for has ended' +
      (missedText(spans) ? `, but ${missedText(spans)}.` : ' in this run.');
  byId('spans-filter').hidden = slowest.length === 0;
  showWhy(spans);
  if (slowest.length === 0) return;
  listTraces(wholeTraces(slowest), '');
  byId('spans-all').onclick = () => {
    byId('spans-filter').value = '';
    listTraces(wholeTraces(slowest), '', true);
  };
  byId('spans-filter').oninput = ({target: {value}}) =>
      showFiltered([...slowest, ...exemplars], slowest, value.trim());
}

// The page has not all traces: the slowest ones, and of each tag and moment the slowest and the
// slowest that failed.
function showFiltered(all, slowest, text) {
  if (!text) return listTraces(wholeTraces(slowest), '');
  const found = wholeTraces(all.filter(traceFilter(text)));
  found.sort((a, b) => b.span.duration_ns - a.span.duration_ns);
  const about = `${visibleName(text)}: ${formatCount(found.length)} of the ${
      plural(
          all.length,
          'trace')} on this page; for all, type pcp-trace spans -a RECORDING ${visibleName(text)}`;
  if (found.length) return listTraces(found, about, false);
  byId('spans-found').hidden = false;
  byId('spans-about').textContent = about;
  byId('spans-split').hidden = true;
  return null;
}

// The duration of the request. Parts of it may go on after its end.
const requestNs = (trace) => Math.max(
    0,
    ...trace.spans.filter((span) => span.depth === 0 && !isEvent(span))
        .map((span) => span.duration_ns));

const wholeTraces = (traces) => traces.map(
    (trace) => ({trace, span: {...trace.spans[0], offset_ns: 0, duration_ns: requestNs(trace)}}));

const mostListed = 50;

// Lists traces and opens the first. `about`: which these are; empty: the slowest of all.
function listTraces(all, about, hasFocus = about !== '') {
  byId('spans-split').hidden = false;
  byId('spans-none').hidden = true;
  byId('spans-found').hidden = !about;
  byId('spans-about').textContent = about;
  const found = all.slice(0, mostListed);
  const longest = Math.max(1, ...found.map(({span}) => span.duration_ns));
  const choices = found.map((each) => traceChoice(each, longest));
  const choose = (chosen) => {
    for (const each of choices) {
      each.setAttribute('aria-current', String(each === chosen));
      each.tabIndex = each === chosen ? 0 : -1;
    }
    const {trace, span} = found[choices.indexOf(chosen)];
    page.trace = trace;
    showTrace(trace, about ? span : null);
  };
  for (const each of choices) each.onclick = () => choose(each);
  byId('traces').replaceChildren(...choices.map((each) => element('li', {}, each)));
  moveByKeys(byId('traces'), choices, choose);
  choose(choices[0]);
  if (hasFocus) choices[0].focus({preventScroll: true});
}

// All captured transactions by tag, or by the sum that it is a part of: {trace, span, end in ms,
// seconds}.
function capturedByTag({spans, exemplars = [], groups = []}, chosenGroups) {
  const [ofReport, ofPage] = [groups, chosenGroups].map((each) => new Map(each));
  const byTag = new Map();
  for (const trace of [...spans.slowest, ...exemplars])
    for (const span of trace.spans) {
      if (isEvent(span)) continue;
      const reported = ofReport.get(span.tag) ?? span.tag;
      const tag = ofPage.get(reported) ?? reported;
      if (!byTag.has(tag)) byTag.set(tag, []);
      const end = beginOf(trace) + (span.offset_ns + span.duration_ns) / 1e6;
      byTag.get(tag).push({trace, span, end, seconds: span.duration_ns / 1e9});
    }
  return byTag;
}

function capturedOf({name}) {
  if (!page.data.spans) return [];
  page.captured ||= capturedByTag(page.data, page.groups);
  return page.captured.get(name) || [];
}

// Those that ended in a time, the slowest first. A program reports a call a little later than it
// ends, so its sample may be the next one.
function capturedBetween(tag, [from, to]) {
  const late = 1000 * Math.min(1, view.run.interval_s || 1);
  return capturedOf(tag)
      .filter(({end}) => from - late <= end && end <= to)
      .sort((a, b) => b.seconds - a.seconds);
}

// Values from bins may be off by two percent.
const areWithin = (all, [least, greatest]) =>
    all.filter(({seconds}) => seconds >= least / 1.02 && seconds <= greatest * 1.02);

export const rangeText = ([from, to], format) =>
    from === to ? format(from) : `${format(from)} – ${format(to)}`;

// Gives null, or why nothing is shown.
function showCaptured(tag, found, about) {
  if (found.length) {
    byId('spans-filter').value = '';
    listTraces(found, `${about}: ${plural(found.length, 'captured transaction')}`);
    byId('spans').scrollIntoView({behavior: 'smooth', block: 'start'});
    return null;
  }
  if (!page.data.spans)
    return 'This recording has no single transactions. The option --spans of record captures them.';
  const which = onlyChosen(page.data.spans);
  return `None was captured: ${about}.` + (which ? ` In this run ${which}.` : '');
}

// The transactions of a tag in a time, if possible of a size.
export function showMoment(tag, time, size) {
  const moment = `${visibleName(tag.name)}, ${rangeText(time, (at) => clock.time(at))}`;
  const all = capturedBetween(tag, time);
  if (!size) return showCaptured(tag, all, moment);
  const exact = areWithin(all, size);
  const sized = `${moment}, ${rangeText(size, formatValue(tag))}`;
  if (exact.length || !all.length) return showCaptured(tag, exact, sized);
  return showCaptured(tag, all, `${moment} (none of ${rangeText(size, formatValue(tag))})`);
}

// The transactions of a tag from one percentile to the next, the nearest to the percentile first.
export function showSize(tag, name) {
  const names = [...percentileNames, 'max'];
  const next = names.slice(names.indexOf(name) + 1).find((each) => isKnown(tag[each]));
  const [from, to] = [tag[name], next ? tag[next] : Infinity];
  const found = areWithin(capturedOf(tag), [
                  from, to
                ]).sort((a, b) => Math.abs(a.seconds - from) - Math.abs(b.seconds - from));
  const about =
      to === Infinity ? `${formatSeconds(from)} or more` : rangeText([from, to], formatSeconds);
  return showCaptured(
      tag, found, `${visibleName(tag.name)}, from ${figureNamed(name).label}: ${about}`);
}

// Says something below a chart or a list, also to people who hear the page.
export function say(host, text) {
  let said = host.querySelector(':scope > .said');
  if (!said) host.append(said = element('p', {class: 'said hint', role: 'status'}));
  said.textContent = text || '';
}
