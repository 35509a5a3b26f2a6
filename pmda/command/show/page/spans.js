// SPDX-License-Identifier: LGPL-2.1-or-later
// Captured single transactions: the slowest traces, and one trace as a waterfall.

const mostNamedHosts = 3;

const beginOf = (trace) => timeOf(trace.begin);

const titleOf = (trace) => trace.spans[0].tag;

const hasFailed = (trace) => trace.spans.some(({aborted}) => aborted);

// '' if nothing was missed.
function missedText({missed, has_gap: hasGap}) {
  const counted = missed ? plural(missed, 'span') : '';
  const unknown = hasGap ? 'an unknown number' : '';
  return [counted, unknown].filter(Boolean).join(' and ') + (missed || hasGap ? ' missed' : '');
}

function spansNote(all, filter) {
  const missed = missedText(all);
  return `of ${plural(all.traces, 'trace')} with ${plural(all.spans, 'span')}` +
      (missed ? `; ${missed}` : '') + (filter ? `; captured by ${visibleName(filter)}` : '');
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
      .replaceChildren(shortName(titleOf(trace)), ' ', formatNanoseconds(trace.duration_ns));
  showWords(byId('trace-facts'), facts);
  byId('trace').replaceChildren(...waterfall(trace, span));
}

function showSpans({spans, run: {filter}}) {
  byId('spans').hidden = !spans;
  if (!spans) return;
  const {slowest} = spans;
  byId('spans-note').textContent = slowest.length ? spansNote(spans, filter) : '';
  byId('spans-none').hidden = slowest.length > 0;
  byId('spans-split').hidden = slowest.length === 0;
  byId('spans-none').textContent = 'No transaction that the filter ' +
      (filter ? `${visibleName(filter)} ` : '') + 'asks for has ended' +
      (missedText(spans) ? `, but ${missedText(spans)}.` : ' in this run.');
  if (slowest.length === 0) return;
  listTraces(wholeTraces(slowest), '');
  byId('spans-all').onclick = () => listTraces(wholeTraces(slowest), '', true);
}

const wholeTraces = (traces) => traces.map(
    (trace) => ({trace, span: {...trace.spans[0], offset_ns: 0, duration_ns: trace.duration_ns}}));

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
