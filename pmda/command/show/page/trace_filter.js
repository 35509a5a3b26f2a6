// SPDX-License-Identifier: LGPL-2.1-or-later
// A filter over traces, with words of `pcp-trace spans`: failed, died, tag=PATTERN, slower=TIME,
// note.KEY=PATTERN, label.KEY=PATTERN. Any other word is a part of a tag, a note or a reason.

import {bareName} from './groups.js';

// * and ? as in a shell.
const globOf = (pattern) => new RegExp(
    `^${pattern.replace(/[\\^$.|+()[\]{}]/g, '\\$&').replaceAll('*', '.*').replaceAll('?', '.')}$`,
    'su');

const nanoseconds = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  ms: 1e6,
  s: 1e9
};

const attributesOf = ({attributes = {}}) => Object.entries(attributes);

// See dimensions.hpp. Bytes that are no UTF-8 stay escaped.
function labelsOf({tag}) {
  if (bareName(tag) === tag) return [];
  return tag.slice(bareName(tag).length + 1, -1).split(';').map((each) => {
    const [key, value = ''] = each.split('=');
    try {
      return [key, decodeURIComponent(value)];
    } catch {
      return [key, value];
    }
  });
}

function testOf(word) {
  if (word.toLowerCase() === 'failed') return ({aborted}) => aborted;
  if (word.toLowerCase() === 'died') return ({was_open: wasOpen}) => wasOpen;
  if (word.startsWith('tag=')) {
    const glob = globOf(word.slice(4));
    return ({tag}) => glob.test(tag) || glob.test(bareName(tag));
  }
  const [, time, unit] = word.match(/^slower=([0-9.]+)(ns|us|µs|ms|s)$/) || [];
  if (time) return (span) => span.duration_ns >= Number(time) * nanoseconds[unit];
  const [, kind, key, pattern] = word.match(/^(note|label)\.([^=]+)=(.*)$/s) || [];
  if (kind) {
    const glob = globOf(pattern);
    const valuesOf = kind === 'label' ? labelsOf : attributesOf;
    return (span) => valuesOf(span).some(([each, value]) => each === key && glob.test(value));
  }
  const part = word.toLowerCase();
  const has = (text) => text.toLowerCase().includes(part);
  return (span) => [span.tag, `reason=${span.reason || ''}`,
                    ...attributesOf(span).map((each) => each.join('='))]
                       .some(has);
}

// For each word, some span of the trace fits.
export function traceFilter(text) {
  const tests = text.split(/\s+/).filter(Boolean).map(testOf);
  return ({spans}) => tests.every((test) => spans.some(test));
}
