// SPDX-License-Identifier: LGPL-2.1-or-later
// The figures of tags, which run/figures.cpp describes, and those of one tag in full.

import {byId, element, formatCount, formatFew, formatRate, formatValue, isKnown, unknown, whyNoPercentile} from './format.js';
import {page} from './page.js';
import {say, showSize} from './spans.js';
import {view} from './view.js';

// The figures that tags of a type have, in the order of columns.
export const figuresOf = (type) =>
    page.data.figures.filter(({types}) => types.includes(type))
        .map(
            (figure) => figure.word === 'calls' && type !== 'transact' ?
                {...figure, title: 'Count', label: 'count'} :
                figure);

export const figureNamed = (word) => page.data.figures.find((figure) => figure.word === word);

// A share of calls is from 0 to 1 here.
export function valueIn(tag, {unit, member}) {
  if (unit !== 'percent') return tag[member];
  return isKnown(tag.failed) && tag.calls > 0 ? tag.failed / tag.calls : null;
}

export const whyUnknown = (tag, {quantile, why_unknown: why}) =>
    quantile ? whyNoPercentile(tag) : `Unknown: ${why}`;

export function formatFigure(tag, {unit, member}) {
  const formats = {count: formatCount, rate: formatRate, number: formatFew};
  return formats[unit]?.(tag[member]) ?? formatExtreme(tag, member);
}

// Only extremes may be inexact.
export function formatExtreme(tag, member) {
  const value = formatValue(tag)(tag[member]);
  if (!isKnown(tag[member]) || tag[member + '_is_exact'] !== false) return value;
  return (member === 'max' ? '≥\u202f' : '≤\u202f') + value;
}

export function showFigures(tags) {
  const [tag] = tags;
  byId('figures').replaceChildren(...(tags.length > 1 ? [] : factsOf(tag).filter(Boolean)));
  say(byId('known'), '');
}

function fact(label, value, why) {
  return element(
      'div', {title: value === unknown ? why : null}, element('dt', {}, label),
      element('dd', {}, value));
}

// Some may be missing.
function factsOf(tag) {
  const figures = figuresOf(tag.type).filter(({label}) => label).sort((a, b) => a.place - b.place);
  const facts = figures.flatMap(
      (figure) =>
          [figure.word === 'min' && tag.nonfinite > 0 &&
               fact('not finite', formatCount(tag.nonfinite)),
           (figure.word !== 'vanished' || tag.vanished > 0) &&
               fact(figure.label, wayTo(tag, figure), whyUnknown(tag, figure))]);
  return [...facts, view.run.hosts.length > 1 && fact('hosts', tag.hosts.join(', '))];
}

// A known percentile of a transaction leads to captured ones of that size.
function wayTo(tag, figure) {
  const {member, quantile} = figure;
  const text = formatFigure(tag, figure);
  const isOfSize = quantile || member === 'max';
  if (!isOfSize || tag.type !== 'transact' || !page.data.spans || !isKnown(tag[member]))
    return text;
  const button = element('button', {type: 'button', title: 'Captured ones of this size'}, text);
  button.onclick = () => say(byId('known'), showSize(tag, member));
  return button;
}
