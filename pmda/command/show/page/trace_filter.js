// SPDX-License-Identifier: LGPL-2.1-or-later
// A filter over traces, with words of `pcp-trace spans`: failed, tag=PATTERN, note.KEY=PATTERN. Any
// other word is a part of a tag, a note or a reason.

import {bareName} from './groups.js';

// * and ? as in a shell.
const globOf = (pattern) => new RegExp(
    `^${pattern.replace(/[\\^$.|+()[\]{}]/g, '\\$&').replaceAll('*', '.*').replaceAll('?', '.')}$`,
    'su');

function testOf(word) {
  if (word === 'failed') return ({aborted}) => aborted;
  if (word.startsWith('tag=')) {
    const glob = globOf(word.slice(4));
    return ({tag}) => glob.test(tag) || glob.test(bareName(tag));
  }
  const [, key, pattern] = word.match(/^note\.([^=]+)=(.*)$/s) || [];
  if (key !== undefined) {
    const glob = globOf(pattern);
    return ({attributes = {}}) => Object.hasOwn(attributes, key) && glob.test(attributes[key]);
  }
  const part = word.toLowerCase();
  return ({
           tag,
           reason = '',
           attributes = {}
         }) => [tag, reason, ...Object.entries(attributes).map((each) => each.join('='))]
                   .some((text) => text.toLowerCase().includes(part));
}

// For each word, some span of the trace fits.
export function traceFilter(text) {
  const tests = text.split(/\s+/).filter(Boolean).map(testOf);
  return ({spans}) => tests.every((test) => spans.some(test));
}
