// SPDX-License-Identifier: LGPL-2.1-or-later
// From a chart or a percentile to captured transactions that stand for it.

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

const rangeText = ([from, to], format) =>
    from === to ? format(from) : `${format(from)} – ${format(to)}`;

// Gives null, or why nothing is shown.
function showCaptured(tag, found, about) {
  if (found.length) {
    listTraces(found, `${about}: ${plural(found.length, 'captured transaction')}`);
    byId('spans').scrollIntoView({behavior: 'smooth', block: 'start'});
    return null;
  }
  if (!page.data.spans)
    return 'This recording has no single transactions. The option --spans of record captures them.';
  return `None was captured: ${about}.`;
}

// The transactions of a tag in a time, if possible of a size.
function showMoment(tag, time, size) {
  const moment = `${visibleName(tag.name)}, ${rangeText(time, (at) => clock.time(at))}`;
  const all = capturedBetween(tag, time);
  if (!size) return showCaptured(tag, all, moment);
  const exact = areWithin(all, size);
  const sized = `${moment}, ${rangeText(size, formatValue(tag))}`;
  if (exact.length || !all.length) return showCaptured(tag, exact, sized);
  return showCaptured(tag, all, `${moment} (none of ${rangeText(size, formatValue(tag))})`);
}

// The transactions of a tag from one percentile to the next, the nearest to the percentile first.
function showSize(tag, name) {
  const names = [...percentileNames, 'max'];
  const next = names.slice(names.indexOf(name) + 1).find((each) => isKnown(tag[each]));
  const [from, to] = [tag[name], next ? tag[next] : Infinity];
  const found = areWithin(capturedOf(tag), [
                  from, to
                ]).sort((a, b) => Math.abs(a.seconds - from) - Math.abs(b.seconds - from));
  const about =
      to === Infinity ? `${formatSeconds(from)} or more` : rangeText([from, to], formatSeconds);
  return showCaptured(
      tag, found, `${visibleName(tag.name)}, from ${percentileStyles[name].short}: ${about}`);
}

// Says something below a chart or a list, also to people who hear the page.
function say(host, text) {
  let said = host.querySelector(':scope > .said');
  if (!said) host.append(said = element('p', {class: 'said hint', role: 'status'}));
  said.textContent = text || '';
}
